# SPDX-License-Identifier: BSD-3-Clause
"""Lays out --help: a sentence, an example, options in groups, commands in panels."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from westwood.cli import plain_values
from westwood.cli.options import SCENARIO

_ARGUMENTS = "Arguments"
_OPTIONS = "Options"  # the last group, for options without one
_FEW = 10  # so many arguments and options need no groups
_TYPE = re.compile(r" <[^>]*>$")  # typer writes it after a name
_WIDEST = 28  # characters; the text of a wider name starts on the next line


class Command(TyperCommand):
    """Shows its example below its sentence, and its options in groups."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Returns the parameters, and that of -h, which read plain values quickly."""
        return plain_values.prepared(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Returns the words of the usage line, without braces around a choice of words."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Writes the sentence and the example."""
        _write_text(self, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the arguments, then each group of options."""
        _write_parameters(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Writes nothing, because the example is above the options."""


class Group(TyperGroup):
    """Shows its commands in panels."""

    lines: ClassVar[Mapping[str, tuple[str, str]]] = {}  # a command's panel and sentence, if known

    def get_params(self, ctx: Any) -> list[Any]:
        """Returns the parameters, and that of -h, which read plain values quickly."""
        return plain_values.prepared(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names in the order of the help; typer would build every command for them."""
        return list(self.commands)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Writes the sentence and the example."""
        _write_text(self, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands first, then the options."""
        self.format_commands(ctx, formatter)
        _write_parameters(self, ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes a line per command."""
        lines = []
        for name in self.list_commands(ctx):
            panel, text = self.lines.get(name) or ("Commands", self._sentence(ctx, name))
            lines.append((panel, (name, text)))
        _write_sections(lines, formatter)

    def _sentence(self, ctx: Any, name: str) -> str:
        command = self.get_command(ctx, name)
        assert command is not None
        return " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Writes nothing, because the example is above the options."""


def group(example: str) -> typer.Typer:
    """Returns a group of commands that prints its help if none is named."""
    return typer.Typer(
        cls=Group,
        callback=show_help,
        invoke_without_command=True,
        rich_markup_mode=None,
        epilog=_example(example),
    )


def command(
    app: typer.Typer, example: str, name: str | None = None, **settings: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declares a function as a command of an app."""
    return app.command(name, cls=Command, epilog=_example(example), **settings)


def show_help(context: typer.Context) -> None:
    """Prints the help of a group of commands if none is named."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def _example(line: str) -> str | None:
    return f"Example: {line}" if line else None


def _write_text(command: Any, formatter: Any) -> None:
    for text in (command.help, command.epilog):
        if text:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(inspect.cleandoc(text))


def _write_parameters(command: Any, context: Any, formatter: Any) -> None:
    lines = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        record = (_TYPE.sub("", record[0]), record[1])
        if parameter.param_type_name == "argument":
            lines.append((_ARGUMENTS, record))
        else:
            lines.append((getattr(parameter, "rich_help_panel", None) or _OPTIONS, record))
    if len(lines) <= _FEW:
        lines = [(title if title == _ARGUMENTS else _OPTIONS, record) for title, record in lines]
    lines.sort(key=lambda line: _place(line[0]))
    _write_sections(lines, formatter)


def _place(title: str) -> int:
    """Returns a group's rank: arguments, what runs, other groups, options."""
    order = {_ARGUMENTS: 0, SCENARIO: 1, _OPTIONS: 3}
    return order.get(title, 2)


def _write_sections(lines: Iterable[tuple[str, tuple[str, str]]], formatter: Any) -> None:
    """Writes a section per title, in the order of first appearance."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for title, line in lines:
        sections.setdefault(title, []).append(line)
    everything = [record for records in sections.values() for record in records]
    width = min(_WIDEST, max((len(first) for first, _ in everything), default=0))
    for title, records in sections.items():
        with formatter.section(title):
            formatter.write_dl([(first.ljust(width), text) for first, text in records], _WIDEST)
