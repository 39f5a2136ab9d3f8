# SPDX-License-Identifier: BSD-3-Clause
"""Builds ns3/ in ns-3's own source tree, as a contrib module, and runs its suites there:
`ns3_tree.py 3.37`.

The sources are those that Debian has, from the mirror that this machine's apt uses, held against
their SHA-256. The module is linked to contrib/ww-westwood, with asserts and logs on, and every
suite runs by ns-3's own test.py; then a copy takes the link's place. This takes ten minutes of CPU.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "ns3" / "trees"
LACKING = 77
RELEASES = {  # SHA-256 of ns3_RELEASE.orig.tar.bz2
    "3.37": "dfa5ca1994ff3dbe1d4b23cef54e05e6079f5707a2ed6055f717bdd5b458c38d",  # Debian 12
    "3.43": "b8873410948be3ae468ff97e7dfca3d6d8248a2c831e9f24d015483009bafb8d",  # Debian 13
    "3.48": "5700ceecef2c9bc862502914b2237fe798d4c7ae07652247050e300e49407c4d",  # unstable
}


def sources(release: str) -> Path:
    """Returns the folder of ns-3's own tree, fetched and unpacked if it is not there."""
    folder = HOME / release
    if not folder.exists():
        archive = HOME / f"ns3_{release}.orig.tar.bz2"
        if not archive.exists():
            fetch(archive)
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != RELEASES[release]:
            archive.unlink()
            raise RuntimeError(f"{archive.name}: SHA-256 {found}, not {RELEASES[release]}")
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
            continue  # another archive of this machine's may have it
    raise RuntimeError(f"{archive.name}: no Debian mirror of this machine's apt has it")


def call(tree: Path, *words: str) -> str:
    done = subprocess.run(
        words, cwd=tree, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        raise ValueError(f"{' '.join(words)}\n{done.stdout[-5000:]}")
    return done.stdout


def prove(tree: Path) -> None:
    """Build what contrib/ww-westwood is, and run its suites."""
    call(
        tree,
        *("./ns3", "configure", "--enable-tests", "--enable-examples", "-d", "release"),
        *("--enable-asserts", "--enable-logs", "--filter-module-examples-and-tests=ww-westwood"),
        "--enable-modules=ww-westwood;csma",  # 3.37's own tests do not link without csma
    )
    call(tree, "cmake", "--build", "cmake-cache", "-j", str(len(os.sched_getaffinity(0))))
    for path in sorted((ROOT / "ns3" / "test").glob("*-test-suite.cc")):
        suite = path.name.removesuffix("-test-suite.cc")
        if suite == "ww-acks" and not (tree / "contrib" / "ww-westwood").is_symlink():
            continue  # its recordings are not copied
        said = call(tree, "./test.py", "--no-build", "-f", "TAKES_FOREVER", "-s", suite)
        if "1 of 1 tests passed (1 passed" not in said:
            raise ValueError(said)
        print(f"  {suite}: PASS", flush=True)


def main(release: str) -> int:
    try:
        tree = sources(release)
    except RuntimeError as error:
        print(error)
        return LACKING
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    module = tree / "contrib" / "ww-westwood"
    try:
        for how in ("linked", "copied"):
            if module.is_symlink():
                module.unlink()
            shutil.rmtree(module, ignore_errors=True)
            if how == "linked":
                module.symlink_to(ROOT / "ns3")
            else:
                shutil.copytree(ROOT / "ns3", module)
                shutil.copytree(ROOT / "core", module / "core")
            print(f"ns-3 {release}, {how}", flush=True)
            prove(tree)
    except ValueError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in RELEASES:
        sys.exit(f"usage: ns3_tree.py {'|'.join(RELEASES)}")
    sys.exit(main(sys.argv[1]))
