# SPDX-License-Identifier: BSD-3-Clause
"""`westwood evaluate --suite check` finds what is not fit for every host, with its line."""

import re
import shutil
from pathlib import Path

import pytest
from mine import MINE, ON_LOSS, line_of

from westwood import programs
from westwood.control import checking, compiling
from westwood.control.checking import Outcome
from westwood.control.writing import like, models
from westwood.evaluation import check, fixed_paths
from westwood.evaluation.answer import Answer
from westwood.evaluation.criterion import USUAL
from westwood.evaluation.request import Request
from westwood.evaluation.running import Evaluation
from westwood.experiments.control import Control, control
from westwood.results.folder import Folder

pytestmark = [
    pytest.mark.skipif(not shutil.which("clang"), reason="needs gcc and clang"),
    pytest.mark.usefixtures("westwood"),  # its folder of looks
]

FRAMA_C = shutil.which("frama-c")
UNFIT = {  # the check that finds it, and what it says
    "window->cwnd = (uint32_t)((int)in_flight / ((int)mss | 1));": (
        "integers",
        "divides signed numbers",
    ),
    "window->cwnd = 1 + (uint32_t)(in_flight * 0.5);": ("integers", "uses floating point"),
    "window->cwnd = 1 + (uint32_t)(((int)in_flight + 0x7fffffff) & 1);": (
        "calls",
        "signed integer overflow",
    ),
    "((volatile char *)own)[4096] = 1;": ("calls", "uses memory outside of its state"),
    "((volatile char *)own)[-1] = 1;": ("calls", "uses memory outside of its state"),
    "if (in_flight == 4294967295u) window->cwnd = 0;": ("calls", "sets cwnd 0"),
    "if (in_flight == 4294967295u) for (;;) window->cwnd |= 1;": ("calls", "small bounds"),
}


def written(file: Path, on_loss: str) -> str:
    """Writes the control like Reno with another statement; returns its text."""
    text = MINE.replace(ON_LOSS, on_loss)
    file.write_text(text, encoding="utf-8")
    return text


CHECK = ("evaluate", "mine.c", "--suite", "check", "--for")


def verdicts(printed: str) -> dict[str, str]:
    """Reads the line of each check."""
    lines = [line.split(maxsplit=1) for line in printed.splitlines() if line.startswith("  ")]
    return {words[0]: words[1] for words in lines if words[0] in check.SAYS}


@pytest.mark.slow
def test_a_fit_control_passes_and_has_a_page(tmp_path, westwood):
    written(tmp_path / "mine.c", ON_LOSS)
    outcomes = verdicts(westwood(*CHECK, "0s", "--out", "page").printed())
    eva, verifier = outcomes.pop("undefined"), outcomes.pop("verifier")
    assert set(outcomes.values()) == {"meets"} and eva == ("meets" if FRAMA_C else "not run")
    assert verifier in ("meets", "not run"), "only root may ask it"
    text = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    for path in fixed_paths.ALL:
        assert path.name in text
    for name in ("paths", "one-segment", "cubic-share"):
        assert (tmp_path / "page" / f"{name}.png").stat().st_size > 10_000


def test_a_control_that_is_no_file_is_reported(westwood):
    printed = westwood("evaluate", "cubic", "--suite", "check").printed()
    assert {*verdicts(printed)} == {*check.SAYS} and "it checks a control in a file" in printed


# They carry less than a tenth of the slowest of Reno, CUBIC and BBRv1: docs/your-own-control.md,
# docs/gallery.md.
SLOW = {"westwood": "100-gbps", "westwoodnr": "100-gbps", "tor_westwood.c": "paths"}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", models())
def test_controls_like_those_of_the_catalogue_are_fit(protocol, tmp_path, westwood):
    (tmp_path / "mine.c").write_text(like(protocol, "mine"), encoding="utf-8")
    done = westwood(*CHECK, "1s")
    unfit = {name for name, word in verdicts(done.out).items() if word in ("fails", "cannot tell")}
    if protocol == "bbr3" and "104 in Linux" in done.out:  # the kernel has no room for its state
        unfit.discard("verifier")
    # Frama-C does not tell runs with different kinds of HyStart apart.
    if protocol == "cubic" and "trap representation of a _Bool" in done.out:
        unfit.discard("undefined")
    assert unfit == {SLOW[protocol]} if protocol in SLOW else not unfit


def carried(file: Path) -> Answer:
    """Runs the twelve paths, the earlier checks left out."""
    judged = control(str(file))
    request = Request([judged], Control("cubic"), {}, [check.PART], USUAL, 1)
    with Evaluation(request, Folder(file.parent / "out")).opened(resume=False) as evaluation:
        (reply,) = check.judged(judged, evaluation.work(["paths"]))
    return Answer.of(reply)


def test_a_control_that_stalls_is_named_with_the_path_and_its_command(tmp_path):
    written(tmp_path / "mine.c", "    window->cwnd = window->ssthresh = 1;\n")
    reply = carried(tmp_path / "mine.c")
    assert reply.verdict == "fails"
    first = next(point for point in reply.points if point.verdict == "fails")
    assert re.search(r"[\d.]+ Mb/s, \d% of the rate", first.text)
    assert re.match(r"[\d.]+ Mb/s or more, a tenth of \w+'s", first.expected)
    assert "(again: westwood run path --cc" in first.text


def test_a_control_that_fails_on_a_path_is_named_with_its_line_and_the_others_do_not_run(tmp_path):
    file = tmp_path / "mine.c"
    # No other test has these contents, so the control is known by no other name.
    closed = "    window->cwnd = 0; /* on a path */\n"
    written(file, closed)
    reply = carried(file)
    first = next(point for point in reply.points if point.verdict == "fails")
    assert f"{file}:" in first.text and "on_loss sets cwnd to 0" in first.text
    assert "again: westwood run path" in first.text and reply.points[-1].verdict == "not run"


@pytest.mark.parametrize("statement", UNFIT)
def test_what_is_not_fit_is_named_with_its_line(statement, tmp_path, westwood):
    text = written(tmp_path / "mine.c", f"    {statement}\n")
    name, expected = UNFIT[statement]
    done = westwood(*CHECK, "0s", "--only", f"{name},paths")
    assert done.code == 1
    printed = " ".join(done.out.split())
    assert expected in printed and "mine.c:" in printed, done.out
    if expected != "sets cwnd 0":  # the action that set it is named, not the line
        assert f"mine.c:{line_of(text, statement)}: " in printed, done.out
    assert verdicts(done.out)["paths"] == "not run", "a failure may damage this process"


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
    text = written(tmp_path / "mine.c", f"    {statement}\n")
    (check,) = checking.checks(str(tmp_path / "mine.c"), seed=1, for_s=0.0, names=["wraps"])
    assert check.outcome is (Outcome.UNSURE if wraps else Outcome.PASSED), check
    assert wraps == (f"mine.c:{line_of(text, statement)}: unsigned integer overflow" in check.note)


@pytest.mark.skipif(not compiling.ziglang(), reason="needs ziglang")
@pytest.mark.parametrize("statement", [*UNFIT][:2])
def test_without_clang_ziglang_finds_what_linux_lacks(statement, tmp_path, monkeypatch):
    text = written(tmp_path / "mine.c", f"    {statement}\n")
    find = programs.system_program
    monkeypatch.setattr(
        programs, "system_program", lambda name: None if name == "clang" else find(name)
    )
    name, expected = UNFIT[statement]
    (integers,) = checking.checks(str(tmp_path / "mine.c"), seed=1, for_s=0.0, names=[name])
    assert (
        integers.note
        == f"{tmp_path}/mine.c:{line_of(text, statement)}: {expected}, which Linux lacks"
    )


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
    text = written(tmp_path / "mine.c", f"    {statement}\n")
    printed = westwood(*CHECK, "0s").printed()
    unsure = [name for name, word in verdicts(printed).items() if word == "cannot tell"]
    assert unsure == ["undefined"], printed
    assert f"mine.c:{line_of(text, statement)}: {expected}" in " ".join(printed.split())


def test_a_file_that_does_not_compile_is_refused(tmp_path, westwood):
    (tmp_path / "mine.c").write_text("no C", encoding="utf-8")
    assert "mine.c:1: " in westwood(*CHECK, "0s").refusal()
