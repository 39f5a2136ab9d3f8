# SPDX-License-Identifier: BSD-3-Clause
"""For a user without privileges a command works or fails in one line; root's files stay."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import nobody
import pytest
from cases import PLAN
from small_studies import SCENARIO

from tests.linux.helpers.machine import controls_to_ourselves

pytestmark = pytest.mark.skipif(bool(nobody.missing_reason()), reason=str(nobody.missing_reason()))

COMMANDS = (
    "kernel doctor",
    "kernel load",
    "kernel load --boot",
    "kernel unload",
    "kernel status",
    "kernel record --for 1s --out day.csv",
    "kernel default",
    "kernel default ww_plus",
    "kernel default --restore",
    "kernel watch --once",
    "path emulate --delay 1ms -- true",
    "path emulate --rate 1Mbps -- no-such-command",
    "path compare 127.0.0.1:9 --for 2s --out out",
    "path compare --emulated --for 2s --out out",
    "path campaign plan.toml --out out",
    "run small.toml --engine linux --seeds 1 --set profile=linux",
    "run small.toml --seeds 2 --out out",
    "run small.toml --seeds 2 --out roots",
    "run small.toml --seeds 2 --out /root/out",
    "run small.toml --plot --figure /etc/figure.svg",
    "sweep small.toml --seeds 2 --out roots/inner",
    "sweep small.toml --seeds 2 --out roots --resume",
    "trace small.toml --pcap roots/p.pcap --at bottleneck",
    "report roots",
    "ns3 export small.toml --out roots/scenario.cc",
    "path fit roots --out path.toml",
    "control stress --cc reno --harm idle --environments 20 --out roots",
    "evaluate reno --only clean --paths 4 --out roots",
)
CODES = (0, 1, 2, 3, 77, 127)
MOST_LINES = 3


@pytest.fixture
def roots(tmp_path) -> Iterator[Path]:
    """Makes a folder of another user that is read-only for nobody."""
    folder = nobody.owned(tmp_path / "home") / "roots"
    folder.mkdir(mode=0o755)
    (folder / "secret").write_text("nobody reads this")
    (folder / "secret").chmod(0o600)
    yield folder


def settings() -> dict[str, str]:
    """Returns the machine's settings that only root may change."""
    names = ("tcp_congestion_control", "tcp_available_congestion_control")
    texts = {name: Path("/proc/sys/net/ipv4", name).read_text() for name in names}
    folders = (Path("/sys/fs/bpf"), Path("/run/westwood"), Path("/etc"), Path("/var/lib/westwood"))
    return texts | {
        str(folder): str(sorted(os.listdir(folder))) for folder in folders if folder.is_dir()
    }


def test_whatever_nobody_asks_for_roots_files_and_settings_stay(attack, roots):
    home = roots.parent
    for choices in attack.rounds():
        (home / "small.toml").write_text(SCENARIO, encoding="utf-8")
        (home / "plan.toml").write_text(PLAN, encoding="utf-8")
        command = choices.choice(COMMANDS)
        with controls_to_ourselves():  # other tests load some
            before = settings(), sorted(roots.rglob("*"))
            done = nobody.westwood(command.split(), home)
            after = settings(), sorted(roots.rglob("*"))
        context = f"{command}: {done.returncode}\n{done.stderr}"
        assert done.returncode in CODES, context
        assert "Traceback" not in done.stderr, context
        assert done.stdout or done.stderr, context
        assert done.stderr.count("\n") <= MOST_LINES, context
        assert after == before, context
        for path in set(home.iterdir()) - {roots}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
