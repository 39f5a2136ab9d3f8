# SPDX-License-Identifier: BSD-3-Clause
"""A policy written as a C file does in integers what it does in floating point."""

import ctypes
import math
import random
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from westwood import InputError, simulate
from westwood.control import compiling

gym = pytest.importorskip("westwood.gym")
pytest.importorskip("gymnasium")

BOUND = 0.001  # of the factor


def factor(output: float) -> float:
    return 1.2 ** math.tanh(output)


def compiled(policy: Path) -> Callable[[Sequence[float]], float]:
    """Returns the policy of a file as a function of its observations."""
    program = policy.with_name("called.c")
    program.write_text(
        f'#include "{policy}"\n'
        "extern uint32_t called(const int16_t *inputs);\n"
        "uint32_t called(const int16_t *inputs) { return factor_of(inputs); }\n",
        encoding="utf-8",
    )
    library = policy.with_suffix(".so")
    command = [*compiling.compiler().command, "-std=c11", "-O2", "-fPIC", "-shared"]
    subprocess.run([*command, f"-I{compiling.headers()}", "-o", library, program], check=True)
    call = ctypes.CDLL(str(library)).called

    def policy_of(inputs: Sequence[float]) -> float:
        fixed = [round(number * 4096) for number in inputs]
        return float(call((ctypes.c_int16 * len(fixed))(*fixed)) / 65536)

    return policy_of


@pytest.mark.parametrize("hidden", [0, 5])
def test_the_integers_follow_the_network_within_a_thousandth(hidden, tmp_path):
    draw = random.Random(hidden)
    first = [[draw.uniform(-2, 2) for _ in range(6)] for _ in range(hidden or 1)]
    constants = [draw.uniform(-1, 1) for _ in first]
    last = [draw.uniform(-2, 2) for _ in range(hidden)]
    layers: list[Any] = [(first, constants), *([([last], [0.3])] if hidden else [])]
    file = gym.export(tmp_path / "policy.c", layers, factor, hidden=math.tanh if hidden else None)
    policy = compiled(file)
    for _ in range(500):
        inputs = [round(draw.uniform(-1, 3) * 4096) / 4096 for _ in range(6)]
        outputs = [
            sum(w * x for w, x in zip(row, inputs, strict=True)) + constant
            for row, constant in zip(first, constants, strict=True)
        ]
        if hidden:
            activations = map(math.tanh, outputs)
            outputs = [sum(w * x for w, x in zip(last, activations, strict=True)) + 0.3]
        wanted = factor(outputs[0])
        assert policy(inputs) == pytest.approx(wanted, rel=BOUND)


# What the example of docs/gym.md learned.
TRAINED = [-2.092, -2.302, -1.904, 0.234, -1.236, -1.850, 7.727]


@pytest.mark.parametrize("number", [5, 9])
def test_the_control_gets_what_the_agent_gets(number, tmp_path):
    """Its start is slower, because the agent's first rate is near that of the link."""
    path = gym.aurora_paths(16)[number].with_settings({"duration": "1200s"})
    flow = path.flow[0]
    file = gym.export(tmp_path / "policy.c", [([TRAINED[:-1]], TRAINED[-1:])], factor)
    control = simulate(path.with_settings({f"{flow.name}.cc": str(file)})).rows
    multiplies = gym.Action("rate", -1, 1, lambda actions: 1.2**actions)
    agent = gym.Env(path, history=2, steps=10_000, action=multiplies)
    seen, _ = agent.reset(seed=1)
    steps: list[Mapping[str, float]] = []
    truncated = False
    while not truncated:
        inputs = seen.clip(-1, 3)
        output = float((inputs * TRAINED[:-1]).sum() + TRAINED[-1])
        seen, _, _, truncated, step = agent.step([math.tanh(output)])
        steps.append(step)
    lasted_s = sum(row["duration_s"] for row in steps)
    delivered_bps = sum(row["delivered"] for row in steps) * flow.packet * 8 / lasted_s
    rtt_s = sum(row["rtt_s"] for row in steps) / len(steps)
    assert control["throughput_bps"][0] == pytest.approx(delivered_bps, rel=0.05)
    assert control["mean_srtt_s"][0] == pytest.approx(rtt_s, rel=0.03)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"observation": ["rtt"]}, "expected some of latency_inflation"),
        ({"history": 5}, "expected at most 14 numbers"),
        ({"history": "two"}, 'history = "two": expected a whole number'),
        ({"observation": "loss"}, 'observation = "loss": expected a list'),
        ({"layers": 3}, "layers = 3: expected a list of"),
        ({"layers": [3]}, r"layers = \[3\]: expected a list of \(weights, constants\)"),
        ({"layers": [([1.0] * 6, [0.0])]}, "layers = 1.0: expected a list of .*: expected a list"),
        ({"layers": [([["a"] * 6], [0.0])]}, 'layers = "a": .* expected a number'),
        ({"layers": {"weights": []}}, "layers = {.*: expected a list of"),
        ({"layers": [([[1.0] * 6], [0.0], 1)]}, "expected a list of .weights, constants"),
        ({"layers": []}, "expected one layer, or two"),
        ({"layer": []}, 'layer = .*: no such argument, did you mean "layers"'),
        ({"layers": [([[1.0] * 5], [0.0])]}, "expected a row of 6 weights"),
        ({"layers": [([[1.0] * 6] * 2, [0.0] * 2)]}, "expected one output"),
        (
            {"layers": [([[1e9] * 6], [0.0])]},
            "expected a number of at least -1000",
        ),
        (
            {"layers": [([[math.nan] * 6], [0.0])]},
            "expected a number of at least -1000",
        ),
        ({"hidden": math.tanh}, "expected one layer, or two"),
        ({"clip": (3, -1)}, "expected two numbers from -7 to 7"),
        ({"clip": 3}, "clip = 3: expected a list"),
        ({"factor": 3}, "factor = 3: expected"),
        ({"factor": lambda: 1}, "factor: expected a function of a number, raised TypeError"),
        ({"factor": lambda output: output}, "expected values from 0 to 255"),
        ({"factor": lambda output: math.nan}, "factor = nan: expected values from 0 to 255"),
        (
            {"layers": [([[1.0] * 6], [0.0]), ([[1.0]], [0.0])], "hidden": lambda output: output},
            "hidden = -8.0: expected values from -1 to 1",
        ),
        ({"path": "policy"}, "expected a name that ends in .c"),
        ({"path": "2.c"}, "expected a name of letters"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_written(changed, expected, tmp_path):
    given: dict[str, Any] = {"path": "policy.c", "layers": [([[1.0] * 6], [0.0])], "factor": factor}
    given |= changed
    given["path"] = tmp_path / given["path"]
    with pytest.raises(InputError, match=expected):
        gym.export(**given)
    assert not list(tmp_path.iterdir())
