# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel default sets a default, remembers the old one, and restores exactly that."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from machine import Namespace, alone, other_than_reno, words

from westwood.errors import InputError, RunError, UnavailableError
from westwood.kernel import defaults, routes, saved_defaults, users, ww_kernel

ROUTE = "192.0.2.0/24"
CC = "net.ipv4.tcp_congestion_control"
OTHER = other_than_reno()
pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(OTHER == "reno", reason="every namespace may have reno only"),
]


@pytest.fixture(autouse=True)
def memory(tmp_path, monkeypatch) -> Path:
    """Stores the saved defaults in a temporary folder."""
    folder = tmp_path / "westwood"
    monkeypatch.setattr(saved_defaults, "FOLDER", folder)
    return folder


@pytest.fixture
def loaded(loaded) -> Path:
    """Lets namespaces have our controls as their default, which is for those of any user."""
    users.change(set(ww_kernel.CONTROLS), set())
    return loaded


@pytest.fixture
def host() -> Iterator[Namespace]:
    with alone() as namespace:
        namespace.run("sysctl", "-qw", f"{CC}={OTHER}")
        namespace.run("ip", "tuntap", "add", "d0", "mode", "tun")
        namespace.run("ip", "addr", "add", "198.51.100.1/24", "dev", "d0")
        namespace.run("ip", "link", "set", "d0", "up")
        yield namespace


def now(host: Namespace) -> str:
    return host.run("sysctl", "-n", CC).strip()


def entries(memory: Path) -> list[dict[str, Any]]:
    saved: list[dict[str, Any]] = json.loads((memory / "defaults.json").read_text())["entries"]
    return saved


def test_the_old_default_is_restored(host, memory):
    where = f"default of new sockets in network namespace of process {host.pid}"
    message = defaults.choose("reno", host.pid)
    assert message == [f"{where}: reno (was {OTHER}; westwood kernel default --restore)"]
    assert now(host) == "reno" and memory.stat().st_mode & 0o777 == 0o700
    assert defaults.lines(str(host.pid)) == [f"{where}: reno"]
    assert f"{where}: reno (was {OTHER})" in defaults.lines()
    assert defaults.restore() == [f"{where}: {OTHER} again"]
    assert now(host) == OTHER and entries(memory) == []
    assert defaults.restore() == ["nothing to restore: westwood kernel default has set no default"]


def test_after_two_changes_the_first_default_is_remembered(loaded, host):
    for name in ("reno", "ww_plus"):
        defaults.choose(name, host.pid)
    assert now(host) == "ww_plus"
    defaults.restore()
    assert now(host) == OTHER


def test_another_users_choice_is_kept(host, loaded):
    defaults.choose("ww_plus", host.pid)
    host.run("sysctl", "-qw", f"{CC}=reno")
    (message,) = defaults.restore()
    assert message.endswith("left alone, since somebody has set reno in the meantime")
    assert now(host) == "reno"


def test_unload_restores_the_default_and_reports_it(loaded, host):
    defaults.choose("ww_plus", host.pid)
    assert any(f"{OTHER} again" in line for line in defaults.before_unload())
    assert now(host) == OTHER


def test_unload_refuses_while_another_users_default_is_ours(loaded, host, westwood):
    host.run("sysctl", "-qw", f"{CC}=ww_plus")
    called = westwood("kernel", "unload")
    assert called.code == 1 and called.err.count("\n") == 1
    assert called.err.endswith(
        f"of process {host.pid}, which would keep it: "
        f"westwood kernel default reno --netns {host.pid}\n"
    )
    assert ww_kernel.status()["loaded"]


def test_the_advice_of_a_refused_unload_helps(loaded, host, westwood):
    """The old default is unloaded, so it can't be restored, and is not."""
    host.run("sysctl", "-qw", f"{CC}=ww_plus")
    *_, advice = westwood("kernel", "unload").err.strip().rpartition("westwood ")
    assert westwood(*advice.split()).code == 0 and now(host) == "reno"
    (message,) = defaults.before_unload()
    assert message.endswith(": reno stays, since ww_plus, which was there, is unloaded")
    assert now(host) == "reno" and defaults.restore()[0].startswith("nothing to restore")


class Killed(BaseException):
    """Stands in for SIGKILL between two system calls."""


@pytest.mark.parametrize("step", range(8))
def test_after_a_kill_anywhere_the_default_can_be_restored(host, monkeypatch, step):
    """The command is killed before or after each call with an effect that others see."""
    left = step

    def mortal(call: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == -1:
                raise Killed
            result = call(*given, **named)
            left -= 1
            if left == -1:
                raise Killed
            return result

        return instead

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", mortal(os.replace))
        patch.setattr(defaults, "_set", mortal(defaults._set))
        try:
            defaults.choose("reno", host.pid)
            defaults.restore()
        except Killed:
            assert now(host) in ("reno", OTHER)
    defaults.restore()
    assert now(host) == OTHER and left < 0
    assert defaults.restore()[0].startswith("nothing to restore")


def test_a_route_keeps_its_other_attributes(host):
    rest = "via 198.51.100.7 dev d0 proto static metric 50 mtu lock 1400 initcwnd 20"
    host.run("ip", "route", "add", ROUTE, *rest.split())
    before = host.run("ip", "route", "show", ROUTE)
    where = f"route {ROUTE} in network namespace of process {host.pid}"
    assert defaults.choose("reno", host.pid, ROUTE)[0].startswith(f"{where}: reno (was none of")
    shown = host.run("ip", "route", "show", ROUTE)
    assert "congctl reno" in shown and "mtu lock 1400 initcwnd 20" in shown and "metric 50" in shown
    assert defaults.restore(host.pid, ROUTE) == [f"{where}: none of its own again"]
    assert host.run("ip", "route", "show", ROUTE) == before


@pytest.mark.parametrize(
    "rest",
    [
        "nexthop via 198.51.100.7 dev d0 weight 1 nexthop via 198.51.100.8 dev d0 weight 2",
        f"dev d0 scope link src 198.51.100.1 congctl {OTHER}",
    ],
)
def test_a_route_of_several_hops_or_with_a_control(host, rest):
    host.run("ip", "route", "add", ROUTE, *rest.split())
    before = host.run("ip", "route", "show", ROUTE)
    defaults.choose("reno", host.pid, ROUTE)
    assert "congctl reno" in host.run("ip", "route", "show", ROUTE)
    defaults.restore()
    assert host.run("ip", "route", "show", ROUTE) == before


def test_a_route_of_ipv6_and_the_default_route(host):
    host.run("ip", "-6", "route", "add", "2001:db8::/32", "dev", "d0", "metric", "7")
    host.run("ip", "route", "add", "default", "via", "198.51.100.7")
    for prefix, asked in (("2001:db8::/32", "2001:db8::/32"), ("default", "default")):
        defaults.choose("reno", host.pid, prefix)
        assert "congctl reno" in host.run(
            "ip", "-6" if ":" in asked else "-4", "route", "show", asked
        )
    assert len(defaults.restore()) == 2


def test_new_connections_use_the_routes_control(loaded, host):
    host.run("ip", "route", "add", ROUTE, "dev", "d0")
    program = (
        "import socket; s = socket.socket(); s.setblocking(False); s.connect_ex(('192.0.2.9', 9)); "
        "print(s.getsockopt(6, 13, 16).rstrip(b'\\0').decode())"
    )
    defaults.choose("ww_plus", host.pid, ROUTE)
    assert host.run("python3", "-c", program).strip() == "ww_plus"
    defaults.restore()
    assert host.run("python3", "-c", program).strip() == OTHER


def test_controls_that_are_not_allowed_are_never_requested(host):
    """A namespace can't use a control that isn't allowed; asking for it leaks the control."""
    permitted = sorted(words("allowed"))
    for refused in sorted(words("available") - set(permitted)):
        expected = f"expected one that namespaces may have: {' '.join(permitted)}"
        with pytest.raises(InputError, match=expected):
            defaults.choose(refused, host.pid)
    with pytest.raises(InputError, match="expected one that namespaces may have"):
        defaults.choose("none", host.pid)
    with pytest.raises(InputError, match="no such route"):
        defaults.choose("reno", host.pid, ROUTE)
    with pytest.raises(InputError, match="expected a route's prefix"):
        defaults.choose("reno", host.pid, "192.0.2.1/24")
    with pytest.raises(InputError, match="expected the name of a congestion control"):
        defaults.choose("re no", host.pid)
    assert now(host) == OTHER


def test_one_that_only_root_may_choose_is_no_default_of_a_namespace(loaded, host):
    users.change(set(), {"ww_plus"})
    remedy = "westwood kernel load --allow-users ww_plus adds it"
    with pytest.raises(InputError, match=remedy):
        defaults.choose("ww_plus", host.pid)
    assert now(host) == OTHER


@pytest.mark.skipif(not os.access(users.ALLOWED, os.W_OK), reason="needs the first namespace")
def test_what_a_default_opened_to_users_is_closed_again(loaded):
    """In the first namespace, where Linux opens a control that becomes the default."""
    users.change(set(), {"ww_plus"})
    before = defaults._DEFAULT.read_text()
    try:
        defaults.choose("ww_plus")
        assert "ww_plus" in users.allowed()
        defaults.restore()
        assert "ww_plus" not in users.allowed() and defaults._DEFAULT.read_text() == before
        users.change({"ww_plus"}, set())
        defaults.choose("ww_plus")
        defaults.restore()
        assert "ww_plus" in users.allowed(), "somebody had opened it"
    finally:
        defaults._DEFAULT.write_text(before)


def test_an_unloaded_control_has_a_remedy(bpffs, host):
    ww_kernel.unload()
    with pytest.raises(UnavailableError, match="ww_plus is not loaded: westwood kernel load"):
        defaults.choose("ww_plus", host.pid)


def test_a_record_that_others_could_write_is_not_trusted(host, memory):
    memory.mkdir(mode=0o755)
    with pytest.raises(RunError, match="belongs to user 0, mode 755"):
        defaults.choose("reno", host.pid)
    memory.rmdir()
    memory.symlink_to(memory.parent)
    with pytest.raises(RunError, match="can't be used"):
        defaults.choose("reno", host.pid)
    assert now(host) == OTHER


def test_an_ended_namespace_is_forgotten(memory):
    with alone() as host:
        defaults.choose("reno", host.pid)
    assert defaults.restore()[0].endswith(": is gone") and entries(memory) == []


def test_the_previous_boot_is_forgotten(host, tmp_path, monkeypatch):
    defaults.choose("reno", host.pid)
    (tmp_path / "boot").write_text("another\n")
    monkeypatch.setattr(saved_defaults, "_BOOT", tmp_path / "boot")
    assert defaults.restore()[0].startswith("nothing to restore")


def test_the_command(host, westwood):
    called = westwood("kernel", "default", "reno", "--netns", host.pid)
    assert called.code == 0 and f": reno (was {OTHER}" in called.out
    state = json.loads(westwood("kernel", "status", "--json").out)
    (mine,) = [entry for entry in state["defaults"] if entry["netns"] == str(host.pid)]
    assert (mine["cc"], mine["before"], mine["route"]) == ("reno", OTHER, "")
    assert westwood("kernel", "default", "--restore").out.endswith(f"{OTHER} again\n")


def test_other_users_are_asked_to_be_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    with pytest.raises(UnavailableError, match="run as root"):
        defaults.restore()
    assert defaults.before_unload() == []


def test_prefixes_are_written_as_the_kernel_does():
    assert routes.prefix_of("default") == "0.0.0.0/0"
    assert routes.prefix_of("2001:DB8::/32") == "2001:db8::/32"
