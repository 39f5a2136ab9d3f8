# SPDX-License-Identifier: BSD-3-Clause
"""Each error is one line: file, key, value and what was expected. errors.toml has the table."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from error_lines import without_line

from westwood.errors import InputError
from westwood.scenario import Scenario, profiles

SMALL = Path(__file__).parents[1].joinpath("small.toml").read_text(encoding="utf-8")
TABLE = tomllib.loads(Path(__file__).with_name("errors.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("replaced", "written"),
    [(replaced, written) for replaced, rows in TABLE["scenario"].items() for written in rows],
)
def test_a_mistake_in_a_scenario(replaced, written, small_file, westwood):
    assert replaced in SMALL
    small_file.write_text(written.join(SMALL.rsplit(replaced, 1)), encoding="utf-8")
    called = westwood("run", small_file, "--out", "results", "--plot")
    first = without_line(called.err, small_file).splitlines()[0]
    assert first == f"westwood: {small_file}: {TABLE['scenario'][replaced][written]}"
    assert (called.code, called.out) == (2, "")
    assert sorted(small_file.parent.iterdir()) == [small_file], "nothing may be written"


@pytest.mark.parametrize("line", TABLE["command"])
def test_a_mistake_in_a_command_line(line, westwood, tmp_path):
    called = westwood(*shlex.split(line))
    assert (called.code, called.out) == (2, "")
    first, *others = called.err.splitlines()
    assert first.startswith(f"westwood: {TABLE['command'][line]}")
    assert all(": engine ns3 expects " in other_line for other_line in others), (
        "it lists all that it refuses"
    )
    assert not list(tmp_path.iterdir()), "nothing may be written"


def test_every_profile_is_named_if_none_is(westwood):
    assert westwood("list", "profile").err.endswith(f"one of: {', '.join(profiles.names())}\n")


@pytest.mark.parametrize("setting", ["*.cc.fast_convergence", "tcp.cc.fast_convergence"])
def test_a_setting_of_one_of_several_protocols(setting, small_file, westwood):
    protocols = ("--cc", "cubic", "--cc", "veno")
    called = westwood("run", small_file, *protocols, "--set", f"{setting}=false")
    assert called.code == 2
    problem = "tcp.cc.fast_convergence = false: Veno has no such setting, expected one of: "
    assert called.err.startswith(f"westwood: {small_file}: {problem}")


def test_a_setting_of_every_flow_is_named_as_it_was_set(small_file, westwood):
    called = westwood("run", small_file, "--set", "*.cc=renoo")
    problem = 'tcp.cc = "renoo": unknown protocol, did you mean "reno"?'
    assert called.err == f"westwood: {small_file}: {problem}\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"name = ", "is not TOML: Invalid value (at end of document)"),
        (b"\xff\xfe", "is not TOML: byte 1 is not UTF-8"),
        (b"a = 2013-13-45", "is not TOML: "),
        (b"a = " + b"[" * 20000, "is nested too deeply"),
        (b"", "name: is missing"),
        (b"a = 0x" + b"f" * 9000, "a = (a value too large to print): unknown key, "),
    ],
    ids=["syntax", "encoding", "date", "depth", "empty", "huge number"],
)
def test_files_that_are_no_scenario(content, problem, tmp_path):
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        Scenario.from_toml(file)
    assert re.sub(r":1: ", ": ", str(error.value)).startswith(f"{file}: {problem}")
    assert "\n" not in str(error.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match=r"gone\.toml: no such file$"):
        Scenario.from_toml(tmp_path / "gone.toml")
    with pytest.raises(InputError, match=r"is a folder, expected a file$"):
        Scenario.from_toml(tmp_path)
    with pytest.raises(InputError):
        Scenario.from_toml("a\0b.toml")


def test_a_path_of_more_links_than_a_packet_can_count(tmp_path, westwood):
    link = '[[link]]\nname = "l{0}"\nbetween = ["n{0}", "n{1}"]\nrate = "1Mbps"\ndelay = "0s"\n'
    links = "".join(link.format(i, i + 1) + 'queue = { limit = "9p" }\n' for i in range(256))
    flow = '[[flow]]\nname = "{0}"\nfrom = "n0"\nto = "n{1}"\ncc = "reno"\n'
    (tmp_path / "long.toml").write_text(
        f'name = "long"\nduration = "1ms"\n{links}{flow.format("a", 255)}{flow.format("b", 256)}'
    )
    called = westwood("run", "long.toml", "--out", "results")
    problem = 'expected at most 255 links between it and "n0"'
    last = len((tmp_path / "long.toml").read_text().splitlines()) - 1
    expected = f'westwood: long.toml:{last}: b.to = "n256": {problem}\n'
    assert (called.code, called.err) == (2, expected)
    assert not (tmp_path / "results").exists(), "nothing may be written"


def test_all_mistakes_of_a_file_at_once(small_file, westwood):
    changes = [('"2Mbps"', '"2Mbs"'), ("seeds = 3", "seed = 3"), ('"westwood+"', '"westwod"')]
    content = SMALL
    for old, new in [*changes, ("limit =", "# a comment\nlimt =")][:3]:
        content = content.replace(old, new)
    small_file.write_text(content, encoding="utf-8")
    called = westwood("run", small_file)
    lines = content.splitlines()
    keys = [line.split(":")[2] for line in called.err.splitlines()]
    named = [lines[int(number) - 1] for number in keys]
    assert (called.code, called.out) == (2, "")
    assert sorted(named) == ['cc = "westwod"', 'rate = "2Mbs"', "seed = 3"]


def test_an_error_in_a_multi_line_list_names_the_line_of_its_key(small_file):
    """Lines of comments and tables before the key are counted."""
    packets = "loss = { packets = [\n  1,\n  2,\n  0,\n] }"
    content = SMALL.replace('loss = { kind = "uniform", rate = 0.005 }', packets)
    small_file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        Scenario.from_toml(small_file)
    assert error.value.line == 1 + content[: content.index("loss =")].count("\n")


def test_editors_count_lines_by_line_feeds_only(small_file):
    content = '# \u2028 and \x85 end no line\r\nname = "a"\r\nduration = "60x"\r\n'
    small_file.write_text(content, encoding="utf-8", newline="")
    with pytest.raises(InputError) as error:
        Scenario.from_toml(small_file)
    duration = next(
        error_ for error_ in (error.value, *error.value.others) if error_.key == "duration"
    )
    assert duration.line == 3


def test_a_wrong_number_of_products_hides_no_other_mistake(small_file):
    content = SMALL.replace('"2Mbps"', '"2Mbs"').replace('limit = "50p"', 'limit = "0bdp"')
    small_file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as error:
        Scenario.from_toml(small_file)
    problems = sorted(error_.problem for error_ in (error.value, *error.value.others))
    assert [text[:14] for text in problems] == ["expected up to", 'unknown unit "']


@pytest.mark.parametrize(
    "line",
    ['"bottleneck.rate" = ["1Mbps", "x"]', '"q.z" = [1]', '"bottleneck.loss.rate" = [1.0, 1.0]'],
)
def test_a_mistake_in_a_sweep_has_the_line_of_the_sweep(line, small_file, westwood):
    content = f"{SMALL.partition('[sweep]')[0]}\n[sweep]\n{line}\n"
    small_file.write_text(content, encoding="utf-8")
    called = westwood("run", small_file)
    number = 1 + content[: content.index(line)].count("\n")
    assert (called.code, called.err.split(":")[2]) == (2, f"{number}")
