# SPDX-License-Identifier: GPL-2.0-only
"""`--engine linux` and `path campaign` run the family in the kernel over the emulated path, and
traces include the bandwidth estimates from a recording."""

import polars as pl
import pytest
from emulated_paths import needs_path

from westwood import Scenario
from westwood.campaign.plan import CampaignPlan
from westwood.campaign.uploads import Turn, upload
from westwood.engines import linux
from westwood.kernel import ww_kernel

pytestmark = [pytest.mark.kernel, needs_path]

RATE_BPS = 4e6
LINK = {"rate": "4Mbps", "delay": "10ms", "queue": {"limit": "40p"}}
OURS = list(ww_kernel.CONTROLS.values())


def test_each_of_ours_reports_its_estimate(controls):
    """On a path without losses it is the link's payload rate, once slow start has reached it."""
    links = [{"name": f"l{i}", "between": [f"a{i}", f"b{i}"], **LINK} for i in range(len(OURS))]
    flows = [
        {"name": f"f{i}", "from": f"a{i}", "to": f"b{i}", "cc": cc, "recovery": "prr"}
        for i, cc in enumerate(OURS)
    ]
    flows.append({"name": "other", "from": "a0", "to": "b0", "cc": "reno", "start": "2s"})
    chosen = Scenario(name="s", duration="3s", profile="linux", link=links, flow=flows)
    result = linux.run(chosen, 1, trace=True)
    for i, row in enumerate(result.flow_rows[: len(OURS)]):
        assert row["goodput_bps"] > 0.4 * RATE_BPS, row["cc"]
        rows = result.trace.filter(pl.col("flow") == f"f{i}", pl.col("time_s") < 2)
        late = rows.filter(pl.col("time_s") > 1.5)["estimate_bps"]
        assert not late.is_nan().any(), row["cc"]
        assert 0.3 * RATE_BPS < late.median() < 1.5 * RATE_BPS, row["cc"]  # type: ignore[operator]
        assert rows["estimate_bps"][0] != rows["estimate_bps"][0]  # none before the first sample
    reno = result.trace.filter(flow="other")
    assert reno.height > 10 and reno["estimate_bps"].is_nan().all()


def test_a_campaigns_traces_have_the_estimate(controls):
    target = {"name": "t", "path": {**LINK, "delay": "20ms"}, "sizes": ["500kB"]}
    plan = CampaignPlan.read({"name": "p", "cc": ["westwood+", "reno"], "target": [target]})
    for cc in plan.cc:
        row, trace = upload(plan, Turn(plan.target[0], 500_000, 1, cc))
        assert row["goodput_bps"] > 1e6
        assert trace["estimate_bps"].is_nan().all() == (cc == "reno")
