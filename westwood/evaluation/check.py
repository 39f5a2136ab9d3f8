# SPDX-License-Identifier: BSD-3-Clause
"""Declares the check of a control's file: is it fit for every host, and does it carry data?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from westwood.control import checking
from westwood.control.checking import Check, Outcome
from westwood.control.loading import is_file
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError
from westwood.evaluation.answer import Answer, not_run_at, of_measurements, text_at
from westwood.evaluation.answer import At as Point
from westwood.evaluation.criterion import Part, RowsOf, Work
from westwood.evaluation.fixed_paths import (
    ALL,
    FASTEST,
    LEAST,
    ONE_SEGMENT,
    OTHERS,
    PATHS,
    RIVAL,
    SHARED_QUEUES,
    SHARED_SEEDS,
    FixedPath,
    shared,
)
from westwood.experiments.control import Control
from westwood.results.metrics import means
from westwood.results.verdicts import Verdict
from westwood.scenario import fragments
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "check"
_VERIFIER, _SHARE = "verifier", "cubic-share"
_ON_PATHS: Mapping[str, tuple[str, Sequence[FixedPath]]] = {
    "paths": ("12 paths, with Reno, CUBIC and BBR", PATHS),
    "one-segment": (
        "a path of one segment, where a window of one must not be a trap",
        [ONE_SEGMENT],
    ),
    "100-gbps": ("a path of 100 Gb/s", [FASTEST]),
}
SAYS: Mapping[str, str] = {
    **checking.QUESTIONS,
    _VERIFIER: "the kernel's verifier",
    **{name: says for name, (says, _) in _ON_PATHS.items()},
    _SHARE: f"a link shared with {RIVAL.label}",
}
_VERDICTS = {
    Outcome.PASSED: Verdict.MEETS,
    Outcome.FAILED: Verdict.FAILS,
    Outcome.UNSURE: Verdict.CANNOT_TELL,
}
_SOURCE = "docs/your-own-control.md"
_PRINTED_COLUMNS = ("goodput_bps", "mean_srtt_s", "retransmission_ratio")  # of each path


def judged(control: Control, work: Work) -> Iterator[Mapping[str, Any]]:
    """Yields the outcome of each check, the quickest first.

    After a failure of the code no path runs, since the control may damage this process.
    """
    if not is_file(control.cc):
        for name in work.names:
            yield _answer(name, [not_run_at(SAYS[name], "it checks a control in a file")]).entry()
        return
    has_failed = work.has_failed
    for name, check in _of_code(control.cc, work):
        has_failed |= check.outcome is Outcome.FAILED
        yield _answer(name, [_point(check)]).entry()
    for name in work.names:
        if name in _ON_PATHS:
            _, paths = _ON_PATHS[name]
            points = _skipped(paths) if has_failed else _carried(control, paths, work.rows_of)
            yield _answer(name, points).entry()
        elif name == _SHARE:
            yield _share(control, work.rows_of, has_failed).entry()


def _of_code(file: str, work: Work) -> Iterator[tuple[str, Check]]:
    from westwood.kernel import user_controls

    names = [name for name in work.names if name in checking.QUESTIONS]
    checks = checking.checks(file, work.seed, work.effort.calls_s, names)
    yield from zip(names, checks, strict=True)
    if _VERIFIER in work.names:
        yield _VERIFIER, user_controls.check(file)


def _answer(name: str, points: Sequence[Point], **more: Any) -> Answer:
    return of_measurements(PART, name, SAYS[name], points, **more)


def _point(check: Check) -> Point:
    if check.outcome is Outcome.SKIPPED:
        return not_run_at(check.name, check.note)
    verdict = _VERDICTS[check.outcome]
    return text_at(check.name, check.note or "no problem", "no problem", verdict)


def _skipped(paths: Sequence[FixedPath]) -> list[Point]:
    return [not_run_at(path.name, "an earlier check failed") for path in paths]


def _carried(control: Control, paths: Sequence[FixedPath], rows_of: RowsOf) -> list[Point]:
    """Returns what the control carries on each path; a failure of its code ends them."""
    points: list[Point] = []
    for path in paths:
        try:
            points.append(_goodput(control, path, rows_of))
        except InputError as error:  # the control failed: its line
            text = f"{error.problem} (again: {path.command(control)})"
            points.append(text_at(path.name, text, "a run to the end", Verdict.FAILS))
            return points + _skipped(paths[len(points) :])
    return points


def _goodput(control: Control, path: FixedPath, rows_of: RowsOf) -> Point:
    of_others = {other: path.mean(other, "goodput_bps", rows_of) for other in OTHERS}
    slowest = min(of_others, key=of_others.__getitem__)
    mean = {column: path.mean(control, column, rows_of) for column in _PRINTED_COLUMNS}
    goodput_bps, least_bps = mean["goodput_bps"], LEAST * of_others[slowest]
    text = f"{goodput_bps / 1e6:.3g} Mb/s, {goodput_bps / path.rate_bps:.0%} of the rate"
    text += f", {mean['mean_srtt_s'] * 1e3:.1f} ms"
    text += f", {mean['retransmission_ratio']:.2%} resent"
    verdict = Verdict.of(goodput_bps < least_bps)
    if verdict is Verdict.FAILS:
        text += f" (again: {path.command(control)})"
    expected = f"{least_bps / 1e6:.3g} Mb/s or more, a tenth of {slowest.label}'s"
    return text_at(path.name, text, expected, verdict, goodput_bps / of_others[slowest])


def _share(control: Control, rows_of: RowsOf, has_failed: bool) -> Answer:
    if has_failed:
        return _answer(_SHARE, [not_run_at(SAYS[_SHARE], "an earlier check failed")])
    points = []
    for queue in SHARED_QUEUES:
        name = f"a queue of {queue}"
        try:
            mean = _shared_means(control, queue, rows_of)
        except InputError as error:
            points.append(text_at(name, error.problem, "a run to the end", Verdict.FAILS))
            break
        judged_bps, rival_bps = (mean[flow]["goodput_bps"] for flow in ("judged", RIVAL.cc))
        part = judged_bps / max(judged_bps + rival_bps, 1.0)
        text = f"{part:.0%} of both goodputs"
        points.append(text_at(name, text, "a run to the end", Verdict.MEETS, part))
    scenarios = tuple(fragments.plain(shared(control, queue)) for queue in SHARED_QUEUES)
    return _answer(_SHARE, points, scenarios=scenarios)


def _shared_means(control: Control, queue: str, rows_of: RowsOf) -> Mapping[str, Mapping[str, Any]]:
    rows = rows_of(shared(control, queue), SHARED_SEEDS)
    return {row["flow"]: row for row in means(rows, ["flow"], ["goodput_bps"])}


def draw(name: str, controls: Sequence[Control], work: Work) -> Figure:
    """Draws what the controls and others did on the paths of a check."""
    return _PICTURES[name](controls, work.rows_of)


def _draw_paths(controls: Sequence[Control], rows_of: RowsOf) -> Figure:
    from westwood.draw.dots import DotPanel, dots

    every = (*OTHERS, *controls)

    def least_s(path: FixedPath) -> float:
        return min(path.mean(control, "min_rtt_s", rows_of) for control in every)

    goodput = {
        control.cc: [path.mean(control, "goodput_bps", rows_of) / path.rate_bps for path in ALL]
        for control in every
    }
    delay = {
        control.cc: [path.mean(control, "mean_srtt_s", rows_of) / least_s(path) for path in ALL]
        for control in every
    }
    panels = [
        DotPanel("Goodput over the link's rate", goodput),
        DotPanel("Mean smoothed RTT over the least", delay, log=True),
    ]
    title = f"{', '.join(control.label for control in every)}: one flow on each path"
    return dots([path.name for path in ALL], panels, title)


def _draw_windows(controls: Sequence[Control], rows_of: RowsOf) -> Figure:
    from westwood.draw.over_time import TracedRun, over_time

    traced = []
    for control in (*OTHERS, *controls):
        result = SIMULATOR.simulate(ONE_SEGMENT.with_control(control), trace=True)
        is_ours = control in controls
        traced.append(TracedRun(control.cc, control.label, result.trace, dashed=is_ours))
    whole_s = (0.0, ONE_SEGMENT.preset.duration / PS_PER_S)
    return over_time(traced, "Windows where one segment fills the path", whole_s)


def _draw_shares(controls: Sequence[Control], rows_of: RowsOf) -> Figure:
    from westwood.draw.bars import grouped_bars

    def bar(control: Control, row: Mapping[str, Any]) -> tuple[str, float, float]:
        return control.cc, row["goodput_bps"] / 1e6, row["goodput_bps_ci95"] / 1e6

    groups = []
    for control in controls:
        for queue in SHARED_QUEUES:
            mean = _shared_means(control, queue, rows_of)
            bars = [bar(control, mean["judged"]), bar(RIVAL, mean[RIVAL.cc])]
            groups.append((queue if len(controls) == 1 else f"{control.label}, {queue}", bars))
    return grouped_bars(groups, "Goodput (Mb/s)", f"With {RIVAL.label} on 20 Mb/s, 40 ms")


_PICTURES: Mapping[str, Callable[[Sequence[Control], RowsOf], Figure]] = {
    "paths": _draw_paths,
    "one-segment": _draw_windows,
    _SHARE: _draw_shares,
}
PART = Part(
    NAME,
    "Is the file fit for every host?",
    _SOURCE,
    harness=judged,
    names=tuple(SAYS),
    only_asked=True,
    draw=draw,
    drawn=tuple(_PICTURES),
    is_test=True,
)
