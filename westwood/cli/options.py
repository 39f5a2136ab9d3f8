# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have, with the same name and help everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood.errors import InputError
from westwood.units import option_seconds

if TYPE_CHECKING:
    from westwood.scenario import Scenario


def starting(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Completes a word in the shell to the names that begin with it."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def presets() -> Iterable[str]:
    """The scenarios of the package."""
    from westwood import scenario

    return scenario.presets()


def protocols() -> Iterable[str]:
    """What --cc takes."""
    from westwood.catalogue import PROTOCOLS

    return PROTOCOLS


ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE|PRESET",
        help="A TOML file, or one of westwood list presets.",
        autocompletion=starting(presets),
    ),
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with what is in DIR.")]
CcOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cc",
        metavar="NAME",
        help="Protocol of every flow, such as westwood+, cubic or bbr (westwood list protocols); "
        "repeat it to run several.",
        autocompletion=starting(protocols),
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting, such as bottleneck.loss.rate=0.01 or duration=200s.",
    ),
]
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="sim|ns3|ns2|linux",
        help="What runs it.",
        autocompletion=starting(lambda: ["sim", "ns3", "ns2", "linux"]),
    ),
]
SeedsOption = Annotated[
    int | None, typer.Option(metavar="N", help="Runs a point, instead of the scenario's.")
]
WorkersOption = Annotated[
    int | None, typer.Option(metavar="N", help="Threads, instead of one a core.")
]
OutOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write scenario, rows and figures into a folder.")
]
PlotOption = Annotated[bool, typer.Option("--plot", help="Draw a figure, PNG and SVG.")]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Run what seems to take more than this machine has.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")
]


def refuse_idle(context: typer.Context, *names: str, without: str) -> None:
    """Refuses options (by their parameters' names) that do nothing unless `without` is there."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = next(one.opts[0] for one in context.command.params if one.name == name)
            raise InputError(f"has no effect without {without}", key=option)


def span_s(
    start: str | None,
    end: str | None,
    whole_s: tuple[float, float],
    latest_s: float | None = None,
) -> tuple[float, float]:
    """Returns the span of --from and --to in seconds; the whole where they are left out."""
    first = option_seconds("--from", start, whole_s[0])
    last = option_seconds("--to", end, whole_s[1])
    if first < last and (latest_s is None or last <= latest_s):
        return first, last
    within = "" if latest_s is None else f", both within {latest_s:g}s"
    problem = f"expected times with from before to{within}"
    raise InputError(problem, key="--to" if end else "--from", value=end or start)


def settings_of(options: list[str] | None) -> dict[str, Any]:
    """Reads `--set KEY=VALUE`, the value as TOML where it is TOML and as text where it isn't."""
    settings = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key.strip():
            raise InputError("expected KEY=VALUE, such as duration=200s", key="--set", value=option)
        settings[key.strip()] = value_of(value.strip())
    return settings


def swept(scenario: Scenario, given: Mapping[str, str | None]) -> Scenario:
    """Sets what options give, each one value or several between commas, which are swept."""
    settings, sweep = {}, {}
    for key, text in given.items():
        values = [value_of(one.strip()) for one in text.split(",")] if text is not None else []
        if len(values) > 1:
            sweep[key] = values
        elif values:
            settings[key] = values[0]
    if not sweep:
        return scenario.with_settings(settings)
    return scenario.with_sweep(sweep).with_settings(settings)


def value_of(text: str) -> Any:
    """Reads a value as TOML; returns the text itself where it is not TOML."""
    from westwood import files

    try:
        parsed = files.toml(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return parsed["value"] if list(parsed) == ["value"] else text
