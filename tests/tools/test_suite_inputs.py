# SPDX-License-Identifier: BSD-3-Clause
"""What tools/suites/inputs.py declares decides the results of the suites."""

from __future__ import annotations

import re

import grimp
import pytest

from tools.suites import declared, inputs
from tools.suites.inputs import ROOT

SUITES = [*declared.BUILDERS, *declared.REAL_TIME, *declared.ALONE]


def imported(folder: str) -> set[str]:
    """Returns the modules of the package that a folder's Python files import."""
    text = "".join(file.read_text() for file in sorted((ROOT / folder).rglob("*.py")))
    return set(re.findall(r"^ *(?:from|import) (westwood[\w.]*)", text, re.M))


@pytest.mark.parametrize(
    ("folder", "without", "commands"),
    [
        ("tests/lab", inputs.NOT_IN_LAB, ["lab"]),
        ("tests/linux", inputs.NOT_IN_LINUX, ["kernel", "path", "trace", "runs", "validate"]),
    ],
)
def test_what_a_suite_leaves_out_is_imported_by_nothing_that_it_tests(folder, without, commands):
    graph = grimp.build_graph("westwood")
    modules = {f"westwood.cli.{name}" for name in commands}
    modules |= imported(folder) & graph.modules
    needed = modules.union(*map(graph.find_upstream_modules, modules))
    packages = {name.split(".")[1] for name in needed if "." in name}
    assert "scenario" in packages and not packages & {*without}


def test_every_test_is_in_a_suite():
    rooms = {str(file.relative_to(ROOT).parent) for file in ROOT.glob("tests/**/test_*.py")}
    words = {word for suite in SUITES for command in suite.commands for word in command}
    assert {"/".join(room.split("/")[:2]) for room in rooms} <= words


def test_the_core_and_the_plan_are_inputs_of_ns3():
    names = {str(file.relative_to(ROOT)) for file in inputs.OF_NS3.files(ROOT)}
    assert {"core/westwood.h", "wire/plan.hpp", "ns3/runner/ww-ns3-runner.cc"} <= names


def test_links_but_no_senders_of_the_engine_are_inputs_of_the_kernels_tests():
    names = {str(file.relative_to(ROOT)) for file in inputs.OF_KERNEL.files(ROOT)}
    built = re.findall(r"engine\}/(\S+\.cpp)", (ROOT / "linux/CMakeLists.txt").read_text())
    assert {f"engine/{name}" for name in built if "*" not in name} <= names
    assert {"core/westwood.h", "linux/bpf/ww.bpf.c", "westwood/kernel/ww_kernel.py"} <= names
    assert not any(name.startswith("engine/tcp/") for name in names)


def test_the_inputs_exist():
    for decided in [suite.inputs for suite in SUITES if suite.inputs]:
        for path in {*decided.paths, *decided.without}:
            assert path == "." or list(ROOT.glob(path)), path
