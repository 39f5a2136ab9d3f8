# SPDX-License-Identifier: BSD-3-Clause
"""The paths of an environment: scenarios, or those on which Aurora was trained."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from westwood.control import loading
from westwood.control.arguments import checked, whole
from westwood.errors import InputError
from westwood.scenario import Scenario
from westwood.scenario.one_link import one_link

Path: TypeAlias = "Scenario | str | os.PathLike[str]"

MOST_PATHS = 100_000
_PACKET_BITS = 12_000  # Aurora's packets have 1500 bytes


@checked(count=whole(1, MOST_PATHS), seed=whole(0, 2**64 - 1))
def aurora_paths(count: int = 256, seed: int = 1) -> list[Scenario]:
    """Draws paths as Aurora's simulator does for its episodes.

    The rate is 100 to 500 packets of 1500 bytes a second, the delay of each direction 50 to 500 ms,
    and the loss 0 to 5 %, all uniform. The queue has 1 + exp(0 to 8) packets.

    Parameters
    ----------
    count : int, default 256
        Number of paths.
    seed : int, default 1
        Seed of the draw.

    Returns
    -------
    list of Scenario
        The paths, each with one flow of CUBIC for the agent to take over.

    Raises
    ------
    InputError
        If an argument is wrong.

    Examples
    --------
    >>> from westwood import gym
    >>> gym.aurora_paths(2)[0].link[0].rate
    3657000
    """
    draw = np.random.Generator(np.random.PCG64(seed))
    return [_drawn(number, draw) for number in range(count)]


def _drawn(number: int, draw: np.random.Generator) -> Scenario:
    packets_per_s = draw.uniform(100, 500)
    delay_us = round(draw.uniform(50_000, 500_000))
    queue = 1 + int(np.exp(draw.uniform(0, 8)))
    loss = round(draw.uniform(0, 0.05), 6)
    link = {
        "rate": f"{round(packets_per_s * _PACKET_BITS / 1000)}kbps",
        "delay": f"{delay_us}us",
        "queue": {"kind": "droptail", "limit": f"{queue}p"},
        "loss": {"kind": "uniform", "rate": loss, "on": "forward"},
    }
    flow = {"name": "agent", "cc": "cubic", "packet": "1500B"}
    return one_link(f"aurora-{number}", "10h", link, flow, ends=("sender", "receiver"))


def loaded(paths: object) -> list[Scenario]:
    """Returns the scenarios; one with a sweep stands for its points."""
    if paths is None:
        return aurora_paths()
    if isinstance(paths, (Scenario, str, os.PathLike)):
        paths = [paths]
    if not isinstance(paths, Sequence):
        problem = "expected scenarios, names of presets or files"
        raise InputError(problem, key="paths", value=paths)
    points = [point for path in paths for point in _points(path)]
    if not 1 <= len(points) <= MOST_PATHS:
        raise InputError(f"expected 1 to {MOST_PATHS} paths", key="paths", value=len(points))
    for recorded in points:
        for flow in recorded.flow:
            if flow.cc.name.endswith(loading.PYTHON):
                problem = "works only in simulate(), expected a control in C"
                raise InputError(problem, key=f"{flow.name}.cc", value=flow.cc.name)
    return points


def _points(given: object) -> Iterable[Scenario]:
    if isinstance(given, (str, os.PathLike)):
        given = Scenario.load(given)
    if not isinstance(given, Scenario):
        problem = "expected a scenario, the name of a preset or a file"
        raise InputError(problem, key="paths", value=given)
    for _, point in given.points():
        yield point
