# SPDX-License-Identifier: BSD-3-Clause
"""An error names the line of its key, unless the search for it would take long."""

from pathlib import Path
from typing import Any

import pytest

from westwood import files
from westwood.errors import InputError
from westwood.scenario import lines

TEXT = """\
name = "s"
sizes = [
    1,
    2,
]

[[link]]
name = "path"
loss = { kind = "none" }

[[flow]]
name = "tcp"
from = "a"

[sweep]
"path.delay" = ["1ms"]
"""


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text(TEXT)
    return path


def line_of(file: Path, key: str, swept: tuple[str, ...] = ()) -> int | None:
    return lines.placed(InputError("is wrong", key=key), file, swept).line


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("name", 1),
        ("sizes", 2),  # where its value begins
        ("path.loss.kind", 9),
        ("tcp.from", 13),
        ("link[1].name", 8),
        ("sweep.path.delay", 16),
        ("path", 7),
        ("nobody.rate", None),
    ],
)
def test_a_key_has_the_line_of_its_value(file, key, line):
    assert line_of(file, key) == line


@pytest.mark.parametrize(
    ("swept", "key", "line"),
    [
        ("path.delay", "path.delay", 16),
        ("path.loss.kind", "path.loss.rate", 16),  # which the swept kind needs
        ("path.loss", "path.loss.rate", 16),
        ("path.loss.kind", "path.loss.kind", 16),
        ("path.lossy", "path.loss.kind", 9),
        ("path.delay", "path.loss.rate", 9),
        ("path.queue.kind", "path.rate", 7),
    ],
)
def test_a_varied_key_has_the_line_of_the_sweep(swept, key, line, file):
    file.write_text(TEXT.replace("path.delay", swept))
    assert line_of(file, key, (swept,)) == line


@pytest.fixture
def parsed(monkeypatch):
    """Lists the lengths of the texts that are parsed."""
    lengths: list[int] = []
    read: Any = files.toml

    def counted(text: str) -> Any:
        lengths.append(len(text))
        return read(text)

    monkeypatch.setattr(files, "toml", counted)
    return lengths


def test_the_search_parses_as_often_as_it_needs_to(parsed, monkeypatch):
    path = ("flow", 0, "from")
    assert lines._Beginnings(TEXT).line(path) == 13
    needed = len(parsed)

    def line_number(times: int) -> int | None:
        monkeypatch.setattr(lines, "_MOST_PARSED_BYTES", times * len(TEXT))
        return lines._Beginnings(TEXT).line(path)

    assert [line_number(times) for times in (needed + 1, needed)] == [13, None]
    assert lines._Beginnings(TEXT).line(()) is None


def test_many_wrong_keys_share_the_time_of_the_search(file, parsed, monkeypatch):
    monkeypatch.setattr(lines, "_MOST_PARSED_BYTES", 50 * len(TEXT))
    wrong = [InputError("is wrong", key="tcp.from") for _ in range(100)]
    error = lines.placed(InputError("is wrong", key="tcp.from", others=wrong), file)
    assert error.line == 13 and error.others[-1].line is None
    assert len(parsed) <= 1 + 50
