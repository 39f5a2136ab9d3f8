# SPDX-License-Identifier: BSD-3-Clause
"""The patch series for ns-3 and Linux are well-formed, and ns-3's has the effects that it claims.

The slow test takes ns-3-dev from the folder `dev` in WESTWOOD_NS3_TREES.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from upstream import ns3_series

ROOT = Path(__file__).resolve().parents[2]
NS3, LINUX = ROOT / "upstream" / "ns3", ROOT / "upstream" / "linux"
PATCHES = [path for folder in (NS3, LINUX) for path in sorted(folder.glob("*.patch"))]
DEFECTS = ns3_series.patches()[:14]


def message(patch: Path) -> tuple[str, str]:
    """Returns a patch's subject, without its number, and the text below it."""
    head, _, _ = patch.read_text().partition("\n---\n")
    subject, _, body = head.partition("Subject: ")[2].partition("\n\n")
    return re.sub(r"^\[PATCH [\d/]+\] ", "", subject.replace("\n ", " ")), body


def files(patch: Path) -> list[str]:
    """Lists a patch's files; git rejects a hunk with a wrong line count."""
    words = ["git", "apply", "--numstat", str(patch)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line.split("\t")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("folder", [NS3, LINUX], ids=["ns3", "linux"])
def test_the_series_is_numbered_without_a_gap(folder):
    series = sorted(folder.glob("*.patch"))
    for number, patch in enumerate(series, 1):
        assert patch.name.startswith(f"{number:04d}-")
        subject = patch.read_text().partition("Subject: ")[2].partition("]")[0]
        assert [int(n) for n in re.findall(r"\d+", subject)] == [number, len(series)]


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.name[:24])
def test_a_patch_has_a_message_as_its_project_asks(patch):
    subject, body = message(patch)
    assert (
        re.match(r"(tcp|doc|traffic-control): (westwood: )?\w", subject) and len(subject) <= 72
    ), subject
    assert all(len(line) <= 76 for line in body.splitlines())
    assert len(body.split()) > 25
    if patch.parent == NS3:
        assert body.count("\nWho sees it: ") == 1


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.name[:24])
def test_a_patchs_added_lines_follow_the_style(patch):
    added = re.findall(r"^\+(?!\+\+ )(.*)$", patch.read_text().partition("\n---\n")[2], re.M)
    assert added
    code = [name for name in files(patch) if name.endswith((".cc", ".h", ".c"))]
    for line in added:
        assert line == line.rstrip(), line
        assert line.isascii(), line
        if patch.parent == NS3:
            assert "\t" not in line, line
            assert not code or len(line) <= 100, line
        else:
            assert len(line.expandtabs(8)) <= 80 and not line.startswith("  "), line


@pytest.mark.parametrize("patch", DEFECTS, ids=lambda path: path.name[:24])
def test_a_defect_is_a_patch_with_a_test(patch):
    touched = files(patch)
    for part in ("test", "model"):
        assert any(re.match(rf"src/(internet|traffic-control)/{part}/", path) for path in touched)


@pytest.mark.parametrize("folder", [NS3, LINUX], ids=["ns3", "linux"])
def test_the_page_names_each_patch_and_its_licence(folder):
    page = (folder / "README.md").read_text()
    assert "GPL-2.0" in page
    for patch in sorted(folder.glob("*.patch")):
        assert f"| {int(patch.name[:4])} |" in page, patch.name
    if folder == NS3:
        assert re.search(r"`[0-9a-f]{40}`", page)


def test_a_different_tree_is_rejected_by_name(tmp_path):
    assert "not an ns-3 source tree" in str(ns3_series.missing_release(tmp_path))
    (tmp_path / "src/internet").mkdir(parents=True)
    assert "is not that of the commit" in str(ns3_series.missing_release(tmp_path))


@pytest.mark.slow
def test_each_patch_fixes_its_test_and_ns3s_own_suites_pass():
    trees = os.environ.get("WESTWOOD_NS3_TREES")
    if not trees:
        pytest.skip("WESTWOOD_NS3_TREES names no folder with ns-3 trees")
    reason = ns3_series.missing_release(Path(trees) / "dev")
    if reason:
        pytest.skip(reason)
    assert ns3_series.main(Path(trees) / "dev") == 0
