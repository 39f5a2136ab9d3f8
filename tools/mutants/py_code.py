# SPDX-License-Identifier: BSD-3-Clause
"""Makes the one-token mutants of Python files: another operator, number or condition.

It finds them in the syntax tree. Annotations, decorators, strings and code only for type checkers
are not mutated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.mutants.c_code import Mutant, mutant

OPERATORS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
    ast.And: ("and", ("or",)),
    ast.Or: ("or", ("and",)),
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("/",)),
    ast.Div: ("/", ("*",)),
    ast.FloorDiv: ("//", ("*",)),
    ast.Mod: ("%", ("*",)),
    ast.Pow: ("**", ("*",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
    ast.LShift: ("<<", (">>",)),
    ast.RShift: (">>", ("<<",)),
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
Change = tuple[int, int, list[str]]


class Finder(ast.NodeVisitor):
    """Collects the possible changes of a file, by the function that contains them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = text.splitlines()
        self.path: list[str] = []
        self.changes: list[tuple[str, Change]] = []

    def offset(self, line: int, column: int) -> int:
        """Converts a line and a byte column into a position in the text."""
        before = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(before)

    def start(self, node: ast.expr) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def add(self, first: int, last: int, new: list[str]) -> None:
        self.changes.append((".".join(self.path), (first, last, new)))

    def between(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> None:
        """Adds the replacements of an operator between two expressions."""
        if type(operator) not in OPERATORS:
            return
        old, new = OPERATORS[type(operator)]
        pattern = r"\b" + old.replace(" ", r"\s+") + r"\b" if old[0].isalpha() else re.escape(old)
        gap = self.text[self.end(left) : self.start(right)]
        match = re.search(pattern, gap)
        if match:
            first = self.end(left) + match.start()
            self.add(first, first + len(match.group()), list(new))

    def condition(self, test: ast.expr) -> None:
        first, last = self.start(test), self.end(test)
        self.add(first, last, [f"not ({self.text[first:last]})"])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.path += [node.name, "<locals>"]
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        del self.path[-2:]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.path.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.path.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.between(node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.target, ast.expr):
            first = self.text.index("=", self.end(node.target)) - 1
            self.add(first, first + 1, ["-" if isinstance(node.op, ast.Add) else "+"])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, node.op, right)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            self.between(left, operator, right)
            left = right
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add(self.start(node), self.start(node.operand), [""])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        first, last, value = self.start(node), self.end(node), node.value
        if isinstance(value, bool):
            self.add(first, last, [str(not value)])
        elif isinstance(value, int):
            self.add(first, last, [str(near) for near in (value - 1, value + 1) if near >= 0])
        elif isinstance(value, float):
            half = [f"(0.5 * {self.text[first:last]})"] if value else []
            self.add(first, last, [*half, repr(value + 1)])

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in NAMES:
            self.add(self.start(node.func), self.end(node.func), [NAMES[node.func.id]])
        if isinstance(node.func, ast.Name) and node.func.id == "zip":
            node.keywords.clear()  # `strict` finds mistakes elsewhere, as an assertion does
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self.condition(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self.condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.condition(test)
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skips f-strings: the text of messages is not mutated."""

    def visit_Import(self, node: ast.Import) -> None:
        """Skips imports, which have nothing to mutate."""

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]
    visit_ImportFrom = visit_Import  # type: ignore[assignment]


def mutants(file: str, text: str) -> list[list[Mutant]]:
    """Returns the mutants of a file, grouped by token."""
    finder = Finder(text)
    finder.visit(ast.parse(text))
    mutants = []
    for place, (first, last, texts) in finder.changes:
        function = place.removesuffix(".<locals>")
        mutants.append([mutant(file, text, first, last, new, function) for new in texts])
    return mutants


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields the qualified name of each function, and its first and last line."""

    def look(node: ast.AST, path: list[str]) -> Iterator[tuple[str, int, int]]:
        for child in ast.iter_child_nodes(node):
            inner = path
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield ".".join([*path, child.name]), child.lineno, child.end_lineno or child.lineno
                inner = [*path, child.name, "<locals>"]
            elif isinstance(child, ast.ClassDef):
                inner = [*path, child.name]
            yield from look(child, inner)

    yield from look(ast.parse(text), [])


def statement(text: str, number: int) -> range:
    """Returns the lines of the innermost statement on a line, without the statements in it.

    A function's signature has none: its defaults are computed before a test begins.
    """
    lines = range(0)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and node.lineno <= number <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else (node.end_lineno or 0) + 1
            if number < end and node.lineno >= lines.start:
                is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                lines = range(0) if is_function else range(node.lineno, end)
    return lines


def of_folder(folder: Path, left_out: tuple[str, ...] = ()) -> list[list[Mutant]]:
    """Returns the mutants of the Python files below a folder, except in the left-out folders."""
    listed = []
    for path in sorted(folder.rglob("*.py")):
        file = path.relative_to(folder).as_posix()
        if not file.startswith(left_out):
            listed += mutants(file, path.read_text(encoding="utf-8"))
    return listed
