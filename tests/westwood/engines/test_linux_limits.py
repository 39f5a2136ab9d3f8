# SPDX-License-Identifier: BSD-3-Clause
"""A scenario that Linux can't run is refused with the setting and what Linux expects.

tests/linux/path/test_engine.py runs what it accepts.
"""

from __future__ import annotations

import errno
from typing import Any

import pytest
from one_link import one_link

from westwood import Scenario
from westwood.engines import linux_emulated, linux_limits
from westwood.errors import InputError, UnavailableError
from westwood.kernel import emulated


@pytest.fixture(autouse=True)
def any_kernel(monkeypatch):
    """Has every congestion control."""
    monkeypatch.setattr(linux_limits, "is_missing", lambda control: False)


UDP = {"app": {"kind": "udp", "rate": "1Mbps"}}


def scenario(*flows: dict[str, Any], **settings: Any) -> Scenario:
    tables = [
        {"name": f"tcp{number or ''}", **({} if "app" in flow else {"cc": "reno"}), **flow}
        for number, flow in enumerate(flows or ({},))
    ]
    return one_link(*tables, duration="1s", profile="linux").with_settings(settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"tcp.packet": "140B"},
        {"tcp.header": "40B", "tcp.timestamps": False},
        {"tcp.delayed_ack": 1},
        {"tcp.min_rto": "1ms", "tcp.clock_granularity": "1ms"},
        {"tcp.max_rto": "1s"},
        {"tcp.max_rto": "120s"},
        {"tcp.dupack_threshold": 300},
        {"tcp.cc": {"name": "cubic", "slow_start": "hystart"}},
        {"tcp.recovery": "newreno", "tcp.timestamps": False, "tcp.rack": False},
    ],
)
def test_a_setting_at_the_limits_of_linux_is_accepted(settings):
    accepted = scenario(**settings)
    if settings.get("tcp.recovery") == "newreno":  # without SACK Linux has none of its children
        fixed = linux_limits.fixed(accepted.flow[0])
        names = ("timestamps", "rack", "frto", "undo")
        assert [fixed[name] for name in names] == [False] * 4
        return
    linux_limits.check(accepted)


def test_a_datagram_has_room_for_ip_and_udp():
    linux_limits.check(scenario({**UDP, "header": "28B"}))
    with pytest.raises(InputError, match=r'tcp\.header = "27B": .*at least 28B, IP and UDP'):
        linux_limits.check(scenario({**UDP, "header": "27B"}))


def test_a_host_has_one_value_of_a_setting_for_all_of_its_flows():
    linux_limits.check(scenario({"header": "40B", "timestamps": False}, {**UDP, "header": "28B"}))
    other = {"header": "40B", "timestamps": False}
    with pytest.raises(InputError, match=r"tcp1\.header = .*the same for all flows from a, since"):
        linux_limits.check(scenario({}, other))
    linux_limits.check(scenario({}, {**other, "from": "b", "to": "a"}))
    with pytest.raises(InputError, match=r"tcp1\.dupack_threshold = 5: .*the same for all flows"):
        linux_limits.check(scenario({}, {"dupack_threshold": 5}))


def test_a_machine_has_room_for_4096_flows():
    linux_limits.check(scenario({"count": 4096}))
    with pytest.raises(InputError, match=r"flow = 4097: engine linux expects at most 4096 flows"):
        linux_limits.check(scenario({"count": 4097}))


def test_a_control_that_this_kernel_lacks_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setattr(linux_limits, "is_missing", lambda control: control != "reno")
    monkeypatch.setattr(linux_emulated, "missing_reason", lambda controls: "no emulator")
    linux_limits.check(scenario())
    for cc, remedy in (
        ("westwood+", r"no congestion control ww_plus: westwood kernel load"),
        ("vegas", r"no congestion control vegas: modprobe tcp_vegas"),
    ):
        with pytest.raises(UnavailableError, match=remedy):
            linux_limits.check(scenario({"cc": cc}))
    assert not linux_limits.is_emulated(scenario({"cc": "vegas"}))
    monkeypatch.setattr(linux_emulated, "missing_reason", lambda controls: None)
    assert linux_limits.is_emulated(scenario({"cc": "vegas"}))
    assert not linux_limits.is_emulated(scenario())
    linux_limits.check(scenario({"cc": "vegas"}))
    assert linux_limits.controls_of(scenario({"cc": "vegas"}, {}, UDP)) == {"vegas", "reno"}


def test_a_control_that_the_emulated_kernel_lacks_is_named(monkeypatch):
    monkeypatch.setattr(emulated, "missing_reason", lambda: None)
    assert linux_emulated.missing_reason(["reno", "vegas"]) is None
    expected = "Debian's kernel has no illinois, ww_plus"
    assert linux_emulated.missing_reason(["ww_plus", "cubic", "illinois"]) == expected


@pytest.mark.parametrize(
    ("code", "is_missing"), [(errno.EPERM, False), (errno.ENOENT, True), (0, False)]
)
def test_a_control_that_may_not_be_used_here_exists(code, is_missing, monkeypatch):
    monkeypatch.undo()

    class Probe:
        def __enter__(self) -> Probe:
            return self

        def __exit__(self, *_: object): ...

        def setsockopt(self, *_: object):
            if code:
                raise OSError(code, "no")

    monkeypatch.setattr(linux_limits.socket, "socket", lambda *_: Probe())
    assert linux_limits.is_missing("reno") is is_missing
