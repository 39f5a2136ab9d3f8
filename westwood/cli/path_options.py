# SPDX-License-Identifier: BSD-3-Clause
"""Options of `compare` that describe its path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

import typer

from westwood.cli.options import option
from westwood.errors import InputError
from westwood.units import format_time, parse_time

_DOUBTFUL_LOSS = 0.1  # from this fraction on, `--loss` without "%" may be a percentage


def _path_option(metavar: str, help_: str) -> Any:
    """Declares an option of the path that takes several values."""
    return typer.Option(metavar=f"{metavar},...", help=help_, rich_help_panel="Path")


LinkOption = Annotated[
    str | None,
    _path_option("NAME", "A link of westwood list links, such as starlink, with all its settings."),
]
RateOption = Annotated[str | None, _path_option("RATE", "Link rate; default: 2Mbps.")]
DelayOption = Annotated[
    str | None, _path_option("TIME", "Delay one way, half the round trip; default: 45ms.")
]
RttOption = Annotated[
    str | None, _path_option("TIME", "Round trip without a queue, twice --delay; instead of it.")
]
LossOption = Annotated[
    str | None, _path_option("SHARE", "Share of data packets lost; default: 0.5%.")
]
ListedOption = Annotated[
    bool,
    option(
        "Path",
        None,
        "Draw the numbers of the lost packets, so that every engine loses the same ones.",
        "--listed-losses",
    ),
]
QueueOption = Annotated[
    str | None,
    _path_option("LENGTH", "Queue limit, such as 64p, 64KiB, 5ms or 1bdp; default: 100p."),
]


def one_way(delay: str | None, rtt: str | None) -> str | None:
    """Returns --delay, or half of each round trip of --rtt; raises InputError for both."""
    if rtt is None:
        return delay
    if delay is not None:
        raise InputError("expected --delay or --rtt, not both", key="--rtt", value=rtt)
    try:
        whole_ps = [parse_time(text.strip()) for text in rtt.split(",")]
    except InputError as error:
        raise error.located(key="--rtt") from None
    return ",".join(format_time(whole // 2) for whole in whole_ps)


def doubtful_losses(loss: str | None) -> Iterator[str]:
    """Yields the values of --loss that may be meant as percentages: 0.5 is half of the packets."""
    for value in loss.split(",") if loss else ():
        with suppress(ValueError):
            if _DOUBTFUL_LOSS <= float(value) < 1:
                yield value.strip()
