# SPDX-License-Identifier: BSD-3-Clause
"""The command line: its commands, its errors as one line, its exit codes. No arithmetic here.

Exit codes: docs/cli.md.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from westwood import __version__, stopping
from westwood.cli import (
    export,
    fitting,
    hunting,
    judging,
    kernel,
    listings,
    ns3,
    pages,
    runs,
    searching,
    shell,
    trying,
)
from westwood.cli.options import show_help
from westwood.cli.streams import say
from westwood.errors import InputError, Interrupted, WestwoodError, shortened

# click.ClickException, wherever this version of typer keeps its click
_UsageError: Any = typer.BadParameter.__mro__[2]

_MOST_ERRORS = 9  # of one file that are printed beside the first

app = typer.Typer(
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="TCP Westwood and its family, simulated.",
    epilog="Example: westwood run table1 --cc newreno --cc westwood+ --plot",
)
_EXAMPLES: dict[Any, str] = {
    runs.run: "westwood run table1 --cc newreno --cc westwood+ --seeds 10 --plot",
    runs.trace: "westwood trace table1 --cc westwood+ --set duration=60s --plot",
    runs.compare: "westwood compare --loss 1% --cc newreno --cc westwood+ --plot",
    runs.sweep: "westwood sweep fading --seeds 5 --out fading",
    searching.search: "westwood search --cc westwood+ --trials 40 --plot",
    judging.judge: "westwood judge --cc westwood+ --only clean,loss",
    trying.try_: "westwood try 192.0.2.1 --for 10m",
    fitting.fit: "westwood fit try --out path.toml",
    hunting.hunt: hunting.EXAMPLE,
    pages.measure: "westwood measure bari --uploads 3 --out bari",
    pages.report: "westwood report fading --metric goodput_bps --export",
    pages.validate: "westwood validate --engine ns3 --seeds 10 --out validation",
    pages.reproduce: "westwood reproduce fig5 --quick",
    listings.list_: "westwood list protocols",
}
for _command, _example in _EXAMPLES.items():
    app.command(_command.__name__.rstrip("_"), epilog=f"Example: {_example}")(_command)
app.command(epilog=f"Example: {shell.EXAMPLE}", context_settings=shell.CONTEXT)(shell.shell)
app.add_typer(kernel.app, name="kernel")
app.add_typer(export.app, name="export")
app.add_typer(ns3.app, name="ns3")


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"westwood {__version__}")
        raise typer.Exit
    show_help(context)


def call(arguments: list[str]) -> int:
    """Runs a command line; its exit code. Errors that we foresaw are one line on standard error."""
    try:
        code = app(args=arguments, prog_name="westwood", standalone_mode=False)
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
        code = Interrupted.exit_code  # a library has made another exception of it
    if code == Interrupted.exit_code:  # typer returns it, too
        say(stopping.UNKNOWN)
    return code if isinstance(code, int) else 0


def _say_all(error: WestwoodError) -> None:
    """Prints an error, and those that came with it, each on its line."""
    say(str(error))
    others = error.others if isinstance(error, InputError) else ()
    for one in others[:_MOST_ERRORS]:
        say(str(one))
    if len(others) > _MOST_ERRORS:
        say(f"and {len(others) - _MOST_ERRORS} more such errors")


def _usage_problem(error: Any) -> str:
    """Says what is wrong with an option; names its value where typer's sentence leaves it out."""
    from pydantic import ValidationError

    if not isinstance(error.__cause__, ValidationError):
        long = re.compile(r"\S{61,}")
        return long.sub(lambda word: shortened(word[0], 60), str(error.format_message()))
    found = error.__cause__.errors()[0]
    problem = "expected a whole number" if found["type"].startswith("int_") else found["msg"]
    return str(InputError(problem, key=error.param.opts[0], value=found["input"]))
