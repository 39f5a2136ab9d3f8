# SPDX-License-Identifier: BSD-3-Clause
"""What was reported of the stacks' controls, as it is seen at the pinned versions: docs/quic.md.

A new version of a stack may make one of these fail. Then the page changes, too.
"""

import pytest
from one_link import one_link

from westwood import simulate
from westwood.errors import RunError
from westwood.results.columns import Row

pytestmark = pytest.mark.usefixtures("quic_runner")


def row(
    engine: str, cc: str, *, duration: str = "20s", flow: dict[str, object], **link: object
) -> Row:
    scenario = one_link({"cc": cc, **flow}, link={"delay": "20ms", **link}, duration=duration)
    (row_,) = simulate(scenario, engine=engine).flow_rows
    return row_


def resent(cc: str) -> float:
    """Returns the share of packets lost by bursts of 60 kB in a queue of 25 packets."""
    app = {"kind": "request", "size": "60kB", "think": "100ms"}
    engine = "noq"
    seen = row(engine, cc, flow={"app": app}, rate="8Mbps", queue={"limit": "25p"})
    return seen["retransmission_ratio"]


def test_noqs_bbr3_does_not_pace_what_the_application_limits():
    """noq #800: 28 % of the bursts of a media encoder were lost in a queue of 25 packets."""
    assert resent("noq:bbr3") > 0.2
    assert resent("bbr3") < 0.04 and resent("noq:cubic") < 0.04


def test_quinn_does_not_pace_bbr():
    """quinn #2481: the rate that a control asks for has no effect."""
    rates = {
        cc: row("quinn", cc, duration="10s", flow={}, rate="100Mbps", queue={"limit": "40p"})
        for cc in ("quinn:bbr", "bbr", "quinn:cubic")
    }
    assert rates["quinn:bbr"]["retransmission_ratio"] > 0.35
    assert rates["bbr"]["retransmission_ratio"] > 0.35
    assert rates["quinn:cubic"]["retransmission_ratio"] < 0.02


@pytest.mark.parametrize(
    "engine, cc",
    [("quinn", "quinn:cubic"), ("noq", "noq:cubic"), ("quinn", "cubic"), ("noq", "cubic")],
)
def test_cubic_leaves_its_smallest_window_after_losses_and_silence(engine, cc):
    """Cloudflare's quiche kept CUBIC at its smallest window once it was idle after losses."""
    app = {"kind": "request", "size": "300kB", "think": "500ms"}
    lost = {"kind": "script", "packets": [n for n in range(60, 660) if n % 3], "on": "forward"}
    seen = row(
        engine,
        cc,
        duration="60s",
        flow={"app": app},
        rate="20Mbps",
        queue={"limit": "200p"},
        loss=lost,
    )
    assert seen["lost"] == 400 and seen["goodput_bps"] > 2e6  # 3.5 Mb/s without losses


@pytest.mark.parametrize(
    "engine, cc",
    [("quinn", "quinn:cubic"), ("noq", "noq:cubic"), ("quinn", "cubic"), ("noq", "cubic")]
    + [("noq", "tcp:cubic")],
)
def test_cubic_grows_again_after_many_losses_at_the_start(engine, cc):
    """With two packets per round trip, as quiche's CUBIC had, 3 MB would take 12 s."""
    lost = {"kind": "markov", "good": "2s", "good_rate": 0.3, "bad": "1h", "bad_rate": 0.0}
    seen = row(
        engine,
        cc,
        flow={"size": "3MB"},
        rate="10Mbps",
        loss={**lost, "durations": "fixed"},
    )
    assert seen["completed_s"] < 8


def test_quinns_receiver_closes_a_connection_with_more_than_a_thousand_gaps():
    """Slow start at 1 Gb/s loses every other packet for a while, and quinn keeps 1024 pieces."""
    with pytest.raises(RunError, match="too many gaps in stream buffer"):
        row("quinn", "quinn:cubic", duration="2s", flow={}, rate="1Gbps", queue={"limit": "1bdp"})
