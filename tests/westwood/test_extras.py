# SPDX-License-Identifier: BSD-3-Clause
"""Most commands work without extras; the others name the missing extra before they run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest

from westwood import extras
from westwood.errors import UnavailableError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SHORT = ("--set", "duration=2s")

# The start of a process in which the packages of extras are missing.
_BASE = """
import sys
from importlib.machinery import PathFinder

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
ABSENT = ("matplotlib", "numpy", "pyarrow", "xarray", "distributed", "optuna", "pandas")
ABSENT += ("gymnasium",)


def in_base(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs code in a process without the packages of extras."""
    start = _BASE.replace("ABSENT", repr(ABSENT))
    command = [sys.executable, "-c", start + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)


def codes(commands: Sequence[Sequence[str]], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs command lines one after the other; prints each after its exit code."""
    code = f"""
from westwood.cli.commands import call
for command in {[list(command) for command in commands]!r}:
    print(call(command), *command, file=sys.stderr)
"""
    return in_base(code, folder)


def test_most_commands_need_no_extra(tmp_path):
    commands = (
        ("compare", "--duration", "2s", "--cc", "reno", "--cc", "westwood+"),
        ("run", "table1", *SHORT, "--seeds", "2", "--out", "run"),
        ("sweep", "fading", *SHORT, "--seeds", "1", "--out", "swept"),
        ("report", "swept", "--export"),
        ("list", "protocols"),
        ("list", "presets"),
        ("kernel", "--help"),
    )
    done = codes(commands, tmp_path)
    for command in commands:
        assert f"0 {' '.join(command)}" in done.stderr.splitlines(), done.stderr
    page = (tmp_path / "swept" / "index.html").read_text("utf-8")
    assert "Goodput" in page and "<img" not in page
    assert "figures need matplotlib: pip install 'westwood[plot]'" in done.stderr


NEEDS = {
    ("run", "table1", "--plot"): "--plot needs matplotlib",
    ("compare", "--plot"): "--plot needs matplotlib",
    ("trace", "table1", "--plot"): "--plot needs matplotlib",
    ("trace", "table1", "--out", "new"): "--out needs numpy",
    ("trace", "table1", "--pcap", "a.pcap"): "--pcap needs numpy",
    ("reproduce", "fig5"): "reproduce needs matplotlib",
    ("validate",): "validate needs matplotlib",
    ("evaluate", "reno"): "evaluate needs numpy",
    ("kernel", "watch"): "kernel watch needs numpy",
    ("path", "campaign", "bari"): "path campaign needs numpy",
    ("path", "compare", "example.org"): "path compare needs numpy",
    ("control", "tune", "--cc", "vegas"): "control tune needs optuna",
}


# Modules that may import matplotlib or numpy, because they are only imported when needed.
OF_EXTRAS = (
    "campaign",  # may have millions of TCP_INFO samples
    "cli.campaign",
    "cli.recording_panel",
    "cli.tracing",
    "cli.watch",
    "conform",
    "draw",
    "engines.run_figures",
    "evaluation.",
    "experiments.validation",
    "gym.",
    "kernel.sock_diag",
    "kernel.sockets",
    "kernel.tcp_info",
    "kernel.watching",
    "lab.declarations",  # imported by `make lab` only
    "papers",
    "results.pcap",
    "results.queues",
    "results.spool",
)


def test_only_known_modules_import_an_extra(tmp_path):
    code = """
import importlib, pkgutil, westwood
for module in pkgutil.walk_packages(westwood.__path__, "westwood.", onerror=lambda name: None):
    try:
        if module.name != "westwood.__main__":
            importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        print(module.name.removeprefix("westwood."))
"""
    done = in_base(code, tmp_path)
    assert done.returncode == 0, done.stderr
    modules = done.stdout.split()
    assert "draw.panel" in modules, "the extras are not missing"
    assert not [name for name in modules if not name.startswith(OF_EXTRAS)]
    assert "draw.report" not in modules, "pages have tables without figures"


def test_a_missing_extra_is_named_before_anything_runs(tmp_path):
    done = codes(list(NEEDS), tmp_path)
    expected = [
        line
        for command, needs in NEEDS.items()
        for line in (
            f"westwood: {needs}: {extras.remedy(needs.split()[-1])}",
            f"{UnavailableError.exit_code} {' '.join(command)}",
        )
    ]
    assert done.stderr.splitlines() == expected
    assert done.stdout == "" and not list(tmp_path.iterdir())


def test_environments_name_their_extra(tmp_path):
    done = in_base("from westwood import gym\ngym.VectorEnv(2)", tmp_path)
    expected = f"westwood.gym.VectorEnv needs gymnasium: {extras.remedy('gymnasium')}"
    assert done.stderr.splitlines()[-1] == f"westwood.errors.UnavailableError: {expected}"


def test_python_has_rows_links_and_transfers_without_extras(tmp_path):
    """Runs so many connections that their columns are views of the engine's memory."""
    code = """
from westwood import Scenario, UnavailableError, simulate
made = Scenario(name="many", duration="25s",
    link=[{"name": "path", "between": ["a", "b"], "rate": "100Mbps", "delay": "1ms"}],
    flow=[{"name": "web", "from": "a", "to": "b", "cc": "reno",
           "arrivals": {"every": "2ms", "size": "1kB", "sizes": "exponential"}}])
result = simulate(made)
row = result.rows.row(0, named=True)
assert row["transfers"] > 10_000 and 0 < row["completion_p50_s"] < row["completion_p95_s"]
assert result.transfers.height == row["transfers"] and result.links.height == 2
for asked in (lambda: simulate(made, trace=True), lambda: result.trace):
    try:
        asked()
    except UnavailableError as error:
        print(error)
"""
    done = in_base(code, tmp_path)
    assert done.stdout.count("needs numpy: pip install 'westwood[plot]'") == 2, done.stderr


def test_every_extra_is_found_by_its_packages():
    for name, packages in PROJECT["optional-dependencies"].items():
        if name not in ("all", "dev"):
            for package in packages:
                assert extras.extra_of(package.partition(">=")[0]) == name


def test_a_broken_module_is_not_reported_as_missing(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("import what_it_needs_itself")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="what_it_needs_itself"):
        extras.need("broken", "this")


def test_the_page_of_the_installation_has_every_extra():
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    for extra in PROJECT["optional-dependencies"].keys() - {"dev"}:
        assert f"\n| `{extra}` | " in page, extra


def test_each_dependency_says_what_it_replaces():
    """Decision 1 promises a line for each, in Python, in Rust and on the laboratory's page."""
    wanted = [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]
    names = {re.split(r"[^\w-]", line)[0] for line in wanted} - {"westwood"}
    for manifest in ROOT.glob("quic/*/Cargo.toml"):
        crate = tomllib.loads(manifest.read_text("utf-8"))
        for kind in ("dependencies", "build-dependencies"):
            of_kind = crate.get(kind, {}).items()
            names |= {name for name, what in of_kind if "path" not in what}
    page = json.loads((ROOT / "lab" / "package.json").read_text("utf-8"))
    names |= {*page["dependencies"], *page["devDependencies"]}
    text = (ROOT / "docs" / "decisions.md").read_text("utf-8").lower()
    names_in_text = set(re.findall(r"[\w-]+", text))
    assert sorted(name for name in names if name.lower() not in names_in_text) == []
