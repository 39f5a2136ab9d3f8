# SPDX-License-Identifier: BSD-3-Clause
"""The controls that come with the package are named, checked, run and copied."""

import shutil

import pytest

from westwood import Scenario, simulate
from westwood.control import gallery

SHORT = ("--set", "tcp.recovery=sack", "--set", "duration=5s", "--seeds", "1", "--json")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("clang"), reason="needs gcc and clang")
@pytest.mark.parametrize("name", gallery.names())
def test_each_control_is_fit_for_every_host(name, westwood):
    called = westwood("control", "check", name, "--for", "0")
    failed = [line for line in called.out.splitlines() if line.startswith("FAILED")]
    if name == "tor_westwood.c":  # it takes jitter for congestion
        assert len(failed) == 1 and "20 ms jitter" in failed[0]
    else:
        assert called.code == 0 and not failed, called.out


def test_a_name_of_the_gallery_needs_no_folder(westwood, tmp_path):
    assert not (tmp_path / "hybla.c").exists()
    assert westwood("run", "path", "--cc", "hybla.c", *SHORT).code == 0


def test_a_file_beside_the_scenario_comes_before_the_gallery(westwood, tmp_path):
    (tmp_path / "hybla.c").write_text("no C", encoding="utf-8")
    assert "hybla.c:1: " in westwood("run", "path", "--cc", "hybla.c", *SHORT).err


@pytest.mark.parametrize("name", ["copa.c", "log_westwood.c"])
def test_a_control_can_be_copied_under_another_name(name, westwood, tmp_path):
    assert westwood("control", "new", "mine", "--like", name).code == 0
    path = Scenario.preset("path").with_settings({"duration": "2s"})
    same = [
        simulate(path.with_settings({"tcp.cc": cc}), 1).rows["goodput_bps"].item()
        for cc in (name, str(tmp_path / "mine.c"))
    ]
    assert same[0] == same[1] > 0
