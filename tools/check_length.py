# SPDX-License-Identifier: BSD-3-Clause
"""Checks that no file has more than 400 lines, and no function of C or C++ more than 60.

ruff limits the functions of Python (pyproject.toml). A longer file or function needs a line that
starts with "Length:" and gives the reason, in the opening comment of the file or the comment above
the function.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.rooms import HELPERS, PRODUCT

ROOT = Path(__file__).resolve().parent.parent
FILE_LIMIT, FUNCTION_LIMIT = 400, 60
C_FAMILY = {".h", ".hpp", ".c", ".cc", ".cpp"}
COMMENT = re.compile(r"\s*(#(?!\s*(include|define|if|pragma))|//|/\*|\*)|\s*$")
REASON = re.compile(r"^\W*Length: \w", re.M)
NOT_A_FUNCTION = re.compile(
    r"(.*\s)?(namespace|struct|class|enum|union|extern)\b[^()]*\{$|.*=\s*\{$|\s*\{$"
)
NOT_CODE = re.compile(r"""\"(\\.|[^\"])*\"|'(\\.|[^'])'|//.*|/\*.*?\*/|\\$""")


def functions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yields the first and last line of C and C++ functions, whose heads end lines with a brace."""
    blocks: list[tuple[int, bool]] = []  # first line of the head; whether in a function
    for number, line in enumerate(lines, 1):
        code = NOT_CODE.sub("", line).rstrip()
        for position, character in enumerate(code):
            if character == "{":
                outer = bool(blocks) and blocks[-1][1]
                head = position == len(code) - 1 and not NOT_A_FUNCTION.match(code)
                blocks.append((first_line_of_head(lines, number), outer or head))
            elif character == "}" and blocks:
                first, in_function = blocks.pop()
                if in_function and not (blocks and blocks[-1][1]):
                    yield first, number


def first_line_of_head(lines: list[str], last: int) -> int:
    """Finds the line whose parentheses close before the brace on line `last`."""
    first, balance = last + 1, 0
    while first == last + 1 or (balance < 0 and first > 1):
        first -= 1
        balance += lines[first - 1].count("(") - lines[first - 1].count(")")
    return first


def comment_above(lines: list[str], number: int) -> str:
    """Returns the comment lines that end just above line `number`."""
    first = number - 1
    while first > 0 and lines[first - 1].strip() and COMMENT.match(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first : number - 1])


def opening_comment(text: str, lines: list[str]) -> str:
    if text.lstrip().startswith(("#", '"""')):
        docstring = re.match(r'(?:#[^\n]*\n|\s)*"""(.*?)"""', text, re.S)
        if docstring:
            return docstring[1]
    end = next((i for i, line in enumerate(lines) if not COMMENT.match(line)), len(lines))
    return "\n".join(lines[:end])


def complaints(path: Path) -> Iterator[str]:
    text = path.read_text()
    lines = text.splitlines()
    name = path.relative_to(ROOT)
    if len(lines) > FILE_LIMIT and not REASON.search(opening_comment(text, lines)):
        yield f"{name}: {len(lines)} lines, more than {FILE_LIMIT}"
    for first, last in functions(lines) if path.suffix in C_FAMILY else ():
        length = last - first + 1
        if length > FUNCTION_LIMIT and not REASON.search(comment_above(lines, first)):
            yield f"{name}:{first}: a function of {length} lines, more than {FUNCTION_LIMIT}"


def main() -> int:
    problems = [
        complaint
        for room in (*PRODUCT, *HELPERS)
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in C_FAMILY | {".py"}
        for complaint in complaints(path)
    ]
    print("\n".join(problems) or "every file and function is short enough, or gives a reason")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
