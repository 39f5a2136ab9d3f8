# SPDX-License-Identifier: BSD-3-Clause
"""Repeats recorded uploads in the simulator over candidate paths.

The repetitions have the same number, durations and controls, run alone, and use the same sampling.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from westwood.campaign.fit import recordings, summary
from westwood.campaign.fit.path import FLOW, PROFILE, Packets, Path, flow, link
from westwood.campaign.fit.recordings import Upload
from westwood.campaign.fit.summary import Measure
from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.engines.pool import run_jobs, sorted_rows
from westwood.engines.result import Result
from westwood.scenario import Scenario
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# Uploads of each control, and segments in all; more take long but hardly narrow the interval.
_MOST_UPLOADS, _MOST_SEGMENTS = 3, 60_000
_LEAST_DELAY_S = 1e-5
_DEAD = -20.0  # stands for every number of an upload that delivered nothing
_NAMES = [f"number_{place}" for place in range(summary.WIDTH)]


class Replay:
    """Computes the numbers of these uploads, recorded, or simulated over other paths.

    Here a path is (log rate, log queue, root of loss); its base round trip is the recorded one.
    """

    def __init__(self, uploads: Sequence[Upload], measure: Measure) -> None:
        by_control: dict[str, list[Upload]] = {}
        for upload in uploads:
            by_control.setdefault(upload.cc, []).append(upload)
        once = sum(float(uploads_[0].sent[-1]) for uploads_ in by_control.values())
        most = min(_MOST_UPLOADS, max(1, int(_MOST_SEGMENTS / once)))
        self.uploads = [repeated for cc in sorted(by_control) for repeated in by_control[cc][:most]]
        self._controls = [upload.cc for upload in self.uploads]
        self._packets = Packets(uploads[0].mss)
        self._measure = measure
        self._seed = 0
        self._handshake_bits = self._calibrated()
        sampled = [upload.sampled(measure.step_s) for upload in self.uploads]
        numbers = [summary.summarise(upload, measure) for upload in sampled]
        self.observed = summary.of_controls(numbers, self._controls)

    def path(self, theta: Numbers) -> Path:
        """Returns the path with these parameters."""
        rate = math.exp(theta[0])
        round_trip_s = self._measure.base_s - self._handshake_bits / rate
        delay_s = max(round_trip_s / 2, _LEAST_DELAY_S)
        return Path(rate, delay_s, max(1, round(math.exp(theta[1]))), max(theta[2], 0.0) ** 2)

    def __call__(self, thetas: Numbers) -> Numbers:
        """Returns the numbers over each of these paths, with fresh seeds."""
        rows = sorted_rows(run_jobs(self._jobs(thetas), simulator.prepare))
        every = np.array([[row[name] for name in _NAMES] for row in rows])
        count = len(self.uploads)
        return np.stack(
            [
                summary.of_controls(list(every[start : start + count]), self._controls)
                for start in range(0, len(every), count)
            ]
        )

    def by_control(self, numbers: Numbers, place: int) -> dict[str, Numbers]:
        """Returns one number of each control (the last axis), converted from its logarithm."""
        controls = sorted(set(self._controls))
        return {
            cc: np.exp(numbers[..., number * summary.WIDTH + place])
            for number, cc in enumerate(controls)
        }

    def _jobs(self, thetas: Numbers) -> Iterator[Job]:
        for theta in thetas:
            for upload in self.uploads:
                # The first acknowledgment takes a handshake and a round trip.
                length_s = upload.seconds + 2 * self._measure.base_s
                self._seed += 1
                chosen = self._scenario(self.path(theta), upload.cc, length_s)
                yield Job(chosen, [self._seed], more_columns=self._columns, needs_events=True)

    def _scenario(self, path: Path, cc: str, seconds: float) -> Scenario:
        return Scenario(
            name="fit",
            duration=f"{round(seconds * PS_PER_S)}ps",
            profile=PROFILE,
            link=[link(path, self._packets)],
            flow=[flow(cc, self._packets)],
        )

    def _columns(self, result: Result) -> Mapping[str, Mapping[str, float]]:
        seen = recordings.of_result(result, self._measure.step_s)
        if seen is None:
            return {FLOW: dict.fromkeys(_NAMES, _DEAD)}
        return {
            FLOW: dict(zip(_NAMES, summary.summarise(seen, self._measure).tolist(), strict=True))
        }

    def _calibrated(self) -> float:
        """Returns H of the model: the bits of a handshake that the smallest round trip includes."""
        rate, delay_s = 1e6, self._measure.base_s / 2
        length_s = 4 * self._measure.base_s + 1
        chosen = self._scenario(Path(rate, delay_s, 1000, 0.0), self._controls[0], length_s)
        seen = recordings.of_result(simulator.simulate(chosen, trace=True, events=True), 0.1)
        assert seen is not None  # the path has no losses
        return (seen.rtt_min_s - 2 * delay_s) * rate
