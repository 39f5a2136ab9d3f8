# SPDX-License-Identifier: BSD-3-Clause
"""What takes long says so first, and then how far it is, also where no terminal shows a bar."""

import time
from collections.abc import Iterator

import pytest
from one_link import one_link

from westwood.cli import console
from westwood.engines import pool, resources
from westwood.engines.contract import Job
from westwood.engines.simulator import SIMULATOR


def job(seeds: int, duration: str = "600s", **link: object) -> Job:
    scenario = one_link(link={"rate": "100Mbps", **link}, duration=duration)
    return Job(scenario, range(1, seeds + 1))


def test_a_pipe_hears_how_long_it_takes_and_then_how_far_it_is(monkeypatch):
    lines = []

    class Slow:
        about_s = 3725.0

        def __iter__(self) -> Iterator[int]:
            for number in range(2):
                while not any(line.startswith(f"{number} of 2 runs after 0:") for line in lines):
                    time.sleep(0.01)
                yield number

    monkeypatch.setattr(console, "_SAYS_EACH_S", 0.01)
    monkeypatch.setattr(console.streams, "say", lines.append)
    assert list(console.track(Slow(), 2)) == [0, 1]
    assert lines[0] == "2 runs take about 1:02:05; fewer seconds or seeds take less"
    count = len(lines)
    time.sleep(0.05)
    assert len(lines) == count, "it is over"


def test_the_time_left_is_that_of_the_runs_before():
    assert console._so_far(0, 3, 9.8) == "0 of 3 runs after 0:00:10"
    assert console._so_far(2, 3, 121) == "2 of 3 runs after 0:02:01, about 0:01:00 left"


def test_a_terminal_hears_what_follows_the_runs(monkeypatch):
    lines: list[str] = []
    monkeypatch.setattr(console.streams, "say", lines.append)
    for is_terminal in (False, True):
        monkeypatch.setattr(console.sys.stderr, "isatty", lambda is_it=is_terminal: is_it)
        with console.working("drawing"):
            assert lines == ["drawing"] * is_terminal


def test_what_is_short_says_nothing(capsys):
    runs = pool.run_jobs([job(2, "1s")], SIMULATOR.prepare, workers=1)
    assert 0 < runs.about_s < 1 and len(list(console.track(runs, 2))) == 2
    assert not capsys.readouterr().err


@pytest.mark.parametrize("engine, least, most", [("quinn", 100, 2000), ("ns3", 1000, 20_000)])
def test_the_cost_is_that_of_the_engine(engine, least, most):
    """30 runs of 600 s with 8333 packets a second are 150 million packets."""
    about_s = resources.seconds_of([job(30)], 1, engine)
    assert least < about_s < most
    assert resources.seconds_of([job(30)], 2, engine) == pytest.approx(about_s / 2)
    assert resources.seconds_of([job(1)] * 30, 1, engine) == pytest.approx(about_s)
    assert about_s > 10 * resources.seconds_of([job(30)], 1, "sim")


def test_real_time_costs_its_length():
    assert resources.seconds_of([job(3)], 1, "linux") == pytest.approx(1800, rel=0.01)
    assert resources.seconds_of([job(3)], 8, "linux") == pytest.approx(600, rel=0.01)


def test_states_of_a_microsecond_cost_even_in_silence():
    """An hour has 3.6 thousand million changes; one of 10 ms takes 10 000 times fewer."""
    costs = []
    for length in ("1us", "10ms"):
        loss = {"kind": "markov", "good": length, "bad": length, "bad_rate": 0.5}
        costs.append(resources.seconds_of([job(1, "1h", rate="1kbps", loss=loss)], 1, "sim"))
    assert 10 < costs[0] < 300 and costs[1] < 0.1
