# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, with the same name and help everywhere."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood.errors import InputError

if TYPE_CHECKING:
    from westwood.scenario import Scenario


# Groups of options in a command's help.
SCENARIO = "What runs"
FIGURE = "Figure"
OUTPUT = "Output"

# The options that describe a path of one link, by the key that each sets.
_OPTIONS = {
    "path.kind": "--link",
    "path.rate": "--rate",
    "path.delay": "--delay",
    "path.loss.rate": "--loss",
    "path.queue.limit": "--queue",
    "duration": "--duration",
}


def starting(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Returns a completion of the last name in a comma-separated word."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in names() if name.startswith(last)]

    return complete


def split_names(values: list[str] | None) -> list[str] | None:
    """Splits each value at its commas: `--cc a,b` is `--cc a --cc b`."""
    if values is None:
        return None
    return [name.strip() for value in values for name in value.split(",")]


def one_name(value: str | None) -> str | None:
    """Returns the name; raises InputError for several between commas."""
    if value is not None and "," in value:
        raise InputError("expected one name", key="--cc", value=value)
    return value


def presets() -> Iterable[str]:
    """Returns the names of the preset scenarios."""
    from westwood import scenario

    return scenario.presets()


def protocols() -> Iterable[str]:
    """Returns the names that --cc takes."""
    from westwood.control.catalogue import PROTOCOLS

    return PROTOCOLS


def engines() -> Iterable[str]:
    """Returns the names that --engine takes."""
    from westwood.engines import NAMES

    return NAMES


def control_arguments(help: str) -> Any:
    """Returns the argument CC of a command that takes controls, not scenarios."""
    return typer.Argument(metavar="[CC]...", help=help, autocompletion=starting(protocols))


def control_options(help: str) -> Any:
    """Returns the option --cc of such a command."""
    return typer.Option(
        "--cc",
        metavar="NAME,...",
        help=help,
        autocompletion=starting(protocols),
        callback=split_names,
        rich_help_panel=SCENARIO,
    )


def control_option(help: str) -> Any:
    """Returns the option --cc of a command that takes one control."""
    return typer.Option(
        "--cc",
        metavar="NAME",
        help=help,
        autocompletion=starting(protocols),
        callback=one_name,
        rich_help_panel=SCENARIO,
    )


def control_setting_options(whose: str, example: str) -> Any:
    """Returns the option --set of a command that takes controls."""
    return typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help=f"Change a setting of {whose}, such as {example}; may be repeated.",
        rich_help_panel=SCENARIO,
    )


ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE|PRESET",
        help="A TOML file, or a preset of westwood list presets.",
        autocompletion=starting(presets),
    ),
]
CcOption = Annotated[
    list[str] | None,
    control_options(
        "Protocol of every flow, such as westwood+,cubic,bbr (westwood list protocols). "
        "Several run one after another."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting, such as bottleneck.loss.rate=0.01 or duration=200s. "
        "May be repeated.",
        rich_help_panel=SCENARIO,
    ),
]
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="sim|ns3|ns2|linux|quinn|noq",
        help="The engine that runs it.",
        autocompletion=starting(engines),
        rich_help_panel=SCENARIO,
    ),
]
SeedsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Seeds per point; default: the scenario's.", rich_help_panel=SCENARIO
    ),
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Continue with what DIR holds.")]
WorkersOption = Annotated[
    int | None, typer.Option(metavar="N", help="Number of threads; default: one per core.")
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Run on a Dask cluster: the tcp://HOST:8786 of its scheduler."
    ),
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Run even if it seems to need more than this machine has.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write scenario, rows and figures into this folder.",
        rich_help_panel=OUTPUT,
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON object and nothing else on standard output.",
        rich_help_panel=OUTPUT,
    ),
]
PlotOption = Annotated[
    bool, typer.Option("--plot", help="Draw a figure as PNG and SVG.", rich_help_panel=FIGURE)
]


def refuse_idle(context: typer.Context, *names: str, why: str) -> None:
    """Raises InputError for given options, by parameter name, that have no effect."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = next(param.opts[0] for param in context.command.params if param.name == name)
            raise InputError(f"has no effect {why}", key=option)


def span_s(
    start: str | None,
    end: str | None,
    whole_s: tuple[float, float],
    latest_s: float | None = None,
) -> tuple[float, float]:
    """Returns --from and --to in seconds; by default the ends of the whole."""
    from westwood.units import option_seconds

    first = option_seconds("--from", start, whole_s[0])
    last = option_seconds("--to", end, whole_s[1])
    if first < last and (latest_s is None or last <= latest_s):
        return first, last
    within = "" if latest_s is None else f", both within {latest_s:g}s"
    problem = f"expected --from before --to{within}"
    raise InputError(problem, key="--to" if end else "--from", value=end or start)


def settings_of(options: list[str] | None) -> dict[str, Any]:
    """Parses `--set KEY=VALUE`; a value that is not TOML is text."""
    settings = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key.strip():
            raise InputError("expected KEY=VALUE, such as duration=200s", key="--set", value=option)
        settings[key.strip()] = value_of(value.strip())
    return settings


def control_settings(options: list[str] | None) -> dict[str, Any]:
    """Returns the settings of --set for a control, without the `cc.` that they begin with."""
    settings = {}
    for key, value in settings_of(options).items():
        before, _, name = key.partition(".")
        if before != "cc" or name in ("", "name"):
            problem = "expected a setting of the control, such as cc.bbr3_loss=0.1"
            raise InputError(problem, key="--set", value=f"{key}={value}")
        settings[name] = value
    return settings


def swept(scenario: Scenario, given: Mapping[str, str | None]) -> Scenario:
    """Applies options to a scenario; several values between commas become a sweep."""
    settings, sweep = {}, {}
    for key, text in given.items():
        values = [value_of(word.strip()) for word in text.split(",")] if text is not None else []
        if len(values) > 1:
            sweep[key] = values
        elif values:
            settings[key] = values[0]
    if not sweep:
        return scenario.with_settings(settings)
    return scenario.with_sweep(sweep).with_settings(settings)


@contextmanager
def blamed_on_options(settings: Container[str]) -> Iterator[None]:
    """Makes errors about a key of the path name its option, unless --set gave that key.

    settings: the keys of --set.
    """

    def located(error: InputError) -> InputError:
        option = None if error.key in settings else _OPTIONS.get(error.key)
        return error.located(key=option, source="") if option else error

    try:
        yield
    except InputError as error:
        others = [located(other) for other in error.others]
        raise located(error).located(others=others) from None


def value_of(text: str) -> Any:
    """Parses a value as TOML; returns the text itself if it is not TOML."""
    from westwood import files

    try:
        parsed = files.toml(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return parsed["value"] if list(parsed) == ["value"] else text
