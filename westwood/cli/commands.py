# SPDX-License-Identifier: BSD-3-Clause
"""Defines the commands and their exit codes, and prints errors as one line each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, ClassVar

import typer

from westwood import __version__, control, stopping
from westwood.cli import hints, layout
from westwood.cli.options import option
from westwood.cli.streams import say
from westwood.errors import STEERING, InputError, Interrupted, Resumable, WestwoodError, shortened

# click.ClickException; typer has its own copy of click, in a place that depends on the version
_UsageError: Any = typer.BadParameter.__mro__[2]
_MissingParameter: Any = import_module(_UsageError.__module__).MissingParameter

_MOST_ERRORS = 9  # printed after the first one of a file


_DAILY = "Daily"
_LINUX = "Your Linux and your path"
_SIMULATORS = "Other simulators"
_AUTHORS = "Write and judge a congestion control"
_PAPERS = "Papers"


@dataclass(frozen=True)
class _Home:
    """Locates a command: a function in a module of westwood.cli, or the `app` of a group."""

    panel: str
    about: str  # the sentence of its help, and its line in the list, which imports no command
    example: str = ""  # empty: it is a group
    module: str = ""  # empty: the command's name, which is also the function's
    function: str = ""

    def command(self, name: str) -> Any:
        """Imports the module and builds the command."""
        module = import_module(f"westwood.cli.{self.module or name}")
        if not self.example:
            group = typer.main.get_group(module.app)
            group.help = self.about
            return group
        alone = typer.Typer(rich_markup_mode=None, add_completion=False)
        function = getattr(module, self.function or name)
        layout.command(alone, self.example, name, help=self.about)(function)
        return typer.main.get_command(alone)


_HOMES: Mapping[str, _Home] = {
    "run": _Home(
        _DAILY,
        "Run a scenario and print means over its seeds with 95 % intervals.",
        "westwood run table1 --cc newreno,westwood+ --plot",
        "runs",
    ),
    "compare": _Home(
        _DAILY,
        "Compare protocols on one lossy path.",
        "westwood compare --loss 0.1%,1% --cc cubic,westwood+ --plot",
        "runs",
    ),
    "trace": _Home(
        _DAILY,
        "Trace one run: windows, estimate, round trips, queues and losses.",
        "westwood trace table1 --cc westwood+ --set duration=60s --plot",
    ),
    "sweep": _Home(
        _DAILY,
        "Run every point of a scenario's sweep, and write each run as it ends.",
        "westwood sweep fading --seeds 5 --out fading",
        "runs",
    ),
    "report": _Home(
        _DAILY,
        "Make a page with a figure from a results folder, or with --figure the figure alone.",
        "westwood report fading --metric goodput_bps --export",
    ),
    "lab": _Home(
        _DAILY,
        "Open the laboratory in a browser: the simulator as a page with sliders.",
        "westwood lab fig5",
    ),
    "list": _Home(
        _DAILY,
        "List what there is to choose from: protocols, presets, settings, columns.",
        "westwood list protocols",
        "listings",
        "list_",
    ),
    "kernel": _Home(_LINUX, "Load controls into this machine's kernel, watch and record them."),
    "path": _Home(_LINUX, "Find out what pays on a real path, and emulate others."),
    "ns3": _Home(_SIMULATORS, "Use Westwood in ns-3."),
    "validate": _Home(
        _SIMULATORS,
        "Say how far the simulator agrees with another engine.",
        "westwood validate --engine ns3 --seeds 10 --out validation",
    ),
    "control": _Home(_AUTHORS, "Write, compare, tune and attack your own congestion control."),
    "evaluate": _Home(
        _AUTHORS,
        "Judge controls by RFC 9743 and published test suites, on one page.",
        "westwood evaluate westwood+ cubic --quick --out page",
    ),
    "reproduce": _Home(
        _PAPERS,
        "Reproduce published experiments and check the papers' claims.",
        "westwood reproduce fig5 --quick",
    ),
    "artifact": _Home(
        _PAPERS,
        "Make a folder from which others repeat a paper's results, and repeat them.",
        "westwood artifact paper commands.txt --licence CC-BY-4.0",
    ),
}

# What each exit code says, for docs/cli.md and the manual page.
EXIT_CODES: Mapping[str, str] = {
    "0": "done; evaluate also if criteria fail that are no tests",
    "1": "a run failed, or standard output; control replay, evaluate --suite draft or check, "
    "artifact --check, kernel packetdrill: a host, a test case, a check or a command failed",
    "2": "bad usage or input, or an option without effect; one line says what and where, "
    "and nothing was written; if a control's file fails in a run, the results folder stays",
    "3": "path compare can't tell yet",
    "77": "this version or machine lacks what the command needs; the message says the remedy",
    "126, 127": "path emulate can't run its COMMAND; otherwise it has the exit code of COMMAND",
    "130": "interrupted by Ctrl-C; finished runs are in the results folder, "
    'whose manifest says "complete": false',
    "129, 143": "the same, by SIGHUP or SIGTERM",
}


class _Commands(Mapping[str, Any]):
    """Builds each command on first use, because imports and options take time."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _HOMES[name].command(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


class _Group(layout.Group):
    lines: ClassVar[Mapping[str, tuple[str, str]]] = {
        name: (home.panel, home.about) for name, home in _HOMES.items()
    }

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": {}})
        self.commands: Any = _Commands()


app = typer.Typer(
    cls=_Group,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Simulate TCP Westwood, compare it, and load it into Linux or ns-3.",
    epilog="Example: westwood compare --loss 1% --cc cubic,westwood+",
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, option(None, None, "Print the version.", "--version")] = False,
) -> None:
    if version:
        print(f"westwood {__version__}")
        raise typer.Exit
    layout.show_help(context)


def call(arguments: list[str]) -> int:
    """Runs a command line and returns its exit code; expected errors are one line each."""
    try:
        with control.one_command():
            _refuse_steering(arguments)
            code = app(args=arguments, prog_name="westwood", standalone_mode=False)
    except Resumable as error:
        words = [argument for argument in arguments if argument != "--resume"]
        say(f"{error}; continue with {shlex.join(['westwood', *words, '--resume'])}")
        return error.exit_code
    except WestwoodError as error:
        _say_all(error)
        return error.exit_code
    except _UsageError as error:
        say(str(WestwoodError(_usage_problem(error))))
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = Interrupted.exit_code
    except Exception:
        if not stopping.is_asked():
            raise
        code = Interrupted.exit_code  # a library raised another exception for it
    if code == Interrupted.exit_code:  # typer may also return it
        say(stopping.UNKNOWN)
    return code if isinstance(code, int) else 0


def _refuse_steering(arguments: list[str]) -> None:
    """Refuses names with control characters, before anything prints or runs them.

    The arguments of a program that runs behind an emulated path are its own, and values of settings
    may have several lines.
    """
    is_own = arguments[:2] == ["path", "emulate"] or "--" in arguments
    for argument in [] if is_own else arguments:
        spaced = re.sub(r"[\n\t]", " ", argument) if "=" in argument else argument
        if STEERING.search(spaced):
            raise InputError("expected no control characters, which terminals obey", value=argument)


def _say_all(error: WestwoodError) -> None:
    """Prints an error and those found with it, one per line."""
    say(str(error))
    others = error.others if isinstance(error, InputError) else ()
    for problem in others[:_MOST_ERRORS]:
        say(str(problem))
    if len(others) > _MOST_ERRORS:
        say(f"and {len(others) - _MOST_ERRORS} more such errors")


def _usage_problem(error: Any) -> str:
    """Describes a wrong option, value or missing argument, and its remedy."""
    from pydantic import ValidationError

    if not isinstance(error.__cause__, ValidationError):
        long = re.compile(r"\S{61,}")
        return long.sub(lambda word: shortened(word[0], 60), _with_help(error))
    first_problem = error.__cause__.errors()[0]
    problem = first_problem["msg"]
    if first_problem["type"].startswith("int_"):
        problem = "expected a whole number"
    elif first_problem["type"].startswith("float_"):
        problem = "expected a number"
    for key, words in (("le", "at most"), ("ge", "at least")):
        if key in first_problem.get("ctx", {}):
            problem = f"expected {words} {first_problem['ctx'][key]}"
    return str(InputError(problem, key=error.param.opts[0], value=first_problem["input"]))


def _with_help(error: Any) -> str:
    """Returns typer's message with the right option or, for a missing word, an example."""
    message, command = str(error.format_message()), error.ctx.command if error.ctx else None
    if command is None:
        return message
    known = [name for param in command.params for name in param.opts]
    if message.startswith("Got unexpected extra"):
        lists = [option for option in ("--only", "--cc") if option in known]
        return f"{message}; names go with commas: {lists[0]} NAME,NAME" if lists else message
    wrong = getattr(error, "option_name", None)
    if wrong and (better := hints.instead(wrong, known)):
        return f"{error.message}; {better}"
    if message.startswith("No such command") and message.endswith("."):
        return f"{message} {error.ctx.command_path} -h lists all."
    if isinstance(error, _MissingParameter) and command.epilog:
        return f"{message} {command.epilog}"
    return message
