# SPDX-License-Identifier: BSD-3-Clause
"""`westwood control check` finds what is not fit for every host, with its line."""

import html
import re
import shutil
from itertools import islice

import pytest

from westwood import programs
from westwood.control import checking, compiling
from westwood.control.checking import Outcome
from westwood.control.writing import like, models
from westwood.evaluation import fixed_paths

pytestmark = pytest.mark.skipif(not shutil.which("clang"), reason="needs gcc and clang")

FRAMA_C = shutil.which("frama-c")
FIT = like("reno", "mine")
LINE = "    window->cwnd = window->ssthresh;\n"
UNFIT = {
    "window->cwnd = (uint32_t)((int)in_flight / ((int)mss | 1));": "divides signed numbers",
    "window->cwnd = 1 + (uint32_t)(in_flight * 0.5);": "uses floating point",
    "window->cwnd = 1 + (uint32_t)(((int)in_flight + 0x7fffffff) & 1);": "signed integer overflow",
    "((volatile char *)own)[4096] = 1;": "uses memory outside of its state",
    "((volatile char *)own)[-1] = 1;": "uses memory outside of its state",
    "if (in_flight == 4294967295u) window->cwnd = 0;": "sets cwnd 0",
    "if (in_flight == 4294967295u) for (;;) window->cwnd |= 1;": "small bounds",
}


@pytest.mark.slow
def test_a_fit_control_passes_and_has_a_page(tmp_path, westwood):
    (tmp_path / "mine.c").write_text(FIT, encoding="utf-8")
    found = westwood("control", "check", "mine.c", "--for", "0", "--out", "page")
    assert found.code == 0, found.out
    *lines, page = found.out.splitlines()
    outcomes = [line.split()[0] for line in lines]
    eva, verifier = outcomes.pop(3), outcomes.pop(5)
    assert outcomes == 9 * ["passed"] and eva == ("passed" if FRAMA_C else "skipped")
    assert verifier in ("passed", "skipped"), "only root may ask it"
    assert page == "page/index.html"
    text = (tmp_path / page).read_text(encoding="utf-8")
    for path in fixed_paths.ALL:
        assert path.name in text and html.escape(path.command("mine.c")) in text
    assert (tmp_path / "page" / "mine.c").read_text(encoding="utf-8") == FIT
    for name in ("paths", "one-segment", "shares"):
        assert (tmp_path / "page" / f"{name}.png").stat().st_size > 10_000


# They carry less than a tenth of the slowest of Reno, CUBIC and BBRv1: docs/your-own-control.md,
# docs/gallery.md.
SLOW = {
    "westwood": "FAILED   a path of 100 Gb/s",
    "westwoodnr": "FAILED   a path of 100 Gb/s",
    "tor_westwood.c": "FAILED   12 paths, with Reno, CUBIC and BBR",
}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", models())
def test_controls_like_those_of_the_catalogue_are_fit(protocol, tmp_path, westwood):
    (tmp_path / "mine.c").write_text(like(protocol, "mine"), encoding="utf-8")
    found = westwood("control", "check", "mine.c", "--for", "1")
    unfit = [line for line in found.out.splitlines() if line.startswith(("FAILED", "unsure"))]
    if protocol == "bbr3":  # the kernel has no room for its state
        unfit = [line for line in unfit if "104 in Linux" not in line]
    if protocol == "cubic":  # Frama-C does not tell runs with different kinds of HyStart apart
        unfit = [line for line in unfit if "trap representation of a _Bool" not in line]
    known = [SLOW[protocol]] if protocol in SLOW else []
    assert [line.partition(":")[0] for line in unfit] == known


def test_a_control_that_stalls_is_named_with_the_path_and_its_command(tmp_path):
    file = tmp_path / "mine.c"
    file.write_text(
        FIT.replace(LINE, "    window->cwnd = window->ssthresh = 1;\n"), encoding="utf-8"
    )
    runs = fixed_paths.PathRuns(str(file))
    (first, *_) = runs.checks([])
    assert first.outcome is Outcome.FAILED
    assert re.search(r"goodput is [\d.]+ Mb/s, expected a tenth of \w+'s, [\d.]+ Mb/s,", first.note)
    assert "(again: westwood run path --cc" in first.note


def test_a_control_that_fails_on_a_path_is_named_with_its_line(tmp_path):
    file = tmp_path / "mine.c"
    # No other test has these contents, so the control is known by no other name.
    closed = "    window->cwnd = 0; /* on a path */\n"
    file.write_text(FIT.replace(LINE, closed), encoding="utf-8")
    first = next(fixed_paths.PathRuns(str(file)).checks([]))
    assert first.outcome is Outcome.FAILED and f"{file}:" in first.note
    assert "on_loss sets cwnd to 0" in first.note and "again: westwood run path" in first.note


@pytest.mark.parametrize("statement", UNFIT)
def test_what_is_not_fit_is_named_with_its_line(statement, tmp_path, westwood):
    text = FIT.replace(LINE, f"    {statement}\n")
    (tmp_path / "mine.c").write_text(text, encoding="utf-8")
    found = westwood("control", "check", "mine.c", "--for", "0")
    assert found.code == 1
    failed = [line for line in found.out.splitlines() if line.startswith("FAILED")]
    at = text[: text.index(statement)].count("\n") + 1
    expected = UNFIT[statement]
    assert any(expected in one and "mine.c:" in one for one in failed), found.out
    if expected != "sets cwnd 0":  # the action that set it is named, not the line
        assert any(f"mine.c:{at}: " in one for one in failed), found.out


@pytest.mark.parametrize(
    "statement, wraps",
    [
        ("window->cwnd = ww_max_u32((in_flight - mss) % 1024, 1);", True),
        ("window->cwnd = 1 + (uint32_t)((uint64_t)in_flight * 3 / 65536);", False),
        ("window->cwnd = ww_max_u32((uint32_t)ww_minus(in_flight, mss) % 1024, 1);", False),
    ],
)
def test_an_unsigned_number_that_wraps_around_is_named_with_its_line(statement, wraps, tmp_path):
    """C defines it and a sequence number may need it, so it is no failure."""
    text = FIT.replace(LINE, f"    {statement}\n")
    (tmp_path / "mine.c").write_text(text, encoding="utf-8")
    *_, found = checking.checks(str(tmp_path / "mine.c"), seed=1, for_s=0.0)
    at = text[: text.index(statement)].count("\n") + 1
    assert found.outcome is (Outcome.UNSURE if wraps else Outcome.PASSED), found
    assert wraps == (f"mine.c:{at}: unsigned integer overflow" in found.note)


@pytest.mark.skipif(not compiling.ziglang(), reason="needs ziglang")
@pytest.mark.parametrize("statement", [*UNFIT][:2])
def test_without_clang_ziglang_finds_what_linux_lacks(statement, tmp_path, monkeypatch):
    text = FIT.replace(LINE, f"    {statement}\n")
    (tmp_path / "mine.c").write_text(text, encoding="utf-8")
    find = programs.system_program
    monkeypatch.setattr(
        programs, "system_program", lambda name: None if name == "clang" else find(name)
    )
    *_, integers = islice(checking.checks(str(tmp_path / "mine.c"), seed=1, for_s=0.0), 3)
    at = text[: text.index(statement)].count("\n") + 1
    assert integers.note == f"{tmp_path}/mine.c:{at}: {UNFIT[statement]}, which Linux lacks"


@pytest.mark.slow
@pytest.mark.skipif(not FRAMA_C, reason="needs Frama-C")
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("if (now_us == 6148914691236517205u) window->cwnd = 1u << mss;", "invalid RHS operand"),
        (
            "if (now_us == 6148914691236517205u) for (; mss < in_flight; mss++) window->cwnd++;",
            "a loop without a small bound",
        ),
    ],
)
def test_frama_c_finds_what_no_test_does(statement, expected, tmp_path, westwood):
    text = FIT.replace(LINE, f"    {statement}\n")
    (tmp_path / "mine.c").write_text(text, encoding="utf-8")
    found = westwood("control", "check", "mine.c", "--for", "0")
    assert found.code == 0
    at = text[: text.index(statement)].count("\n") + 1
    unsure = [line for line in found.out.splitlines() if line.startswith("unsure")]
    assert len(unsure) == 1 and f"mine.c:{at}: {expected}" in unsure[0], found.out


def test_a_file_that_does_not_compile_is_refused(tmp_path, westwood):
    (tmp_path / "mine.c").write_text("no C", encoding="utf-8")
    refused = westwood("control", "check", "mine.c")
    assert refused.code == 2 and "mine.c:1: " in refused.err
