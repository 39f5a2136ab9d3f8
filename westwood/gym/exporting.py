# SPDX-License-Identifier: BSD-3-Clause
"""Writes a trained policy as a control in a C file, with integers only, for every host."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template
from typing import Any

from westwood.control import arguments, writing
from westwood.control.arguments import checked, each, has, number, optional, text, whole
from westwood.errors import InputError

_SEEN_BITS, _WEIGHT_BITS = 12, 16  # fractional bits in the file
_MOST_INPUTS = 14  # 16 bits each, in a state of 104 bytes
_MOST_HIDDEN = 32
_LARGEST = 1000.0  # of a weight
_REACH, _PIECES = 8.0, 256  # what a table covers, to either side of 0, and its pieces
_OBSERVATIONS = {
    "latency_inflation": "change(own, now_us)",
    "latency_ratio": "ratio(own->rtt_us, own->min_rtt_us)",
    "send_ratio": "own->delivered ? ratio(sent, own->delivered) : ONE",
    "loss": "ratio(own->lost, (uint64_t)own->lost + own->delivered)",
}
_TEXT = Path(__file__).with_name("policy.c.in")

_MOST_LISTED = 1000  # weights or observations of a list that is too long anyway

Layer = tuple[Sequence[Sequence[float]], Sequence[float]]


def _layers(given: object) -> list[Any]:
    """Returns the layers as lists of numbers."""
    numbers = each(number(-_LARGEST, _LARGEST), _MOST_LISTED)
    rows = each(numbers, _MOST_LISTED)
    problem = "expected a list of (weights, constants), a row of weights for each output"
    try:
        return [
            (rows(matrix), numbers(vector))
            for matrix, vector in each(lambda layer_part: layer_part, 2)(given)
        ]
    except InputError as error:
        raise InputError(f"{problem}: {error.problem}", value=error.value) from None
    except Exception:  # a layer is no pair; a user's object may raise anything
        raise InputError(problem, value=given) from None


def _clip(given: object) -> list[float]:
    bounds: list[float] = each(number(-7, 7), 2)(given)
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise InputError("expected two numbers from -7 to 7, the smaller first", value=bounds)
    return bounds


@checked(
    path=arguments.path,
    layers=_layers,
    factor=has("__call__"),
    observation=each(text, _MOST_LISTED),
    history=whole(1, _MOST_INPUTS),
    clip=_clip,
    hidden=optional(has("__call__")),
)
def export(
    path: str | os.PathLike[str],
    layers: Sequence[Layer],
    factor: Callable[[float], float],
    *,
    observation: Sequence[str] = ("latency_inflation", "latency_ratio", "send_ratio"),
    history: int = 2,
    clip: tuple[float, float] = (-1, 3),
    hidden: Callable[[float], float] | None = None,
) -> Path:
    """Writes a policy that steers a pacing rate as a control in a C file.

    A step lasts half a round trip, as with `like="aurora"`.

    Parameters
    ----------
    path : str or path
        The file, which must be new. Its name without `.c` becomes the control's.
    layers : list of (weights, constants)
        One layer with one output, or a hidden layer before it. `weights[i][j]` is what input j
        contributes to output i. The inputs are the observations, the latest step last.
    factor : callable
        What the rate is multiplied by, for the output of the last layer.
    observation : list of str
        latency_inflation, latency_ratio, send_ratio and loss, as in `VectorEnv`.
    history : int
        Number of steps in an observation. At most 14 numbers fit the state.
    clip : pair of float
        Bounds to which the observations are cut, within -7 and 7.
    hidden : callable, optional
        The function of the hidden layer's outputs, such as `math.tanh`; within -1 and 1.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the file exists, or the policy does not fit into a control.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from westwood import Scenario, gym, simulate
    >>> with TemporaryDirectory() as folder:
    ...     layer = [[0.0, -1.0, -1.0, 0.0, -1.0, -1.0]], [4.0]
    ...     file = gym.export(Path(folder) / "mine.c", [layer], lambda output: 1.05**output)
    ...     path = Scenario.preset("path").with_settings({"duration": "20s", "tcp.cc": str(file)})
    ...     simulate(path).rows["cc"][0].endswith("mine.c")
    True
    """
    file = Path(path)
    _check(layers, observation, history, hidden)
    if file.suffix != ".c":
        raise InputError("expected a name that ends in .c", key="path", value=str(file))
    writing.check_name(file.stem)
    weights = [row for matrix, _ in layers for row in matrix]
    constants = [number for _, vector in layers for number in vector]
    text = Template(_TEXT.read_text(encoding="utf-8")).substitute(
        name=file.stem,
        label=file.stem.replace("_", " ").capitalize(),
        seen=len(observation),
        inputs=len(observation) * history,
        hidden=len(layers[0][0]) if len(layers) == 2 else 0,
        least=_fixed(clip[0], _SEEN_BITS),
        most=_fixed(clip[1], _SEEN_BITS),
        observations="\n".join(
            f"    see(own, {place}, {_OBSERVATIONS[quantity]});"
            for place, quantity in enumerate(observation)
        ),
        weights=_rows([_fixed(weight, _WEIGHT_BITS) for row in weights for weight in row]),
        constants=_rows([_fixed(constant, _WEIGHT_BITS) for constant in constants]),
        factors=_rows(_table(factor, "factor", (0, 255))),
        activations=_rows(
            [entry + (1 << 16) for entry in _table(hidden, "hidden", (-1, 1))]
            if hidden
            else [0] * (_PIECES + 1)
        ),
    )
    writing.save(file, text)
    return file


def _check(
    layers: Sequence[Layer],
    observation: Sequence[str],
    history: int,
    hidden: Callable[[float], float] | None,
) -> None:
    for quantity in observation:
        if quantity not in _OBSERVATIONS:
            problem = f"expected some of {', '.join(_OBSERVATIONS)}"
            raise InputError(problem, key="observation", value=quantity)
    inputs = len(observation) * history
    if not 1 <= inputs <= _MOST_INPUTS:
        problem = f"expected at most {_MOST_INPUTS} numbers in all steps"
        raise InputError(problem, key="history", value=history)
    if len(layers) not in (1, 2) or (len(layers) == 2) != (hidden is not None):
        problem = "expected one layer, or two and the function of the hidden one"
        raise InputError(problem, key="layers")
    for matrix, vector in layers:
        if len(vector) != len(matrix) or any(len(row) != inputs for row in matrix):
            problem = f"expected a row of {inputs} weights and a constant for each output"
            raise InputError(problem, key="layers")
        inputs = len(matrix)
    if inputs != 1 or len(layers[0][0]) > _MOST_HIDDEN:
        problem = f"expected one output, and at most {_MOST_HIDDEN} hidden ones"
        raise InputError(problem, key="layers")


def _fixed(number: float, bits: int) -> int:
    return round(float(number) * (1 << bits))


def _table(function: Callable[[float], float], key: str, bounds: tuple[int, int]) -> list[int]:
    """Returns a function's values with 16 fractional bits, between which the file interpolates."""
    entries = []
    for place in range(_PIECES + 1):
        argument = _REACH * (2 * place / _PIECES - 1)
        output: object = ...
        try:
            output = function(argument)
            entries.append(number(*bounds)(output))
        except InputError:
            problem = f"expected values from {bounds[0]} to {bounds[1]}, at {argument:g} too"
            raise InputError(problem, key=key, value=output) from None
        except Exception as error:  # the user's
            problem = (
                f"expected a function of a number, raised {type(error).__name__} at {argument:g}"
            )
            raise InputError(f"{problem}: {error}", key=key) from error
    return [_fixed(entry, 16) for entry in entries]


def _rows(numbers: Sequence[int]) -> str:
    lines = (numbers[start : start + 10] for start in range(0, len(numbers), 10))
    return ",\n    ".join(", ".join(map(str, line)) for line in lines)
