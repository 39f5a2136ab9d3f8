# SPDX-License-Identifier: BSD-3-Clause
"""Declares the scenarios of draft-huitema-ccwg-c4-test: transfers that must end in time.

A time counts from the start of the trial. Each transfer runs 100 times, and the worst run counts.
c4_paths.py makes the paths, c4_media.py has the live media, and c4_published.py picoquic's
times.
"""

from __future__ import annotations

from collections.abc import Sequence

from westwood.evaluation import c4_media, measures
from westwood.evaluation.c4_paths import BAD_WIFI, DRAFT, DRAWS, FADE, SUSPENSION, Other, Trial
from westwood.evaluation.c4_published import PUBLISHED
from westwood.evaluation.criterion import Clause, Criterion, Making, Part, Point, Threshold
from westwood.evaluation.measures import ALONE
from westwood.scenario.paths.environment import ITSELF


def _against(kind: str, cc: str, within_s: Sequence[float]) -> list[Trial]:
    """Returns the four trials against one control: short, long, later and over bad Wi-Fi."""
    short, long, later, wifi = within_s
    return [
        Trial(f"vs-{kind}", f"Two short transfers: {kind}", 5, short, 20, 40, other=Other(cc, 10)),
        Trial(f"vs-{kind}-long", f"Two long: {kind}", 30, long, 20, 40, other=Other(cc, 20)),
        Trial(
            f"vs-{kind}-later",
            f"The other, {kind}, begins 1 s later",
            15,
            later,
            10,
            35,
            other=Other(cc, 10, 1),
        ),
        Trial(
            f"wifi-bad-{kind}",
            f"Over bad Wi-Fi, 1 s after {kind}",
            4,
            wifi,
            10,
            1,
            250,
            start_s=1,
            other=Other(cc, 10),
            link=BAD_WIFI,
        ),
    ]


TRIALS = (
    Trial("alone", "10 MB at 20 Mb/s, 80 ms", 10, 5.0, 20, 40),
    Trial("alone-200", "20 MB at 200 Mb/s, 40 ms", 20, 1.3, 200, 20),
    Trial(
        "satellite",
        "100 MB at 250 Mb/s, 600 ms",
        100,
        7.4,
        250,
        300,
        600,
        flow={"initial_cwnd": "6475p"},
        note="Careful resume is half of the remembered window, 18.75 MB, from the start. Without "
        "pacing it is one burst.",
    ),
    Trial("low-and-up", "7 MB while 5 Mb/s become 10 after 2.5 s", 7, 7.9, 10, 50, 40,
          rates=((2.5, 5), (60, 10)),
          note="The queue holds 80 ms at 5 Mb/s all the time; in the specification at both rates."),
    Trial("drop-and-back", "7 MB while 10 Mb/s halve from 1.5 s to 3.5 s", 7, 8.15, 10, 50,
          rates=((1.5, 10), (2, 5), (60, 10))),
    Trial("blackhole", "10 MB with an outage from 2 s to 4 s", 10, 6.1, 25, 35,
          rates=((2, 25), (2, 0), (60, 25))),
    Trial("short-long", "20 MB while 30 ms become 200 after 1 s", 20, 22, 10, 15, 200,
          link={"reroute": {"at": ["1s"], "delay": ["100ms"]}},
          note="The queue holds 200 ms all the time; in the specification 100 ms at first."),
    Trial("wifi-bad", "4 MB over bad Wi-Fi", 4, 4.3, 10, 1, 250, link=BAD_WIFI,
          note="Of CUBIC the specification cubic_wifi_bad asks for 4.5 s. Ours takes 6.1 s, and "
          "4.5 s without HyStart, which ends slow start here at the first late packets. picoquic "
          "filters round trips before HyStart sees them."),
    Trial("wifi-fade", "10 MB over Wi-Fi that fades from 1 s to 3 s", 10, 6.2, 20, 40,
          rates=((1, 20), (2, 18), (60, 20)), wifi_means_ms=FADE,
          note="Where the mean changes, delays are drawn for each millisecond, not each packet."),
    Trial("wifi-suspension", "10 MB over Wi-Fi that pauses 0.2 s every 2 s", 10, 5.4, 20, 5, 20,
          rates=SUSPENSION, recurs=True),
    Trial("after-itself", "5 MB, 0.5 s after itself", 5, 8.15, 20, 40, start_s=0.5,
          other=Other(ITSELF, 10)),
    Trial("before-itself", "10 MB, 0.5 s before itself", 10, 4.1, 50, 15,
          other=Other(ITSELF, 20, 0.5)),
    *_against("itself", ITSELF, (6.7, 22.8, 22.1, 13.5)),
    *_against("cubic", "cubic", (6.8, 21.9, 22.0, 12.1)),
    *_against("bbr3", "bbr3", (6.7, 23.0, 23.0, 12.0)),
)  # fmt: skip


def _runs(trial: Trial, draw: int) -> Making:
    return lambda control: {ALONE: trial.scenario(control, draw)}


def _criterion(trial: Trial) -> Criterion:
    draws = DRAWS if trial.wifi_means_ms else 1
    finished = measures.completion("tcp", "completed_s")
    return Criterion(
        f"c4-{trial.name}",
        trial.says,
        f"{DRAFT}, c4_{trial.name.replace('-', '_')}",
        [
            Point(f"draw {draw + 1}" if draws > 1 else trial.name, _runs(trial, draw), draw == 0)
            for draw in range(draws)
        ],
        lambda runs: finished(runs[ALONE]),
        Threshold(trial.within_s, DRAFT, at_most=True),
        "s",
        is_worst=True,
        axis="trial",
        note=trial.note,
        published=PUBLISHED.get(trial.name, {}),
    )


PART = Part(
    "c4",
    "C4's tests",
    DRAFT,
    (*(_criterion(trial) for trial in TRIALS), *c4_media.CRITERIA),
    clauses=(
        *(Clause(str(n), trial.says, (f"c4-{trial.name}",)) for n, trial in enumerate(TRIALS, 1)),
        *(
            Clause(str(n), trial.says, c4_media.names(trial))
            for n, trial in enumerate(c4_media.TRIALS, len(TRIALS) + 1)
        ),
    ),
)
