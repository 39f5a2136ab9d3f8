# SPDX-License-Identifier: BSD-3-Clause
"""`westwood evaluate`: its page, how it continues, and what it refuses."""

import json
from pathlib import Path

import pytest

from westwood import __version__
from westwood.engines import quic
from westwood.errors import UnavailableError

QUICK = ("evaluate", "reno", "--only", "queue", "--quick", "--out", "page")


def page_text() -> str:
    return Path("page/index.html").read_text(encoding="utf-8")


def test_the_page_has_the_verdict_its_threshold_and_the_command(westwood):
    done = westwood(*QUICK)
    assert "Does it keep queues short?       fails" in done.out
    assert "      mean 2.18 round trips (95 %: 2" in done.out
    assert "  fails: queue\n" in done.out
    assert "sack is Reno as hosts run it." in done.out
    assert "      asked for at most 1 (ours: the wait" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert f"Evaluation of reno in westwood {__version__}" in page_text()
    page = page_text()
    assert "at most 1" in page
    assert "RFC 9743, 5.1.2" in page
    assert "westwood evaluate reno --quick --only queue --out queue" in page
    assert "reno: seed 1, look 1, a fresh one." in page
    assert Path("page/scenarios/1-queue.toml").exists()


def test_text_for_a_pull_request_says_what_fails_and_which_seed_was_seen(westwood):
    lines = westwood(*QUICK, "--markdown").out.splitlines()
    (line,) = (row for row in lines if row.startswith("| Does it keep queues short?"))
    _, _, asked_for, cell_text, _ = (cell.strip() for cell in line.split("|"))
    assert asked_for.startswith("at most 1 (ours: the wait")
    assert sum(row.startswith("| ") for row in lines) == 3, "the heads, and what was asked"
    assert cell_text.startswith("fails: mean ")
    assert f"Reference `cubic`, quick, westwood {__version__}." in lines
    assert "reno: seed 1, look 1, a fresh one." in lines
    assert "`reno` fails 1 of 1 criteria:" in lines


def test_text_without_one_of_the_five_lines_has_a_row_for_each_criterion(westwood):
    names = ("shallow-fills", "shallow-resent")
    chosen = ("--suite", "shallow", "--only", ",".join(names), "--quick", "--out", "page")
    lines = westwood("evaluate", "reno", *chosen, "--markdown").out.splitlines()
    rows = [row for row in lines if row.startswith("| ")][2:]
    assert [row.split("|")[1].strip()[:13] for row in rows] == ["Goodput alone", "Share of its "]


def test_the_terminal_shows_the_interval_that_decides(westwood):
    done = westwood("evaluate", "bbr", "--only", "harm-lossy", "--quick", "--out", "page")
    (row,) = (line for line in done.out.splitlines() if line.startswith("  harm-lossy"))
    assert " to " in row


def test_each_named_criterion_is_shown_also_where_it_meets(westwood):
    done = westwood("evaluate", "sack", "--only", "thin,queue", "--quick")
    (row,) = (line for line in done.out.splitlines() if line.startswith("  thin"))
    assert "Does it keep queues short?" in done.out and row.endswith(" meets")
    assert "  fails: queue\n" in done.out


def test_a_control_without_its_suffix_is_recognised(westwood):
    Path("delta.c").touch()
    refused = westwood("evaluate", "./delta", "--out", "page").refusal()
    assert 'unknown protocol, did you mean "./delta.c"?' in refused


def test_a_stacks_control_is_judged_inside_its_stack(westwood):
    """C4's satellite needs an initial window that no stack takes."""
    try:
        quic.program()
    except UnavailableError as error:
        pytest.skip(str(error))
    of_stack = ("evaluate", "quinn:cubic", "--only", "c4-alone,c4-satellite", "--quick")
    done = westwood(*of_stack, "--engine", "quinn", "--out", "page")
    assert "quinn:cubic: 1 meets, 0 fails, 0 cannot tell, 1 not run" in done.out
    assert f"in {quic.TITLES['quinn']}" in page_text()
    assert "not run: tcp.initial_cwnd = &#34;6475p&#34;: engine quinn expects" in page_text()
    answers = json.loads(Path("page/answers.json").read_text(encoding="utf-8"))
    assert answers["engine"] == {"name": "quinn", "version": quic.TITLES["quinn"]}
    other = westwood(*of_stack, "--engine", "noq", "--out", "page", "--resume").refusal()
    assert "holds another evaluation, with different engine\n" in other


def test_a_fresh_look_has_a_seed_that_nobody_has_seen(westwood):
    for number, folder in enumerate(("first", "second"), start=1):
        westwood(*QUICK[:-1], folder, "--fresh")
        page = Path(folder, "index.html").read_text(encoding="utf-8")
        assert f"reno: seed {number}, look {number}, a fresh one" in page


def test_a_ledger_that_cant_be_written_costs_no_table(westwood, tmp_path):
    (tmp_path / "state").write_text("a file, no folder", encoding="utf-8")
    done = westwood(*QUICK)
    ledger = tmp_path / "state" / "westwood" / "looks.jsonl"
    assert done.code == 1 and "Does it keep queues short?       fails" in done.out
    assert done.err.startswith(
        f"westwood: {ledger}: can't be written, so the look at seed 1 is not"
    )
    assert done.err.count("\n") == 1 and Path("page/index.html").exists()
