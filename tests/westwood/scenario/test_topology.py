# SPDX-License-Identifier: BSD-3-Clause
"""A flow's shortest path has at most 255 links, however many the network has."""

import pytest

from westwood import InputError, Scenario
from westwood.scenario import topology
from westwood.scenario.links import Link

LINK = {"name": "l", "between": ["a", "b"], "rate": "1Mbps", "delay": "10ms"}
FLOW = {"name": "f", "from": "a", "to": "b", "cc": "reno"}
ONE = Scenario(name="one", duration="1s", link=[LINK], flow=[FLOW])


def linked(name: str, end: str, other: str) -> Link:
    return ONE.link[0].model_copy(update={"name": name, "between": (end, other)})


def check(links: list[Link], to: str) -> None:
    """Checks a flow from n0 to this node."""
    flow = ONE.flow[0].model_copy(update={"from_": "n0", "to": to})
    topology.check(links, [flow], ())


def test_a_shortest_path_has_at_most_255_links():
    chain = [linked(f"l{place}", f"n{place}", f"n{place + 1}") for place in range(300)]
    check(chain[:255], "n255")
    check(chain, "n255")
    for links in (chain[:256], chain):
        with pytest.raises(InputError, match=r'f\.to = "n256": expected at most 255 links'):
            check(links, "n256")
    check([*chain, linked("shortcut", "n0", "n2")], "n256")
