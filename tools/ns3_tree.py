# SPDX-License-Identifier: BSD-3-Clause
"""Builds ns3/ as a contrib module in an ns-3 source tree, and runs its suites and its example:
`ns3_tree.py RELEASE [--compile] [--copied] [--slow]`.

WESTWOOD_NS3_TREES names a folder with ns-3 source trees in RELEASE/, such as 3.48/ or dev/. Without
it Debian's sources of three releases are fetched from the mirror of this machine's apt, and checked
by SHA-256. Both are copied to build/ns3/trees, so that the tree itself stays unchanged. The module
is linked to contrib/ww-westwood, with asserts and logs on, and ns-3's own test.py runs every suite.
With `--copied` a copy then replaces the link; `--slow` also runs the figures of the papers. This
takes ten minutes of CPU, and little with ccache. With `--compile` ns-3 is neither built nor run: a
minute of CPU compiles the module, its suites, its programs and an exported scenario.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "ns3" / "trees"
VARIABLE = "WESTWOOD_NS3_TREES"
LACKING = 77
COMPILE, COPIED, SLOW = OPTIONS = ("--compile", "--copied", "--slow")
DEBIANS = {  # SHA-256 of ns3_RELEASE.orig.tar.bz2
    "3.37": "dfa5ca1994ff3dbe1d4b23cef54e05e6079f5707a2ed6055f717bdd5b458c38d",  # Debian 12
    "3.43": "b8873410948be3ae468ff97e7dfca3d6d8248a2c831e9f24d015483009bafb8d",  # Debian 13
    "3.48": "5700ceecef2c9bc862502914b2237fe798d4c7ae07652247050e300e49407c4d",  # unstable
}
EXPORTED, RUNNER = "ww-exported", "ww-ns3-runner"
SCENARIO = ("table1", "--cc", "westwood+", "--set", "duration=20s")
EXAMPLE = "ww-fig5 --protocols=westwood+,newreno --per=0.01 --seconds=20 --runs=1"


def sources(release: str) -> Path:
    """Returns an ns-3 tree to build in; raises RuntimeError with one line if there is none."""
    if VARIABLE in os.environ:
        return copied(Path(os.environ[VARIABLE]) / release, HOME / release)
    if release not in DEBIANS:
        raise RuntimeError(f"{VARIABLE} names no folder with an ns-3 source tree in {release}/")
    return unpacked(release)


def copied(tree: Path, to: Path) -> Path:
    """Copies a tree's changed files; keeps what was built in the copy."""
    if not (tree / "VERSION").is_file() or not (tree / "ns3").is_file():
        raise RuntimeError(f"{tree} is not an ns-3 source tree ({VARIABLE})")

    def copy_if_new(source: str, target: str) -> None:
        seen = os.stat(target) if os.path.exists(target) else None
        status = os.stat(source)
        if seen is None or (seen.st_size, seen.st_mtime_ns) != (status.st_size, status.st_mtime_ns):
            shutil.copy2(source, target)

    shutil.copytree(
        tree,
        to,
        symlinks=True,
        ignore=shutil.ignore_patterns("build", "cmake-cache", ".git", ".lock-ns3*", "ww-westwood"),
        copy_function=copy_if_new,
        dirs_exist_ok=True,
    )
    return to


def unpacked(release: str) -> Path:
    """Fetches and unpacks Debian's sources unless they exist already."""
    folder = HOME / f"debian-{release}"
    if not folder.exists():
        archive = HOME / f"ns3_{release}.orig.tar.bz2"
        if not archive.exists():
            fetch(archive)
        checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
        if checksum != DEBIANS[release]:
            archive.unlink()
            raise RuntimeError(f"{archive.name}: SHA-256 {checksum}, not {DEBIANS[release]}")
        shutil.unpack_archive(archive, HOME / f"{release}.part", "bztar")
        (HOME / f"{release}.part").rename(folder)
    return next(
        path.parent for path in sorted(folder.glob("**/test.py")) if "src" not in path.parts
    )


def fetch(archive: Path) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI)"]
    try:
        mirrors = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        mirrors = []
    for mirror in sorted(set(mirrors)):
        try:
            with urllib.request.urlopen(f"{mirror}pool/main/n/ns3/{archive.name}") as answer:
                archive.write_bytes(answer.read())
                return
        except OSError:
            continue  # another of this machine's mirrors may have it
    raise RuntimeError(
        f"{archive.name}: no Debian mirror has it; set {VARIABLE} to a folder of trees"
    )


def export(tree: Path) -> None:
    """Writes a scenario as a program into the tree's scratch/."""
    out = tree / "scratch" / f"{EXPORTED}.cc"
    call(ROOT, sys.executable, "-m", "westwood", "ns3", "export", *SCENARIO, "--out", str(out))


def call(tree: Path, *words: str) -> str:
    done = subprocess.run(
        words, cwd=tree, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        raise ValueError(f"{' '.join(words)}\n{done.stdout[-5000:]}")
    return done.stdout


def configure(tree: Path) -> None:
    call(
        tree,
        *("./ns3", "configure", "-G", "Ninja", "--enable-tests", "--enable-examples"),
        *("-d", "release"),
        *("--enable-asserts", "--enable-logs", "--filter-module-examples-and-tests=ww-westwood"),
        # 3.37's own tests do not link without csma, and users' programs often need flow-monitor.
        "--enable-modules=ww-westwood;csma;flow-monitor",
        # Compiling takes much longer than running these tests.
        *(() if SLOW in sys.argv else ("--", "-D", "CMAKE_CXX_FLAGS_RELEASE=-O0")),
    )


def compile_only(tree: Path) -> None:
    """Compiles only the module's own files: its library, its suites and its examples."""
    configure(tree)
    words = ["ninja", "-C", "cmake-cache", "-t", "targets", "all"]
    targets = [line.partition(":")[0] for line in call(tree, *words).splitlines()]
    suites = [
        name
        for name in targets
        if name.endswith(".o") and ("contrib/ww-westwood/" in name or EXPORTED in name)
    ]
    if len(suites) < 2 * len(list((ROOT / "ns3" / "model").glob("*.cc"))):
        raise ValueError(f"the module has no objects among {len(targets)} targets")
    call(tree, "ninja", "-C", "cmake-cache", "-j", str(len(os.sched_getaffinity(0))), *suites)
    print(f"  {len(suites)} files compile", flush=True)


def prove(tree: Path) -> None:
    """Builds contrib/ww-westwood, and runs its suites and its example."""
    configure(tree)
    call(tree, "cmake", "--build", "cmake-cache", "-j", str(len(os.sched_getaffinity(0))))
    for path in sorted((ROOT / "ns3" / "test").glob("*-test-suite.cc")):
        suite = path.name.removesuffix("-test-suite.cc")
        if suite == "ww-acks" and not (tree / "contrib" / "ww-westwood").is_symlink():
            continue  # a copy lacks its recordings
        fullness = "TAKES_FOREVER" if SLOW in sys.argv else "EXTENSIVE"
        output = call(tree, "./test.py", "--no-build", "-f", fullness, "-s", suite)
        if "1 of 1 tests passed (1 passed" not in output:
            raise ValueError(output)
        print(f"  {suite}: PASS", flush=True)
    call(tree, "./ns3", "run", "--no-build", EXAMPLE)
    print(f"  {EXAMPLE.split()[0]}: runs", flush=True)
    compare(tree)


def compare(tree: Path) -> None:
    """Compares the exported scenario's figure with --engine ns3's; builds the runner outside."""
    output = call(tree, "./ns3", "run", "--no-build", EXPORTED)
    outside = tree / "ww-outside"
    words = ("-S", str(ROOT / "ns3"), "-B", str(outside), "-G", "Ninja")
    call(tree, "cmake", *words, "-D", f"NS3_ROOT={tree / 'build'}")
    call(tree, "cmake", "--build", str(outside), "--target", RUNNER)
    os.environ["WESTWOOD_NS3"] = str(outside / RUNNER)
    run = ("run", *SCENARIO, "--engine", "ns3", "--seeds", "1", "--json")
    (row,) = json.loads(call(ROOT, sys.executable, "-m", "westwood", *run))["runs"]
    if f"tcp: goodput {row['goodput_bps'] / 1e6:g} Mb/s" not in output:
        raise ValueError(f"{output}\nbut --engine ns3: {row['goodput_bps']}")
    print("  an exported scenario: same result as --engine ns3", flush=True)


def main(release: str, ways: tuple[str, ...]) -> int:
    try:
        tree = sources(release)
    except RuntimeError as error:
        print(error)
        return LACKING
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    module = tree / "contrib" / "ww-westwood"
    try:
        for how in ways:
            if module.is_symlink():
                module.unlink()
            shutil.rmtree(module, ignore_errors=True)
            if how == "linked":
                module.symlink_to(ROOT / "ns3")
            else:
                shutil.copytree(ROOT / "ns3", module)
                shutil.copytree(ROOT / "core", module / "core")
            export(tree)
            print(f"ns-3 {release}, {how}", flush=True)
            compile_only(tree) if COMPILE in sys.argv else prove(tree)
    except ValueError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word not in OPTIONS]
    if len(words) != 1 or "/" in words[0]:
        sys.exit(f"usage: ns3_tree.py RELEASE {' '.join(f'[{option}]' for option in OPTIONS)}")
    sys.exit(main(words[0], ("linked", "copied") if COPIED in sys.argv else ("linked",)))
