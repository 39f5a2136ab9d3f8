# SPDX-License-Identifier: BSD-3-Clause
"""Proves the patch series for ns-3 in ns-3's own tree: `python -m upstream.ns3_series TREE`.

TREE is ns-3-dev at the commit that upstream/ns3/README.md names, or has the same files; it is
copied and stays unchanged. For each patch the tests are applied first and must fail; with the rest
of the patch they must pass. At the end every suite of the modules internet and traffic-control runs
(failures that also occur without the series are excused), and so does ns-3's style check if a
suitable clang-format exists. The first build takes a quarter of an hour on two cores; with ccache
later ones take a minute.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERIES = Path(__file__).parent / "ns3"
HOME = ROOT / "build" / "ns3" / "upstream"  # always the same path, for ccache
LACKING = 77
TESTS = ("src/*/test/*", "src/internet/CMakeLists.txt")  # the latter only lists them
NEEDED = (  # 21 MB; the rest of a tree is 200
    *("CMakeLists.txt", "LICENSE", "VERSION", "ns3", "build-support", "contrib", "scratch"),
    *("examples/CMakeLists.txt", "utils", "third-party", "src/CMakeLists.txt", ".clang-format"),
    *("CHANGES.md", "RELEASE_NOTES.md", "utils.py", "test.py"),
    *(f"src/{name}" for name in ("core", "network", "internet", "bridge", "traffic-control")),
    *("src/stats", "src/test"),
)
OPTIONS = (
    *("-DCMAKE_BUILD_TYPE=default", "-DNS3_ASSERT=ON", "-DNS3_ENABLED_MODULES=internet"),
    *("-DNS3_TESTS=ON", "-DNS3_EXAMPLES=OFF", "-DNS3_PYTHON_BINDINGS=OFF"),
    "-DNS3_FILTER_MODULE_EXAMPLES_AND_TESTS=internet;traffic-control",
)


class Broken(Exception):
    """Describes how the series differs from its claims."""


def patches() -> list[Path]:
    """Lists the patches in order."""
    return sorted(SERIES.glob("*.patch"))


def preimages(series: Iterable[Path]) -> dict[str, str]:
    """Returns the abbreviated hash of each file before the series; "0...": a new file."""
    versions: dict[str, str] = {}
    for patch in series:
        text = patch.read_text()
        for name, old in re.findall(
            r"^diff --git a/(\S+) b/\S+\n(?:new file mode \d+\n)?index ([0-9a-f]+)\.\.", text, re.M
        ):
            versions.setdefault(name, old)
    return versions


def missing_release(tree: Path) -> str | None:
    """Returns why the series can't be applied to this tree, or None if it can."""
    if not (tree / "src" / "internet").is_dir():
        return f"{tree}: not an ns-3 source tree"
    for name, old in preimages(patches()).items():
        if set(old) == {"0"}:
            continue
        path = tree / name
        words = ["git", "hash-object", "--no-filters", str(path)]
        if not path.exists() or not run(words, ROOT).startswith(old):
            return f"{name} is not that of the commit in upstream/ns3/README.md"
    missing = [tool for tool in ("git", "cmake", "ninja") if not shutil.which(tool)]
    return f"no {', '.join(missing)}" if missing else None


def run(words: Sequence[str], folder: Path) -> str:
    """Runs a command, which must succeed; returns its output."""
    done = subprocess.run(
        words, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        raise Broken(f"{' '.join(words[:4])}: {done.stdout[-5000:]}")
    return done.stdout


def copy(tree: Path, to: Path) -> None:
    """Copies the needed part of a tree."""
    for name in NEEDED:
        if not (tree / name).exists():
            continue
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        if (tree / name).is_dir():
            shutil.copytree(tree / name, to / name, symlinks=True)
        else:
            shutil.copyfile(tree / name, to / name)
    (to / "ns3").chmod(0o755)
    run(["git", "init", "--quiet"], to)  # git apply ignores files inside another repository


def build(tree: Path) -> Path:
    """Builds the suites of both modules; returns ns-3's test runner."""
    cache = tree / "cmake-cache"
    if not cache.exists():
        cache.mkdir()
        run(["cmake", "-G", "Ninja", "..", *OPTIONS], cache)
    jobs = os.environ.get("WESTWOOD_NS3_JOBS", "2")
    run(["nice", "-n", "15", "ninja", f"-j{jobs}", "test-runner"], cache)
    return next(tree.glob("build/utils/ns3*-test-runner-*"))


def passes(runner: Path, suite: str) -> bool:
    """Runs a suite; returns False also if it crashes."""
    words = [str(runner), f"--suite={suite}"]
    with tempfile.TemporaryDirectory(prefix="ww-ns3-") as folder:
        words += [f"--tempdir={folder}"]
        tree = runner.parents[2]
        return subprocess.run(words, cwd=tree, capture_output=True).returncode == 0


def listed(runner: Path) -> list[str]:
    """Lists the suites of both modules."""
    return run([str(runner), "--list"], runner.parents[2]).split()


def failing(runner: Path) -> list[str]:
    """Lists the suites that fail."""
    return [suite for suite in listed(runner) if not passes(runner, suite)]


def suites(tree: Path, patch: Path) -> list[str]:
    """Lists the suites in the test files that a patch touches."""
    suites: list[str] = []
    for name in re.findall(r"^\+\+\+ b/(src/\S+/test/\S+)", patch.read_text(), re.M):
        suites += re.findall(r': TestSuite\("([^"]+)"', (tree / name).read_text())
    return suites


def prove(tree: Path, patch: Path) -> None:
    """Applies a patch's tests, which must fail, and then its rest, with which they must pass."""
    tests = [f"--include={pattern}" for pattern in TESTS]
    rest = [f"--exclude={pattern}" for pattern in TESTS]
    if not re.search(r"^\+\+\+ b/src/\S+/test/", patch.read_text(), re.M):
        run(["git", "apply", str(patch)], tree)
        print(f"  {patch.name}: applies; it has no test", flush=True)
        return
    run(["git", "apply", *tests, str(patch)], tree)
    runner = build(tree)
    concerned = suites(tree, patch)
    failed = [suite for suite in concerned if not passes(runner, suite)]
    if not failed:
        raise Broken(f"{patch.name}: {', '.join(concerned)} pass without it")
    run(["git", "apply", *rest, str(patch)], tree)
    runner = build(tree)
    for suite in concerned:
        if not passes(runner, suite):
            raise Broken(f"{patch.name}: {suite} fails with it")
    print(f"  {patch.name}: {', '.join(failed)} failed before, passes now", flush=True)


def check_style(tree: Path) -> str:
    """Runs ns-3's style check on the files of the series; returns which part was checked."""
    touched = [name for name in preimages(patches()) if (tree / name).exists()]
    script = (tree / "utils" / "check-style-clang-format.py").read_text()
    least, most = (
        int(re.findall(rf"CLANG_FORMAT_{end}_VERSION = (\d+)", script)[0]) for end in ("MIN", "MAX")
    )
    words = [sys.executable, "utils/check-style-clang-format.py", *touched]
    names = ["clang-format", *(f"clang-format-{n}" for n in range(least, most + 1))]
    for name in names:
        text = (
            subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if (shutil.which(name))
            else ""
        )
        version = re.search(r"version (\d+)", text)
        if version and least <= int(version[1]) <= most:
            run(words, tree)
            return f"checked, by clang-format {version[1]}"
    run([*words, "--no-formatting"], tree)
    return f"checked except for formatting: no clang-format {least} to {most}"


def main(source: Path) -> int:
    reason = missing_release(source)
    if reason:
        print(reason)
        return LACKING
    shutil.rmtree(HOME, ignore_errors=True)
    try:
        copy(source, HOME)
        before = failing(build(HOME))
        for patch in patches():
            prove(HOME, patch)
        runner = build(HOME)
        broken = [suite for suite in failing(runner) if suite not in before]
        if broken:
            raise Broken(f"with the series {', '.join(broken)} fail")
        excused = f" except {', '.join(before)}, as without the series" if before else ""
        print(f"  {len(listed(runner))} suites of both modules pass{excused}", flush=True)
        print(f"  style: {check_style(HOME)}", flush=True)
    except Broken as error:
        print(error)
        return 1
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m upstream.ns3_series TREE")
    sys.exit(main(Path(sys.argv[1]).resolve()))
