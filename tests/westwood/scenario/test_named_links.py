# SPDX-License-Identifier: BSD-3-Clause
"""A link by name has the settings of its source; keys of the link replace them."""

from typing import Any

import pytest
from one_link import one_link

from westwood import Scenario, simulate
from westwood.engines import linux_queues, ns3_limits
from westwood.engines.export import ns3
from westwood.errors import InputError
from westwood.scenario import fragments, named_links

WIRE = {"name": "wire", "rate": None, "delay": None}


def linked_scenario(kind: object, profile: str = "rfc", **link: Any) -> Scenario:
    return one_link(link={**WIRE, "kind": kind, **link}, duration="20s", profile=profile)


@pytest.mark.parametrize("name", named_links.names())
def test_every_set_is_a_link_with_a_source_and_reasons(name):
    link = named_links.get(name)
    assert link.title and link.source and all(link.reasons.values())
    spelled = one_link(link={**WIRE, **link.settings}, duration="20s")
    assert linked_scenario(name) == spelled and linked_scenario(name).hash == spelled.hash
    (row,) = simulate(linked_scenario(name), seed=1).rows.to_dicts()
    assert 0 < row["goodput_bps"] <= linked_scenario(name).link[0].rate


def test_the_known_names():
    assert named_links.names() == ["cable", "dsl", "geo", "lte", "starlink", "wifi"]


def test_a_key_of_the_link_replaces_that_of_the_set():
    link = linked_scenario("starlink", rate="9Mbps", loss={"kind": "none"}, detour=None).link[0]
    assert (link.rate, link.loss.kind, link.detour) == (9_000_000, "none", None)
    assert link.delay == linked_scenario("starlink").link[0].delay
    recorded = linked_scenario("geo", delays={"forward": [7], "backward": [8]}).link[0]
    assert recorded.delay == 7 * 10**9, "a recording replaces the set's delay"
    traced = linked_scenario("geo", trace={"forward": [1], "backward": [1]}).link[0]
    assert traced.rate is None, "and its rate"


def test_a_direction_may_have_its_own_rate():
    """A download of DSL has the downstream rate, an upload the upstream rate."""
    up = {"name": "tcp", "cc": "cubic", "from": "b", "to": "a"}
    downstream = linked_scenario("dsl")
    upstream = Scenario(**{**downstream.given(), "flow": [up]})
    rates = [
        simulate(scenario, seed=1).rows["goodput_bps"][0] for scenario in (downstream, upstream)
    ]
    assert rates == pytest.approx([1_500_000, 384_000], rel=0.08)
    (link,) = upstream.link
    assert [link.mean_rate_bps(side) for side in ("forward", "backward")] == [1.5e6, 384e3]
    assert (
        linked_scenario("dsl", trace={"forward": [1], "backward": [1]}).link[0].backward_rate
        is None
    )
    for wrong, key in (
        ({"trace": {"backward": [1]}}, "backward_rate"),
        ({"trace": {"forward": [1]}}, "rate"),
        ({"backward_rate": "fast"}, "backward_rate"),
    ):
        with pytest.raises(InputError, match=rf"^wire\.{key} = "):
            linked_scenario("dsl", **wrong)


def test_the_export_to_ns3_refuses_two_rates():
    with pytest.raises(InputError, match=r'^wire\.backward_rate = "384kbps": export expects one'):
        ns3.program(linked_scenario("dsl", "ns3-3.44"))


def test_a_sweep_of_names_survives_being_written(tmp_path):
    swept = linked_scenario("dsl", queue={"limit": "9p"}).with_sweep(
        {"wire.kind": ["dsl", "starlink"]}
    )
    (tmp_path / "again.toml").write_text(swept.to_toml(), encoding="utf-8")
    for scenario in (swept, Scenario.from_toml(tmp_path / "again.toml")):
        links = [point.link[0] for _, point in scenario.points()]
        assert [link.rate for link in links] == [1_500_000, 49_000_000]
        assert [link.jitter for link in links] == [0, 5 * 10**9]
        assert [link.queue.limit.count for link in links] == [9, 9]


def test_a_link_to_the_laboratory_has_the_settings_and_not_the_name():
    assert fragments.of_scenario(linked_scenario("wifi")) == fragments.packed(
        named_links.spelled_out(linked_scenario("wifi").given()), "s"
    )


def test_ns3_and_linux_refuse_what_they_lack_by_its_key():
    with pytest.raises(InputError, match=r"^wire\.ack_filter = .*engine ns3 expects no trace"):
        ns3_limits.check(linked_scenario("cable", "ns3-3.44"))
    for name in ("dsl", "geo", "lte", "starlink", "wifi"):
        ns3_limits.check(linked_scenario(name, "ns3-3.44"))
    for key, value in (
        ("reroute", {"at": ["1s"], "delay": ["9ms"]}),
        ("delays", {"forward": [3]}),
    ):
        ns3_limits.check(linked_scenario("dsl", "ns3-3.44", **{key: value}))
    with pytest.raises(InputError, match=r"^wire\.ack_filter = .*engine linux expects none"):
        linux_queues.check(linked_scenario("cable", "linux"))
    for name in ("dsl", "geo", "lte", "starlink", "wifi"):
        linux_queues.check(linked_scenario(name, "linux"))


def test_a_link_of_exactly_the_longest_length_is_made():
    """A quick estimate turns away what is far too long; the length decides on the rest."""
    scenario = Scenario.preset("path").with_settings({"duration": "7s"})
    fragment = fragments.of_scenario(scenario)
    length = len(fragment) - len("#t=")
    assert fragments.of_scenario(scenario, length) == fragment
    for most in (length - 1, 1):
        with pytest.raises(InputError, match="too long for a link"):
            fragments.of_scenario(scenario, most)
