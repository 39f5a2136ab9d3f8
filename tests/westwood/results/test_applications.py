# SPDX-License-Identifier: BSD-3-Clause
"""What rows and tables say of applications that write their data in time."""

import math
from typing import Any

import pytest
from one_link import one_link
from typer.testing import CliRunner

from westwood import Result, Scenario, engines, simulate
from westwood.cli.commands import app as cli
from westwood.errors import InputError, UnavailableError

PATH = {
    "path.rate": "10Mbps",
    "path.delay": "20ms",
    "path.loss.rate": 0,
    "path.queue.limit": "1bdp",
    "duration": "60s",
}
REQUEST = {"kind": "request", "size": "100kB", "think": "1s"}
VIDEO = {"kind": "video", "ladder": ["1Mbps", "3Mbps", "20Mbps"], "chunk": "2s"}


def run(app: object, **changed: object) -> Result:
    return simulate(Scenario.preset("path").with_settings({**PATH, "tcp.app": app, **changed}))


def row(result: Result) -> dict[str, Any]:
    (only,) = result.rows.to_dicts()
    return only


def test_completion_times_are_those_of_the_responses():
    result = run(REQUEST)
    messages = result.messages.drop_nans()
    mss = result.scenario.flows[0].mss
    assert messages["bytes"].unique().to_list() == [math.ceil(100_000 / mss) * mss]
    assert row(result)["completed"] == messages.height > 40
    assert row(result)["transfers"] == result.messages.height
    assert row(result)["completion_s"] == pytest.approx(messages["completion_s"].mean())
    assert row(result)["completion_p95_s"] >= row(result)["completion_p50_s"] > 0.1


def test_a_transfer_of_responses_is_one_connection():
    assert run(REQUEST).transfers.height == 1


def test_chunks_follow_the_ladder():
    sizes = (run(VIDEO).messages["bytes"] * 8 / 2 / 1e6).round(1).to_list()
    assert sizes[0] == 1.0
    assert set(sizes[1:]) == {3.0}


def test_frames_of_media_are_due_at_their_rate_and_their_longest_delay_is_a_column():
    result = run(
        {"kind": "media", "interval": "40ms", "frame": "3kB", "warm_up": "1s"}, **{"tcp.stop": "9s"}
    )
    frames = result.messages.drop_nans()
    gaps_s = frames["start_s"].diff().drop_nulls()
    assert frames.height > 190
    assert gaps_s.to_list() == pytest.approx([0.04] * gaps_s.len(), abs=1e-9)
    assert row(result)["completion_max_s"] == pytest.approx(frames["completion_s"].max())


def test_bulk_flows_have_no_messages():
    assert run("bulk").messages.height == 0
    assert run("bulk").messages.columns == run(REQUEST).messages.columns


@pytest.mark.parametrize(
    ("app", "least", "most"),
    [
        ({"kind": "rate", "rate": "2Mbps"}, 0.95, 1),
        ({"kind": "rate", "rate": "20Mbps"}, math.nan, math.nan),
        ({"kind": "on-off", "on": "1s", "off": "3s"}, 0.7, 0.8),
        (REQUEST, 0.7, 0.95),
        ("bulk", math.nan, math.nan),
    ],
)
def test_a_flow_that_waits_for_its_application_says_so(app, least, most):
    share = row(run(app))["application_limited"]
    assert math.isnan(share) if math.isnan(least) else least <= share <= most


def test_the_table_of_a_run_says_so_too():
    options = ["run", "path", "--cc", "cubic", "--seeds", "1", "--set", "duration=10s"]
    limited = [*options, "--set", 'tcp.app={kind="rate", rate="1Mbps"}', "--set", "path.rate=9Mbps"]
    assert "limited" in CliRunner().invoke(cli, limited).output
    assert "limited" not in CliRunner().invoke(cli, options).output


def test_the_scenario_reads_back_as_written(tmp_path):
    for app in (
        REQUEST,
        VIDEO,
        {"kind": "media", "interval": "40ms", "frame": "3kB", "key": "9kB", "patience": "1s"},
        {"kind": "rate", "rate": "2Mbps"},
        {"kind": "rate", "rate": "2Mbps", "bulk": "20s"},
        {"kind": "on-off", "on": "1s", "off": "3s"},
    ):
        scenario = run(app).scenario
        file = tmp_path / "written.toml"
        file.write_text(scenario.to_toml())
        assert Scenario.from_toml(file).hash == scenario.hash


def test_flows_of_one_group_keep_their_messages_apart():
    result = run(REQUEST, **{"tcp.count": 3})
    assert result.messages["flow"].unique(maintain_order=True).to_list() == [
        "tcp-1",
        "tcp-2",
        "tcp-3",
    ]
    counted = result.messages["flow"].value_counts().sort("flow")["count"].to_list()
    assert result.rows["transfers"].to_list() == counted


@pytest.mark.parametrize("name", ["ns2", "ns3"])
def test_other_simulators_refuse_them_by_key(name):
    try:
        engine = engines.find(name)
    except UnavailableError as error:
        pytest.skip(str(error))
    scenario = one_link({"cc": "reno", "app": REQUEST}, profile=engine.profile or "rfc")
    with pytest.raises(InputError, match=r"tcp\.app = .*request.*bulk"):
        engine.simulate(scenario)
