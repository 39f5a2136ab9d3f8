# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of memory, disk space and time agree with values computed by hand."""

import math
from pathlib import Path
from typing import Any

import pytest

from westwood import InputError, Scenario
from westwood.engines import machine, resources
from westwood.engines.resources import Recorded, ResourceEstimate, estimate_many, estimate_run

# 83 333 packets of 1500 bytes in 100 s; 33.3 of them in flight, and up to 100 in the queue.
LINK = {"name": "path", "between": ["a", "b"], "rate": "10Mbps", "delay": "20ms"}
FLOW = {"name": "tcp", "from": "a", "to": "b", "cc": "cubic"}
PACKETS = 1e9 / 12_000
MB = 1e6


def scenario(**more: Any) -> Scenario:
    return Scenario(**{"name": "small", "duration": "100s", "link": [LINK], "flow": [FLOW]} | more)


def packets(*flows: dict[str, Any], link: dict[str, Any] = LINK, **more: Any) -> float:
    """Returns the packets of a run, from the time that it takes."""
    scenario_ = scenario(flow=list(flows), link=[link], **more)
    count = sum(flow.count for flow in scenario_.flow)
    return (estimate_run(scenario_).seconds - 0.4e-3 * count) / 60e-9


def test_a_run_has_a_fixed_size_and_its_flows_and_segments():
    estimate = estimate_run(scenario())
    assert estimate.memory == pytest.approx(
        {"duration": 5 * MB, "tcp.count": 7200, "tcp.receive_window": 100 * (2 * 33.333 + 100)},
        rel=1e-4,
    )
    assert estimate.memory_bytes == pytest.approx(sum(estimate.memory.values()))
    assert estimate.disk == {} and estimate.disk_bytes == 0
    assert estimate.seconds == pytest.approx(PACKETS * 60e-9 + 0.4e-3)


@pytest.mark.parametrize(
    ("recorded", "rows", "in_memory", "on_disk"),
    [
        (Recorded(windows=True), 1, 260, 124),
        (Recorded(events=True), 2, 110, 60),
        (Recorded(queues=True), 1.5, 350, 58),
        (Recorded(capture="path"), 1.5, 170, 124),  # with the ACKs
        (Recorded(capture="another"), 0, 0, 0),
    ],
)
def test_what_is_recorded_takes_rows(recorded, rows, in_memory, on_disk):
    estimate = estimate_run(scenario(), recorded)
    count = rows * PACKETS
    assert estimate.memory["duration"] == pytest.approx(5 * MB + in_memory * count)
    assert estimate.seconds == pytest.approx(PACKETS * 60e-9 + 0.4e-3 + 0.7e-6 * count)
    spooled = estimate_run(scenario(), Recorded(**vars(recorded) | {"on_disk": True}))
    assert spooled.disk == {"duration": pytest.approx(on_disk * count)}
    assert spooled.memory["duration"] == pytest.approx(5 * MB + on_disk * count)
    long = estimate_run(scenario(duration="100000s"), Recorded(windows=True, on_disk=True))
    assert long.memory["duration"] == pytest.approx(255 * MB), "the rest is on disk only"


@pytest.mark.parametrize("cc", ["bbr", str(Path(__file__).parents[3] / "controls" / "areno.c")])
def test_rows_with_a_mode_or_quantities_take_more(cc):
    shown = scenario(flow=[{**FLOW, "cc": cc}])
    estimate = estimate_run(shown, Recorded(windows=True, on_disk=True))
    assert estimate.disk == {"duration": pytest.approx(206 * PACKETS)}


def test_datagrams_are_captured_without_acks():
    udp = {"name": "udp", "from": "a", "to": "b", "app": {"kind": "udp", "rate": "2Mbps"}}
    estimate = estimate_run(scenario(flow=[udp]), Recorded(capture="path"))
    assert estimate.memory["duration"] == pytest.approx(5 * MB + 170 * PACKETS / 5)


def test_other_engines_are_programs_with_their_own_speed():
    ns3, linux = (estimate_run(scenario(), engine=name) for name in ("ns3", "linux"))
    assert ns3.memory["--engine"] == linux.memory["--engine"] == 150 * MB
    assert ns3.seconds == pytest.approx(PACKETS * 20e-6 + 0.4e-3)
    assert linux.seconds == pytest.approx(100 + 0.4e-3), "it runs in real time"


class TestThePacketsOfARun:
    def test_follow_from_the_link_whatever_the_number_of_flows(self):
        assert packets(FLOW) == pytest.approx(PACKETS)
        assert packets({**FLOW, "count": 7}) == pytest.approx(PACKETS)
        assert packets(FLOW, {**FLOW, "name": "b"}) == pytest.approx(PACKETS)

    def test_follow_from_the_time_in_which_a_flow_sends(self):
        assert packets({**FLOW, "start": "20s", "stop": "60s"}) == pytest.approx(0.4 * PACKETS)
        assert packets({**FLOW, "start": "20s", "stop": "900s"}) == pytest.approx(0.8 * PACKETS)

    def test_are_limited_by_the_receivers_window(self):
        """14 480 bytes of payload in 40 ms are ten packets: 3 Mb/s."""
        small = {**FLOW, "receive_window": "14480B"}
        assert packets(small) == pytest.approx(0.3 * PACKETS)
        assert packets({**small, "count": 2}) == pytest.approx(0.6 * PACKETS)
        assert packets({**small, "count": 9}) == pytest.approx(PACKETS)
        far = {**LINK, "delay": "40ms"}
        assert packets(small, link=far) == pytest.approx(0.15 * PACKETS)

    def test_are_limited_by_the_size_of_a_transfer(self):
        assert packets({**FLOW, "size": "1448000B"}) == pytest.approx(1000)
        arrivals = {"every": "1s", "size": "14480B"}
        assert packets({**FLOW, "arrivals": arrivals}) == pytest.approx(1000)

    def test_are_those_of_a_source_that_is_on_for_a_part_of_the_time(self):
        app = {"kind": "udp", "rate": "6Mbps"}
        udp = {"name": "udp", "from": "a", "to": "b", "app": app}
        assert packets(udp) == pytest.approx(0.6 * PACKETS)
        some = {**udp, "app": {**app, "on": "1s", "off": "3s"}}
        assert packets(some) == pytest.approx(0.15 * PACKETS)

    def test_are_shared_so_that_others_get_what_a_small_flow_leaves(self):
        small = {**FLOW, "name": "small", "receive_window": "14480B"}
        estimate = estimate_run(scenario(flow=[FLOW, small]), Recorded(capture="path"))
        assert estimate.seconds == pytest.approx(PACKETS * (60e-9 + 1.5 * 0.7e-6) + 0.8e-3)
        groups = resources._shared(
            scenario_ := scenario(flow=[FLOW, small]), {"path": scenario_.link[0]}
        )
        assert [group.bps for group in groups] == pytest.approx([7e6, 3e6])

    def test_are_those_of_each_direction(self):
        back = {**FLOW, "name": "back", "from": "b", "to": "a"}
        assert packets(FLOW, back) == pytest.approx(2 * PACKETS)

    def test_are_those_that_the_links_direction_can_carry(self):
        """A packet of 1504 bytes every 4 ms forward is 3 Mb/s; backward the link has 10."""
        varying = {**LINK, "trace": {"forward": [4]}}
        back = {**FLOW, "name": "back", "from": "b", "to": "a"}
        scenario_ = scenario(link=[varying], flow=[FLOW, back])
        groups = resources._shared(scenario_, {"path": scenario_.link[0]})
        assert [group.bps for group in groups] == pytest.approx([3.008e6, 10e6], rel=0.01)

    def test_are_those_of_the_slowest_link_on_the_way(self):
        access = {"name": "access", "between": ["c", "a"], "rate": "2Mbps", "delay": "1ms"}
        far = {**FLOW, "name": "far", "from": "c"}
        scenario_ = scenario(link=[LINK, access], flow=[FLOW, far])
        groups = resources._shared(scenario_, {link.name: link for link in scenario_.link})
        assert [group.bps for group in groups] == pytest.approx([8e6, 2e6], rel=0.01)


class TestTheMemoryOfAFlow:
    def memory(self, flow: dict[str, Any], **link: Any) -> dict[str, float]:
        scenario_ = scenario(flow=[{**FLOW, **flow}], link=[{**LINK, **link}])
        return dict(estimate_run(scenario_).memory)

    def test_is_its_window_where_that_is_less_than_the_path_holds(self):
        estimate = self.memory({"receive_window": "14480B", "count": 3})
        assert estimate["tcp.receive_window"] == pytest.approx(100 * 3 * 10)
        assert estimate["tcp.count"] == 3 * 7200

    def test_has_a_share_of_the_queue(self):
        memory = self.memory({"count": 2})
        assert memory["tcp.receive_window"] == pytest.approx(100 * 2 * (33.333 + 50), rel=1e-4)
        longer = self.memory({}, queue={"limit": "15000B"})
        assert longer["tcp.receive_window"] == pytest.approx(100 * (66.667 + 10), rel=1e-4)
        unlimited = self.memory({}, queue={"limit": "unlimited"})
        assert unlimited["tcp.receive_window"] == pytest.approx(100 * 2**20 / 1448)

    def test_is_that_of_its_transfers_and_of_those_that_the_link_cannot_carry(self):
        some = self.memory({"arrivals": {"every": "1s", "size": "14480B"}})
        assert some["tcp.arrivals.every"] == pytest.approx(100 * 200)
        assert "tcp.receive_window" not in some
        many = self.memory({"arrivals": {"every": "1ms", "size": "14480B"}})
        assert many["tcp.arrivals.every"] == pytest.approx(
            100_000 * (200 + (1 - 10 / 120) * 2200), rel=1e-3
        )


def test_a_sweep_keeps_points_and_rows_besides_what_runs_at_a_time():
    small, large = scenario(), scenario(flow=[{**FLOW, "count": 3}])
    estimate = estimate_many([small, large], points=10, seeds=4, at_a_time=2)
    memory = estimate_run(large).memory
    assert estimate.memory == pytest.approx(
        {
            **{key: 2 * size for key, size in memory.items()},
            "sweep": 12_000 * 10 + 7200 * 10 * 4 * 3,
        }
    )
    each_s = (estimate_run(small).seconds + estimate_run(large).seconds) / 2
    assert estimate.seconds == pytest.approx(40 * each_s + 10 * 3e-3)
    assert "seeds" in estimate_many([small], points=3, seeds=4, at_a_time=1).memory
    assert "sweep" in estimate_many([small], points=4, seeds=4, at_a_time=1).memory


def test_a_sample_of_the_points_has_the_first_and_the_last():
    points: Any = list(range(160))
    assert resources.sample(points) == [*range(0, 160, 10), 159]
    assert resources.sample(points[:3]) == [0, 1, 2, 2]


@pytest.mark.parametrize(
    ("size", "free", "is_refused"),
    [(31e6, 1e6, False), (32e6, 1e6, True), (90e6, 100e6, False), (91e6, 100e6, True)],
)
def test_more_than_nine_tenths_of_what_is_free_is_refused(size, free, is_refused, monkeypatch):
    """Less than 32 MB is never refused."""
    monkeypatch.setattr(machine, "free_memory", lambda: free)
    monkeypatch.setattr(machine, "free_disk", lambda _: math.inf)
    estimate = ResourceEstimate({"duration": 1e6, "seeds": size - 1e6}, {}, 1.0)
    if is_refused:
        with pytest.raises(InputError, match=r"^seeds = 10: takes about .* with 3 workers, and"):
            resources.check(estimate, scenario(seeds=10), workers=3)
        with pytest.raises(InputError, match=r"^seeds = 10: takes about [0-9.]+ MB of memory, and"):
            resources.check(estimate, scenario(seeds=10), workers=1)
    else:
        resources.check(estimate, scenario(), workers=3)
    monkeypatch.setattr(machine, "free_memory", lambda: math.inf)
    monkeypatch.setattr(machine, "free_disk", lambda _: free)
    on_disk = ResourceEstimate({}, {"duration": size}, 1.0)
    if is_refused:
        with pytest.raises(InputError, match=r"^duration = \"100s\": .* MB of disk space, and"):
            resources.check(on_disk, scenario(), workers=3)
    else:
        resources.check(on_disk, scenario())


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (999, "0.999 kB"),
        (999_400, "999 kB"),
        (999_500, "1 MB"),
        (1e6, "1 MB"),
        (123.4e6, "123 MB"),
        (1e9, "1 GB"),
        (2.5e12, "2.5 TB"),
    ],
)
def test_bytes_are_told_with_three_digits(size, text):
    assert resources.format_bytes(size) == text
