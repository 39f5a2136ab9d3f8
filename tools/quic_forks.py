# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Cargo workspace of a ww-quic with forks of QUIC stacks: `quic_forks.py FORKS TO`.

FORKS is a TOML file, which docs/quic.md explains. TO becomes a copy of quic/ in which each fork is
one crate more, beside upstream's, and has copies of the modules that call its stack.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from westwood.control.catalogue import OF_STACKS
from westwood.errors import InputError
from westwood.scenario.stacks import FORK, OF_FORK

QUIC = Path(__file__).resolve().parent.parent / "quic"
COPIED = ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "stacks", "westwood")
_KEYS = {"source", "controls"}
_TYPE = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class Fork:
    """A fork of a QUIC stack: its engine, its crate, and its controls of new names."""

    name: str  # of the engine, such as quinn-mine
    stack: str
    source: Path
    package: str
    version: str
    controls: Mapping[str, str]  # their types, by name

    @property
    def cargo_version(self) -> str:
        """Returns the version that Cargo knows."""
        return self.version.partition("+")[0]

    @property
    def module(self) -> str:
        """Returns the name of its modules."""
        return self.name.replace("-", "_")

    @property
    def dependency(self) -> str:
        """Returns its line in a Cargo.toml."""
        crate, source = json.dumps(self.package), json.dumps(str(self.source))
        where = f"package = {crate}, path = {source}, default-features = false"
        return f"{self.name}-proto = {{ {where} }}\n"

    @property
    def line(self) -> str:
        """Returns what ww-quic --name prints of it."""
        return " ".join(
            (self.name, self.package, self.version, *OF_STACKS[self.stack], *self.controls)
        )

    def adapted(self, module: str) -> str:
        """Returns a module of its stack that calls the fork instead."""
        return module.replace(f"{self.stack}_proto", f"{self.module}_proto")

    def adapter(self, module: str) -> str:
        """Returns the module of stacks/ with the controls of new names."""
        arms = "".join(
            f'        (true, "{name}") => Arc::new({self.module}_proto::{type_}::default()),\n'
            for name, type_ in self.controls.items()
        )
        known = ", ".join((*OF_STACKS[self.stack], *self.controls))
        text, count = re.subn(
            r" {8}\(true, other\) => .*\n",
            f'{arms}        (true, other) => Err(format!("{self.name} has no control {{other:?}}, '
            f'expected one of {known}"))?,\n',
            self.adapted(module),
        )
        if count != 1:
            raise AssertionError(f"quic/stacks/src/{self.stack}.rs has another form")
        return text


def read(file: Path) -> list[Fork]:
    """Returns the forks in a file; raises InputError for what is wrong there."""
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", value=str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is no TOML: {error}", value=str(file)) from None
    if not given:
        raise InputError("has no fork, expected a table such as [quinn-mine]", value=str(file))
    forks: dict[tuple[str, str], Fork] = {}
    for name, table in given.items():
        fork = _fork(name, table, file.resolve().parent)
        crate = fork.package, fork.cargo_version
        if crate in forks:
            problem = f"expected another version than that of {forks[crate].name}, for Cargo"
            raise InputError(problem, key=f"{name}.source", value=" ".join(crate))
        forks[crate] = fork
    return list(forks.values())


def _fork(name: str, table: Any, folder: Path) -> Fork:
    form = FORK.fullmatch(name)
    if not form or not isinstance(table, dict):
        stacks = " or ".join(f"[{stack}-mine]" for stack in OF_STACKS)
        raise InputError(f"expected a table such as {stacks}", key=name)
    for key in table.keys() - _KEYS:
        raise InputError("unknown key, expected source or controls", key=f"{name}.{key}")
    written, controls = table.get("source"), table.get("controls", {})
    source = folder / Path(written).expanduser() if isinstance(written, str) else folder
    if not isinstance(written, str) or not (source / "Cargo.toml").is_file():
        problem = "expected the folder of a crate, which has its Cargo.toml"
        raise InputError(problem, key=f"{name}.source", value=written)
    if not isinstance(controls, dict):
        problem = 'expected a table such as { fast = "congestion::FastConfig" }'
        raise InputError(problem, key=f"{name}.controls", value=controls)
    for control, type_ in controls.items():
        key = f"{name}.controls.{control}"
        if control in OF_STACKS[form[1]] or not OF_FORK.fullmatch(control):
            raise InputError("expected a new name of lower case, such as fast", key=key)
        if not isinstance(type_, str) or not _TYPE.fullmatch(type_):
            problem = "expected a type of the crate, such as congestion::FastConfig"
            raise InputError(problem, key=key, value=type_)
    source = source.resolve()
    return Fork(name, form[1], source, *_package(name, source), controls)


def _package(name: str, source: Path) -> tuple[str, str]:
    """Returns the name of a crate, and its version with the commit, if git has one."""
    if not shutil.which("cargo"):
        raise InputError("cargo is missing: see https://rustup.rs")
    file = source / "Cargo.toml"
    words = ["cargo", "metadata", "--no-deps", "--format-version=1", f"--manifest-path={file}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    packages = json.loads(done.stdout)["packages"] if done.returncode == 0 else []
    matching = [package for package in packages if Path(package["manifest_path"]) == file]
    if not matching:
        problem = f"cargo reads no package there: {done.stderr.strip().splitlines()[:1]}"
        raise InputError(problem, key=f"{name}.source", value=str(source))
    package, version = str(matching[0]["name"]), str(matching[0]["version"])
    commit = _git(source, "describe", "--always", "--dirty", "--exclude=*")
    if commit and _git(source, "ls-files", "Cargo.toml"):
        version += ("." if "+" in version else "+") + commit
    return package, version


def _git(folder: Path, *words: str) -> str:
    git = ["git", "-C", str(folder), *words]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()


def write(forks: Iterable[Fork], to: Path) -> None:
    """Makes the workspace; files that stay the same keep their times, for Cargo."""
    forks = list(forks)
    for name in COPIED:
        source = QUIC / name
        if source.is_dir():
            shutil.copytree(source, to / name, dirs_exist_ok=True)
        elif name != "Cargo.lock" or not (to / name).exists():
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)
    whole = (to / "Cargo.toml").read_text(encoding="utf-8")
    (to / "Cargo.toml").write_text(whole.replace(', "loopback"', ""), encoding="utf-8")
    crates = "".join(fork.dependency for fork in forks)
    for name in ("stacks", "westwood"):
        file = to / name / "Cargo.toml"
        text = file.read_text(encoding="utf-8")
        file.write_text(
            text.replace("[dependencies]\n", f"[dependencies]\n{crates}"), encoding="utf-8"
        )
    modules = to / "westwood" / "src"
    with (modules / "lib.rs").open("a", encoding="utf-8") as library:
        library.writelines(f"\nmod {fork.module};\n" for fork in forks)
    for fork in forks:
        for folder, changed in ((modules, fork.adapted), (to / "stacks" / "src", fork.adapter)):
            text = (folder / f"{fork.stack}.rs").read_text(encoding="utf-8")
            (folder / f"{fork.module}.rs").write_text(changed(text), encoding="utf-8")
    (to / "stacks" / "src" / "forks.rs").write_text(_forks(forks), encoding="utf-8")


def _forks(forks: Iterable[Fork]) -> str:
    """Returns the module that lists the forks: quic/stacks/src/forks.rs."""
    modules = "".join(f'#[path = "{fork.module}.rs"]\nmod {fork.module};\n' for fork in forks)
    lines = "".join(f"{fork.line}\\n" for fork in forks)
    arms = "".join(
        f'        "{fork.name}" => Some({fork.module}::open(options)),\n' for fork in forks
    )
    head, _, _ = (
        (QUIC / "stacks" / "src" / "forks.rs").read_text(encoding="utf-8").partition("\nuse ")
    )
    return f"""{head}
use crate::{{Options, Pair}};
use std::ffi::CStr;

{modules}
pub(crate) const LINES: &CStr = c"{lines}";

pub(crate) fn open(stack: &str, options: &Options) -> Option<Result<Box<dyn Pair>, String>> {{
    match stack {{
{arms}        _ => None,
    }}
}}
"""


def main() -> int:
    """Writes the workspace; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("forks", type=Path)
    parser.add_argument("to", type=Path)
    given = parser.parse_args()
    try:
        write(read(given.forks), given.to)
    except InputError as error:
        print(f"error: {given.forks}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
