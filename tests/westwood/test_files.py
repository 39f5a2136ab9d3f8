# SPDX-License-Identifier: BSD-3-Clause
"""Files that users name must be regular and of limited size before they are parsed."""

import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from westwood import files
from westwood.errors import InputError
from westwood.scenario import Scenario

PIPE = "is a pipe, expected a file"
DEVICE = "is a device or a socket, expected a file"
SMALL = Path(__file__).with_name("small.toml").read_text(encoding="utf-8")
LOSS = '{ kind = "uniform", rate = 0.005 }'


@pytest.fixture
def pipe(tmp_path) -> Callable[[str], Path]:
    """Makes named pipes that have no writer."""

    def make(name: str) -> Path:
        os.mkfifo(tmp_path / name)
        return tmp_path / name

    return make


@pytest.mark.parametrize("read", [files.read_toml, files.read_json, files.numbers, files.check])
def test_pipes_and_devices_are_refused(read, pipe):
    for path, problem in ((pipe("p"), PIPE), (Path("/dev/zero"), DEVICE)):
        with pytest.raises(InputError, match=problem):
            read(path)


def test_a_file_longer_than_its_size_is_refused():
    with pytest.raises(InputError, match="has more in it than its size says"):
        files.read_toml(Path("/proc/self/status"))


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("run",), "p.toml"),
        (("trace", "--plot"), "p.toml"),
        (("trace", "--plot"), "p.parquet"),
        (("trace", "--plot"), "p.csv"),
        (("path", "campaign"), "p.toml"),
    ],
)
def test_commands_name_the_pipe(command, name, pipe, westwood):
    assert f"{name}: {PIPE}" in westwood(*command, pipe(name)).refusal()


def test_a_pipe_of_numbers_is_named_with_its_key(pipe, tmp_path):
    pipe("numbers")
    file = tmp_path / "a.toml"
    file.write_text(SMALL.replace(LOSS, '{ packets = "numbers" }'), encoding="utf-8")
    with pytest.raises(InputError, match=rf'bottleneck\.loss\.packets = "numbers": {PIPE}'):
        Scenario.from_toml(file)


@pytest.mark.parametrize("size", [files.TOML_BYTES + 1, 1 << 40])
def test_a_large_file_is_not_read(size, tmp_path):
    file = tmp_path / "a.toml"
    with file.open("wb") as stream:
        stream.truncate(size)
    with pytest.raises(InputError, match=f"has {size} bytes, expected at most 2097152"):
        files.read_toml(file)
    assert files.check(file) == size, "libraries that map files may open it"


DOTS = "a." * 50_000 + "a"


@pytest.mark.parametrize(
    "text",
    [
        f"{DOTS} = 1",
        f"[{DOTS}]",
        f"[[{DOTS}]]",
        f"x = {{ {DOTS} = 1 }}",
        f"{DOTS.replace('.', ' . ')} = 1",
        DOTS.replace("a", '"a"') + " = 1",
        DOTS.replace("a", "é") + " = 1",
        f'x = """""""\n{DOTS} = 1',
        f"x = '#'\n{DOTS} = 1",
    ],
    ids=range(9),
)
def test_a_long_key_costs_no_memory(text):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError):
            files.toml(text)
        assert tracemalloc.get_traced_memory()[1] < 10e6, "tomllib alone takes 5.9 GB"
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "value",
    [
        f'"{DOTS}"',
        f"'{DOTS}'",
        f'"""\n{DOTS}"" \\""" {DOTS}""""',
        f"'''\n{DOTS}'' ''''",
        f'"\\"{DOTS}"',
        f"1 # {DOTS}",
        "1.5",
    ],
    ids=range(7),
)
def test_dots_in_strings_and_comments_do_not_count(value):
    assert list(files.toml(f"x = {value}\na.b.c.d = 1")) == ["x", "a"]


@pytest.mark.parametrize(
    "text",
    ['"""\\' * 300_000, "'''" * 300_001, '"\\' * 500_000, "a = " + "[" * 10**6],
    ids=range(4),
)
def test_unterminated_values_are_refused_quickly(text):
    start = time.process_time()
    with pytest.raises((ValueError, RecursionError)):
        files.toml(text)
    assert time.process_time() - start < 3


def test_a_byte_order_mark_is_skipped(tmp_path):
    file = tmp_path / "a"
    file.write_bytes("a = 1".encode("utf-8-sig"))
    assert files.read_toml(file) == {"a": 1}
    file.write_bytes("1\r\n\r\n2 # two\r3".encode("utf-8-sig"))
    assert files.numbers(file) == (1, 2, 3)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1\n2x\n", "line 2, column 2"),
        ("\nx", "line 2, column 1"),
        ("1\n\n# x\n3 4", "line 4, column 3"),
        ("-1", "line 1, column 1"),
        ("1.5", "line 1, column 2"),
        ("1\r\n 1_0", "line 2, column 3"),
        ("1234567890123456789", "line 1, column 1"),
        ("\0", "line 1, column 1"),
    ],
)
def test_a_wrong_cell_is_named_by_line_and_column(text, place, tmp_path):
    file = tmp_path / "numbers"
    file.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(InputError, match=f"expected a whole number in {place}, found"):
        files.numbers(file)


def test_long_lists_are_read_fast_and_written_to_their_own_files(tmp_path):
    count = 300_000
    (tmp_path / "numbers").write_text("\n".join(map(str, range(1, count + 1))), encoding="utf-8")
    file = tmp_path / "a.toml"
    file.write_text(SMALL.replace(LOSS, '{ packets = "numbers" }'), encoding="utf-8")
    start = time.process_time()
    scenario = Scenario.from_toml(file).with_settings({"duration": "10s"})
    assert time.process_time() - start < 3
    written = scenario.to_files("again")
    for name, content in written.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert list(written) == ["again-bottleneck-packets.txt", "again.toml"]
    assert Scenario.from_toml(tmp_path / "again.toml").hash == scenario.hash


def test_the_number_of_keys_is_limited_too():
    with pytest.raises(InputError, match="expected at most 200000 dots in keys and numbers"):
        files.toml("".join(f"[a{i}.b.c.d.e]\n" for i in range(60_000)))
