# SPDX-License-Identifier: BSD-3-Clause
"""Every command that a page shows exists, and has the options that the page gives it."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from tools import manual
from westwood.cli.commands import EXIT_CODES, app
from westwood.errors import WestwoodError

ROOT = Path(__file__).parents[3]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *map(str, sorted(ROOT.glob("docs/**/*.md"))),
)
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.M | re.S)
TYPED = re.compile(r"^(?:\$ )?(?:sudo )?(?:\S*/)?westwood (.*)$|&& (?:\S*/)?westwood (.*)$", re.M)
INLINE = re.compile(r"`(?:sudo )?westwood ([^`]+)`")
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
HEADING = re.compile(r"^#+ `?(?:westwood )?([a-z0-9 ]+?)`?$")
COMMANDS = manual.commands()
ENDS = {"&&", "||", "|", ";", ">", "--", "..."}
WRONG = {"compare --capacity"}  # CONTRIBUTING.md shows the message that it leads to


def lines(page: str) -> Iterator[str]:
    """Yields what follows `westwood` wherever a page has a command."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in BLOCK.findall(text):
        for match in TYPED.findall(block.replace("\\\n", " ")):
            yield from filter(None, match)
    yield from INLINE.findall(text)


def problem(line: str) -> str:
    """Returns the part of a command line that does not exist; "" if all of it exists."""
    command: Any = typer.main.get_command(app)
    words = shlex.split(line.split("...")[0], comments=True)
    path = []
    while words and (names := getattr(command, "commands", {})):
        name = words.pop(0)
        if name.startswith("-"):
            return "" if name in ("-h", "--help", "--version", "--install-completion") else name
        if name.isupper():
            return ""  # COMMAND stands for any
        wrong = [name_ for name_ in name.split("|") if name_ not in names]
        if wrong:
            return f"{' '.join(path)} {wrong[0]}"
        if "|" in name:
            return ""
        path.append(name)
        command = names[name]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    for word in words:
        if word in ENDS:
            break
        option = word.partition("=")[0]
        if option.startswith("--") and option not in known | {"--help"}:
            return f"{' '.join(path)} {option}"
    return ""


def command_of(words: str) -> str:
    """Returns the command at the start of the words, also without its group; "" without any."""
    names = {name.partition(" ")[2]: name for name in COMMANDS if " " in name}
    names |= {name: name for name in COMMANDS}
    known = (name for name in names if f"{words} ".startswith(f"{name} "))
    return names.get(max(known, key=len, default=""), "")


def options_of(command: str) -> set[str]:
    """Returns the options of a command, or of all commands for ""."""
    chosen = [COMMANDS[command]] if command else COMMANDS.values()
    return {name for used in chosen for option in used.params for name in option.opts}


def problems_of_tables(text: str) -> Iterator[str]:
    """Yields each option in a table that its command lacks.

    In a table of options the command is the last one before it, in a heading, a sentence or a block
    of the section. In a table of commands it is the row's. Elsewhere some command has the option.
    """
    of_section = head = ""
    for line in text.splitlines():
        codes = CODE.findall(line.replace("\\|", "|"))
        if not line.startswith("|"):
            head = ""
            typed = [word for match in TYPED.findall(line) for word in match if word]
            named = [snippet[9:] for snippet in codes if snippet.startswith("westwood ")]
            if line.startswith("#"):
                of_section = ""
                named += HEADING.findall(line)
            of_section = next(filter(None, map(command_of, [*typed, *named])), of_section)
            continue
        head = head or line.split("|")[1].strip()
        of_row = next(filter(None, map(command_of, codes)), "")
        expected = {"option": of_section, "command": of_row}.get(head, "")
        for code in codes:
            command = command_of(code)
            if not (command or code.startswith("--")):
                continue  # of another program
            for option in re.findall(r"(?:^| )(--[a-z][a-z-]*)", code):
                if option not in options_of(command or expected) | {"--help"}:
                    yield f"{command or expected} {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).name)
def test_an_option_in_a_table_is_one_of_its_command(page):
    assert list(problems_of_tables((ROOT / page).read_text(encoding="utf-8"))) == []


def workflow_problems(text: str) -> Iterator[str]:
    """Yields what a workflow of GitHub on a page names and is not there."""
    targets = set(re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(), re.M))
    for block in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S):
        steps = [step for job in yaml.safe_load(block)["jobs"].values() for step in job["steps"]]
        for pattern in re.findall(r"hashFiles\('([^']+)'\)", str(steps)):
            if not list(ROOT.glob(pattern)):
                yield pattern
        for command in [step["run"] for step in steps if "run" in step]:
            for words in map(shlex.split, command.split("&&")):
                name = Path(words[0]).name
                if name == "make":
                    yield from set(words[1:]) - targets
                elif name == "westwood":
                    yield from filter(None, [problem(shlex.join(words[1:]))])
                elif name not in ("apt-get", "pip", "python3"):
                    yield name


def test_a_workflow_to_copy_has_commands_that_exist():
    text = (ROOT / "docs/linux-path.md").read_text(encoding="utf-8")
    assert "```yaml" in text and list(workflow_problems(text)) == []
    wrong = text.replace("make linux-um", "make linux-mu").replace("--seeds 30", "--seats 30")
    assert set(workflow_problems(wrong)) == {"linux-mu", "compare --seats"}


def test_mistakes_in_tables_are_seen():
    option, command = "\n| option |\n| --- |\n", "\n| command |\n| --- |\n"
    text = (
        f"# Guide\n## control replay{option}| `--for S` |\n## x\n`westwood run F`{option}"
        f"| `--cc A`, `--fr` |\n# y{command}| `default` | `--cc A` |\n| `sweep --dusk` |\n\n"
        "| x |\n| `--nobody` | `--worth 5%` |\n"
    )
    wrong = ["control replay --for", "run --fr", "kernel default --cc", "sweep --dusk", " --nobody"]
    assert list(problems_of_tables(text)) == wrong


def test_the_page_of_commands_has_every_command():
    text = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    described = re.findall(r"^<!-- declared: options of (.+) -->$", text, re.M)
    assert sorted(described) == sorted(
        name for name, command in COMMANDS.items() if list(manual.options(command))
    )


def test_every_exit_code_is_explained():
    kinds = [WestwoodError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    sources = [path.read_text() for path in ROOT.glob("westwood/cli/*.py")]
    typed = {code for text in sources for code in re.findall(r"typer\.Exit\((\d+)\)", text)}
    assert {str(kind.exit_code) for kind in kinds} | typed <= set(EXIT_CODES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).name)
def test_what_a_page_types_exists(page):
    problem_of = {line: problem(line) for line in lines(page)}
    assert {
        line: problem_
        for line, problem_ in problem_of.items()
        if problem_ and problem_ not in WRONG
    } == {}


def test_mistakes_are_seen():
    assert len(list(lines("README.md"))) > 5
    assert problem("try HOST") == " try"
    assert problem("kernel doctor|lode") == "kernel lode"
    assert problem("run table1 --sed 3 | head") == "run --sed"
    assert problem("path emulate --rate 2Mbps -- curl --silent") == ""
