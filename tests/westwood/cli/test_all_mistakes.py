# SPDX-License-Identifier: BSD-3-Clause
"""All mistakes of a file come at once, each with the line that it is on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from westwood.errors import InputError
from westwood.scenario import Scenario

SMALL = Path(__file__).parents[1].joinpath("small.toml").read_text(encoding="utf-8")


def test_all_mistakes_of_a_file_at_once(small_file: Path, westwood: Callable[..., Any]) -> None:
    changes = [('"2Mbps"', '"2Mbs"'), ("seeds = 3", "seed = 3"), ('"westwood+"', '"westwod"')]
    content = SMALL
    for old, new in [*changes, ("limit =", "# a comment\nlimt =")][:3]:
        content = content.replace(old, new)
    small_file.write_text(content, encoding="utf-8")
    called = westwood("run", small_file)
    lines = content.splitlines()
    found = [line.split(":")[2] for line in called.err.splitlines()]
    named = [lines[int(number) - 1] for number in found]
    assert (called.code, called.out) == (2, "")
    assert sorted(named) == ['cc = "westwod"', 'rate = "2Mbs"', "seed = 3"]


def test_an_error_in_a_multi_line_list_names_the_line_of_its_key(small_file: Path) -> None:
    """Lines of comments and tables before the key are counted."""
    packets = "loss = { packets = [\n  1,\n  2,\n  0,\n] }"
    content = SMALL.replace('loss = { kind = "uniform", rate = 0.005 }', packets)
    small_file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        Scenario.from_toml(small_file)
    assert error.value.line == 1 + content[: content.index("loss =")].count("\n")


def test_editors_count_lines_by_line_feeds_only(small_file: Path) -> None:
    content = '# \u2028 and \x85 end no line\r\nname = "a"\r\nduration = "60x"\r\n'
    small_file.write_text(content, encoding="utf-8", newline="")
    with pytest.raises(InputError) as error:
        Scenario.from_toml(small_file)
    duration = next(one for one in (error.value, *error.value.others) if one.key == "duration")
    assert duration.line == 3


def test_a_wrong_number_of_products_hides_no_other_mistake(small_file: Path) -> None:
    content = SMALL.replace('"2Mbps"', '"2Mbs"').replace('limit = "50p"', 'limit = "0bdp"')
    small_file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        Scenario.from_toml(small_file)
    said = sorted(one.problem for one in (error.value, *error.value.others))
    assert [text[:14] for text in said] == ["expected up to", 'unknown unit "']


@pytest.mark.parametrize(
    "line",
    ['"bottleneck.rate" = ["1Mbps", "x"]', '"q.z" = [1]', '"bottleneck.loss.rate" = [1.0, 1.0]'],
)
def test_a_mistake_in_a_sweep_has_the_line_of_the_sweep(
    line: str, small_file: Path, westwood: Callable[..., Any]
) -> None:
    content = f"{SMALL.partition('[sweep]')[0]}\n[sweep]\n{line}\n"
    small_file.write_text(content, encoding="utf-8")
    called = westwood("run", small_file)
    number = 1 + content[: content.index(line)].count("\n")
    assert (called.code, called.err.split(":")[2]) == (2, f"{number}")
