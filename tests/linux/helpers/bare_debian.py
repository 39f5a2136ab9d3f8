# SPDX-License-Identifier: BSD-3-Clause
"""A Debian 12 in a folder, with Python and without a compiler, in which a test runs shell scripts.

A script's mounts, and its /proc, /sys, /dev and bpffs, are in namespaces of their own. They
disappear with the script's last process, so that no mount is left when the folder is removed. So
do the controls that it loads, because they are pinned in that bpffs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

CODENAME = "bookworm"
PACKAGES = "python3,python3-venv,iperf3,ca-certificates"
ROOT = Path(__file__).resolve().parents[3]
BASE = ROOT / "build" / "journey" / CODENAME
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PIP_FILES = ("/etc/pip.conf", "~/.pip/pip.conf", "~/.config/pip/pip.conf")  # the last one wins
_ENTER = """\
mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount -t sysfs sys "$0/sys" &&
mount -t bpf -o mode=0700 bpf "$0/sys/fs/bpf" && exec chroot "$0" /bin/bash -s"""


def missing_reason() -> str | None:
    """Returns why there can be no such Debian, or None if it is below build/ now."""
    if BASE.exists():
        return None
    if shutil.which("debootstrap") is None:
        return "no debootstrap: tools/system.sh slow"
    part = BASE.with_name(f".{CODENAME}-{os.getpid()}")
    part.parent.mkdir(parents=True, exist_ok=True)
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", CODENAME]
    done = subprocess.run([*command, part, _mirror()], capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(part, ignore_errors=True)
        return f"debootstrap: {(done.stdout.strip() or done.stderr.strip()).splitlines()[-1]}"
    part.rename(BASE)
    return None


def _mirror() -> str:
    """Returns the Debian mirror of this machine's apt."""
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian"]
    output = subprocess.run([*words, f"Codename: {CODENAME}"], capture_output=True, text=True)
    return next(iter(output.stdout.split()), "http://deb.debian.org/debian")


class BareDebian:
    """A writable copy for one test; its pip uses this machine's package index."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / CODENAME
        subprocess.run(["cp", "-a", "--reflink=auto", BASE, self.root], check=True)
        for path in ("/etc/resolv.conf", "/etc/hosts", str(CERTIFICATES)):
            self._copy(Path(path), path)
        for path in PIP_FILES:
            self._copy(Path(path).expanduser(), "/etc/pip.conf")

    def _copy(self, path: Path, to: str) -> None:
        if path.is_file():
            (self.root / to.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.root / to.lstrip("/"))

    def run(self, script: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
        """Runs a bash script as root; `stdout` has both outputs."""
        kept = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT", "PIP_DEFAULT_TIMEOUT")
        names = (*kept, "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        environment = {name: os.environ[name] for name in names if name in os.environ}
        environment |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation"]
        return subprocess.run(
            [*unshare, "private", "sh", "-c", _ENTER, str(self.root)],
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            timeout=timeout_s,
        )
