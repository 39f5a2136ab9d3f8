# SPDX-License-Identifier: BSD-3-Clause
"""Measures the steps per second of westwood.gym, and of Aurora's simulator beside it.

python -m bench.gym [--aurora FOLDER] [--record]

--record keeps the cost of a segment with random actions, over that at a constant rate, in
bench/recorded.json. FOLDER is a clone of PCCproject/PCC-RL. Its simulator wants the package gym,
which is no longer maintained, and a debugger; both get a stand-in. Both sides take random actions
on the paths of Aurora's episodes, in turn, and CPU time is counted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import sys
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding

from bench import recorded
from westwood import gym

TURNS = 3
CONSTANT = "aurora, 50 to 90 % of the rate"
RANDOM = "aurora, random actions"


def ours(like: str, steps: int = 400, **parameters: Any) -> tuple[float, float]:
    """Returns steps per second of CPU time, and segments sent per step."""
    many = gym.VectorEnv(64, like=like, **parameters)
    many.reset(seed=1)
    draw = np.random.default_rng(0)
    low, high = many.single_action_space.low[0], many.single_action_space.high[0]
    constant = "first_rate" in parameters
    sent, began = 0.0, time.thread_time()
    for _ in range(steps):
        actions = np.zeros((64, 1)) if constant else draw.uniform(low, high, (64, 1))
        many.step(actions)
        sent += many.measured["sent"].sum()
    return 64 * steps / (time.thread_time() - began), sent / (64 * steps)


def auroras(folder: Path, steps: int = 3000) -> tuple[float, float]:
    """Returns the same for Aurora's simulator."""
    draw = np.random.default_rng(0)
    with contextlib.redirect_stdout(io.StringIO()):
        environment = _simulator(folder).SimulatedNetworkEnv()
        environment.dump_events_to_file = lambda _: None
        environment.reset()
        sent, began = 0, time.thread_time()
        for _ in range(steps):
            over = environment.step(draw.uniform(-1, 1, 1))[2]
            sent += environment.senders[0].sent
            if over:
                environment.reset()
    return steps / (time.thread_time() - began), sent / steps


def _simulator(folder: Path) -> Any:
    stands_in = {
        "ipdb": {},
        "gym": {"Env": object, "spaces": spaces},
        "gym.utils": {"seeding": seeding},
        "gym.envs": {},
        "gym.envs.registration": {"register": lambda **_: None},
    }
    for name, has in stands_in.items():
        module = types.ModuleType(name)
        module.__dict__.update(has)
        sys.modules.setdefault(name, module)
    arguments, sys.argv = sys.argv, sys.argv[:1]  # which it reads
    sys.path[:0] = [str(folder / "src" / "gym"), str(folder / "src")]
    simulator = importlib.import_module("network_sim")
    sys.argv = arguments
    return simulator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--aurora", type=Path, help="a clone of PCCproject/PCC-RL")
    parser.add_argument("--record", action="store_true", help="keep the figure")
    options = parser.parse_args()
    aurora = options.aurora
    sides = {f"{like}, random actions": lambda like=like: ours(like) for like in gym.KINDS}
    sides[CONSTANT] = lambda: ours("aurora", first_rate=(0.5, 0.9))
    if aurora:
        sides["Aurora's simulator"] = lambda: auroras(aurora)
    best: dict[str, tuple[float, float]] = {}
    for _ in range(TURNS):
        for side, measure in sides.items():
            best[side] = max(best.get(side, (0.0, 0.0)), measure())
    for side, (rate, sent) in best.items():
        print(f"{side:32} {rate:10.0f} steps/s {sent:8.1f} segments a step")
    segments = {side: rate * sent for side, (rate, sent) in best.items()}
    now = {f"gym: {RANDOM}": {"over_constant": segments[CONSTANT] / segments[RANDOM]}}
    for line in recorded.worse(now, recorded.read()):
        print(line)
    if options.record:
        recorded.keep(now)


if __name__ == "__main__":
    main()
