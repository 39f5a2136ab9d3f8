# SPDX-License-Identifier: BSD-3-Clause
"""tools/release.py names the reasons why a commit is not a release."""

import pytest

from tools import release

CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-21\n\n## [1.1.0] - 2026-01-05\n"


def test_tag_version_and_changelog_that_agree_are_a_release():
    assert release.complaints("1.2.0", CHANGELOG, ["v1.2.0", "other"], "") == []


@pytest.mark.parametrize(
    ("version", "changelog", "tags", "uncommitted", "expected"),
    [
        ("1.2.0", CHANGELOG, ["v1.1.0"], "", "no tag v1.2.0"),
        ("1.3.0", CHANGELOG, ["v1.3.0"], "", "the newest section is 1.2.0, not 1.3.0"),
        ("1.1.0", CHANGELOG, ["v1.1.0"], "", "the newest section is 1.2.0, not 1.1.0"),
        ("1.2.0", "## [1.2.0]\n", ["v1.2.0"], "", "is undated"),  # the section has no date
        ("1.2.0", CHANGELOG, ["v1.2.0"], " M Makefile\n", "uncommitted changes:\n M Makefile"),
    ],
)
def test_disagreements_are_named(version, changelog, tags, uncommitted, expected):
    (only,) = release.complaints(version, changelog, tags, uncommitted)
    assert expected in only


def test_the_version_is_declared_once():
    version = release.version()
    assert version.count(".") == 2
    for name in ("pyproject.toml", "CMakeLists.txt", "docs/conf.py", "CITATION.cff"):
        assert f'"{version}"' not in (release.ROOT / name).read_text()
        assert f"version: {version}" not in (release.ROOT / name).read_text()
        assert f"VERSION {version}" not in (release.ROOT / name).read_text()
