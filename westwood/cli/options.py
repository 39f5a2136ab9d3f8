# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, with the same name and help everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood.errors import InputError
from westwood.units import option_seconds

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


def option(panel: str | None, metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """Returns an option of a group of the help; `names` if they are not the parameter's."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


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


def several(
    panel: str | None,
    metavar: str,
    help: str,
    *names: str,
    choices: Callable[[], Iterable[str]] | None = None,
) -> Any:
    """Returns an option that takes names between commas, completed with the choices."""
    completion = starting(choices) if choices else None
    return option(panel, metavar, help, *names, autocompletion=completion, callback=split_names)


def presets() -> Iterable[str]:
    """Returns the names of the preset scenarios."""
    from westwood import scenario

    return scenario.presets()


def protocols() -> Iterable[str]:
    """Returns the names that --cc takes."""
    from westwood.control.catalogue import PROTOCOLS

    return PROTOCOLS


def disciplines() -> Iterable[str]:
    """Returns the names that evaluate --queue takes."""
    from westwood.control.catalogue import DROPTAIL, QUEUES

    return DROPTAIL, *QUEUES


def engines() -> Iterable[str]:
    """Returns the names that --engine takes."""
    from westwood.engines import NAMES

    return NAMES


def control_arguments(help: str) -> Any:
    """Returns the argument CC of a command that takes controls, not scenarios."""
    return typer.Argument(metavar="[CC]...", help=help, autocompletion=starting(protocols))


def control_options(help: str) -> Any:
    """Returns the option --cc of such a command."""
    return several(SCENARIO, "NAME,...", help, "--cc", choices=protocols)


# A control as every command takes it that needs one: by its place, or as --cc.
ControlArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="CC",
        help="A control of westwood list protocols, or a file such as ./mine.c.",
        autocompletion=starting(protocols),
        callback=one_name,
    ),
]
ControlOption = Annotated[
    str | None,
    option(
        None,
        "NAME",
        "The control, as CC.",
        "--cc",
        autocompletion=starting(protocols),
        callback=one_name,
    ),
]


def control_given(cc: str | None, cc_: str | None) -> str:
    """Returns the control of CC or of --cc; raises InputError for none or two."""
    if cc is not None and cc_ is not None:
        raise InputError("can't be set together with CC", key="--cc", value=cc_)
    if (given := cc or cc_) is None:
        raise InputError("is missing, expected a control such as westwood+", key="CC")
    return given


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
    option(
        SCENARIO,
        "KEY=VALUE",
        "Change a setting, such as bottleneck.loss.rate=0.01 or duration=200s. May be repeated.",
        "--set",
    ),
]


def engine_option(*, compares: bool = False) -> Any:
    """Returns the option --engine: what runs it, or what the simulator is compared with."""
    help = "The engine to compare with." if compares else "The engine that runs it."
    names = f"{'' if compares else 'sim|'}ns3|ns2|linux|linux-um|quinn|noq"
    return option(SCENARIO, names, help, autocompletion=starting(engines))


EngineOption = Annotated[str, engine_option()]
SeedsOption = Annotated[
    int | None, option(SCENARIO, "N", "Seeds per point; default: the scenario's.")
]
ResumeOption = Annotated[bool, option(None, None, "Continue with what DIR holds.", "--resume")]
WorkersOption = Annotated[
    int | None, option(None, "N", "Number of threads; default: one per core.")
]
DaskOption = Annotated[
    str | None,
    option(None, "ADDRESS", "Run on a Dask cluster: the tcp://HOST:8786 of its scheduler."),
]
YesOption = Annotated[
    bool, option(None, None, "Run even if it seems to need more than this machine has.", "--yes")
]
OutOption = Annotated[
    Path | None, option(OUTPUT, "DIR", "Write scenario, rows and figures into this folder.")
]
JsonOption = Annotated[
    bool,
    option(OUTPUT, None, "Print one JSON object and nothing else on standard output.", "--json"),
]
PlotOption = Annotated[bool, option(FIGURE, None, "Draw a figure as PNG and SVG.", "--plot")]


def refuse_idle(context: typer.Context, *names: str, why: str) -> None:
    """Raises InputError for given options, by parameter name, that have no effect."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            given = next(param.opts[0] for param in context.command.params if param.name == name)
            raise InputError(f"has no effect {why}", key=given)


def check_file(file: Path, key: str, scenario: str = "") -> None:
    """Raises InputError if a file would replace the scenario or a foreign file."""
    from westwood.results.folder import Folder

    if not file.parent.is_dir():
        raise InputError("expected a file in an existing folder", key=key, value=file)
    if file.exists() and os.path.exists(scenario) and file.samefile(scenario):
        raise InputError("is the scenario, expected another file", key=key, value=file)
    try:
        Folder.containing(file)
    except InputError as error:
        raise error.located(key=key) from None


def span_s(
    start: str | None, end: str | None, whole_s: tuple[float, float], latest_s: float | None = None
) -> tuple[float, float]:
    """Returns --from and --to in seconds; by default the ends of the whole."""
    first = option_seconds("--from", start, whole_s[0])
    last = option_seconds("--to", end, whole_s[1])
    if first < last and (latest_s is None or last <= latest_s):
        return first, last
    within = "" if latest_s is None else f", both within {latest_s:g}s"
    problem = f"expected --from before --to{within}"
    raise InputError(problem, key="--to" if end else "--from", value=end or start)


def drawn_s(start: str | None, end: str | None, length_s: float) -> tuple[float, float] | None:
    """Returns --from and --to of a run of this length, in seconds; None without either."""
    if start is None and end is None:
        return None
    return span_s(start, end, (0.0, length_s), length_s)


def settings_of(options: list[str] | None) -> dict[str, Any]:
    """Parses `--set KEY=VALUE`; a value that is not TOML is text."""
    settings = {}
    for text in options or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError("expected KEY=VALUE, such as duration=200s", key="--set", value=text)
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
        given = None if error.key in settings else _OPTIONS.get(error.key)
        return error.located(key=given, source="") if given else error

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
