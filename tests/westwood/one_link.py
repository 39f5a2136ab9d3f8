# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios of one link between two nodes, for tests of what flows do on it."""

from typing import Any

from westwood import Scenario

FILE = """
name = "mine"
duration = "5s"
[[link]]
name = "wire"
between = ["a", "b"]
rate = "1Mbps"
delay = "10ms"
[[flow]]
name = "tcp"
from = "a"
to = "b"
cc = "reno"
"""


BACK = {"from": "b", "to": "a"}  # of a flow in the other direction


def with_link(keys: str) -> str:
    """Returns FILE with these lines of its link."""
    return FILE.replace("[[flow]]", f"{keys}\n[[flow]]")


def one_link(*flows: Any, link: dict[str, Any] | None = None, **scenario: Any) -> Scenario:
    """Returns flows over the link "path", by default 10 Mb/s and 10 ms each way for 10 s.

    A flow is a control, or a table of a flow's settings. One flow is "tcp", several are f0, f1...
    None leaves the default of the link's rate or delay out.
    """
    tables = [flow if isinstance(flow, dict) else {"cc": flow} for flow in flows or ("cubic",)]
    names = ["tcp"] if len(tables) == 1 else [f"f{number}" for number in range(len(tables))]
    ends = {"from": "a", "to": "b"}
    flow = [{"name": name, **ends, **table} for name, table in zip(names, tables, strict=True)]
    speed = {"rate": "10Mbps", "delay": "10ms"}
    path = {"name": "path", "between": ["a", "b"], **speed, **(link or {})}
    path = {key: path[key] for key in path if key not in speed or path[key] is not None}
    return Scenario(**{"name": "s", "duration": "10s", "link": [path], "flow": flow} | scenario)
