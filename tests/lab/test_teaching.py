# SPDX-License-Identifier: BSD-3-Clause
"""The laboratory's sentences about its pictures agree with the runs: headline and guided tour."""

import re
from typing import Any

import pytest

from westwood import Scenario, simulate

BOTTLENECK_BPS = 500e3  # of ack-compression


def rows_of(page: Any) -> dict[str, dict[str, Any]]:
    return {row["cc"]: row for row in page.evaluate("lab.rows")}


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text)]


def test_the_first_view_shows_the_effect_and_says_why(opened):
    page = opened(width=1280, height=800)
    reno, ours = (rows_of(page)[cc] for cc in ("newreno", "westwood+"))
    text = page.locator("#headline").inner_text()
    gain = ours["goodput_bps"] / reno["goodput_bps"] - 1
    assert gain > 0.2 and text.startswith(f"+{100 * gain:.0f} %")
    assert f"Westwood+ delivers {ours['goodput_bps'] / 1e6:.2f} Mb/s on this path" in text
    assert f"NewReno {reno['goodput_bps'] / 1e6:.2f}, because the queue stays almost empty" in text
    for row in (reno, ours):
        assert row["queue_drops"] == 0 and row["lost"] >= 4 and row["timeouts"] == 0
        assert row["mean_queue"] < row["mean_cwnd"] / 16
    goodput = page.locator('[data-panel="goodput"]').bounding_box()
    assert goodput["y"] + goodput["height"] <= 800
    assert page.locator("#headline").bounding_box()["y"] > 0


def test_the_headline_gives_no_reason_that_the_run_does_not_show(page):
    page.evaluate(
        """(() => { const next = lab.state; next.scenario.link[0].loss = { kind: "none" };
            next.scenario.duration = "40s"; return lab.open(next); })()"""
    )
    rows = rows_of(page)
    dropped = sum(row["queue_drops"] for row in rows.values())
    text = page.locator("#headline").inner_text()
    assert dropped and "because" not in text
    assert f"0 happened on the link and {dropped} in full queues" in text
    page.evaluate(
        """(() => { const next = lab.state; next.scenario.duration = "300s";
            next.scenario.link[0].loss = { kind: "uniform", rate: 0.3 };
            return lab.open(next); })()"""
    )
    assert max(row["utilisation"] for row in rows_of(page).values()) < 0.1, "timeouts decide"
    assert "because" not in page.locator("#headline").inner_text()
    page.evaluate("lab.open({...lab.state, lines: lab.state.lines.slice(0, 1)})")
    assert page.locator("#headline").is_hidden()


@pytest.fixture
def steps(page) -> dict[int, dict[str, Any]]:
    """Returns each step's text, with its rows and losses."""
    page.get_by_role("button", name="Guided tour").click()
    steps_ = {}
    for number in range(1, 7):
        heading = page.locator(f'#lesson h2:text-matches("^{number} of 6")')
        heading.wait_for()
        page.wait_for_selector("#lesson p:first-of-type:not(:empty)")
        assert page.locator("#message").is_hidden()
        steps_[number] = {
            "text": page.locator("#lesson p").first.inner_text(),
            "rows": rows_of(page),
            "decisions": page.evaluate("lab.decisions"),
            "state": page.evaluate("lab.state"),
        }
        page.locator("#lesson .primary").click()
    assert page.locator("#lesson").is_hidden()
    return steps_


def test_the_tours_sentences_agree_with_its_runs(steps):
    """Compares each number of a sentence with the rows and decisions of its step."""
    first_step, two, three, four, five, six = (steps[number] for number in range(1, 7))
    assert first_step["rows"]["newreno"]["queue_drops"] == numbers(first_step["text"])[-1] > 0

    (reno,) = two["rows"].values()
    assert (reno["lost"], reno["queue_drops"], reno["timeouts"]) == (1, 0, 0)
    loss = next(each for each in two["decisions"] if each["kind"] == "recovery")
    assert f"the segments in flight: {loss['ssthresh']:.0f}," in two["text"]
    assert f"the window was {loss['cwnd_before']:.0f}" in two["text"]
    assert abs(loss["ssthresh"] - loss["cwnd_before"] / 2) <= 2
    # An empty queue adds only the burst's own transmission time to the RTT.
    assert loss["rtt_s"] < 1.05 * loss["rtt_min_s"]

    ours, reno = three["rows"]["westwood+"], three["rows"]["newreno"]
    kept = next(
        each
        for each in three["decisions"]
        if each["kind"] == "recovery" and each["flow"] == "Westwood+"
    )
    assert f"continues from {kept['ssthresh']:.0f} segments" in three["text"]
    assert kept["ssthresh"] > 1.5 * loss["ssthresh"] and ours["queue_drops"] == 0
    assert f"delivers {ours['goodput_bps'] / 1e6:.2f} Mb/s" in three["text"]
    assert f"NewReno {reno['goodput_bps'] / 1e6:.2f}" in three["text"]

    rates = [four["rows"][cc]["goodput_bps"] / 1e6 for cc in ("newreno", "westwood", "westwood+")]
    assert [f"{rate:.2f}" in four["text"] for rate in rates] == [True] * 3
    assert rates[0] < 0.9 * min(rates[1:]) and max(rates) < 1.93

    trips = {cc: 1e3 * row["mean_srtt_s"] for cc, row in five["rows"].items()}
    assert [f"{trips[cc]:.0f} ms" in five["text"] for cc in trips] == [True] * 3
    assert trips["newreno"] > trips["westwood+"] > trips["bbr"]
    assert trips["newreno"] > 3 * 1e3 * five["rows"]["newreno"]["min_rtt_s"]

    measured = [_highest_estimate(cc) / BOTTLENECK_BPS for cc in ("westwood-ns3", "westwood+-ns3")]
    assert f"reaches {measured[0]:.0f} times" in six["text"] and measured[0] > 5
    assert f"reaches {measured[1]:.1f} times" in six["text"] and measured[1] < 2


def _highest_estimate(cc: str) -> float:
    """Returns the upload's highest estimate, from the Python package."""
    scenario = Scenario.preset("ack-compression")
    (key,) = scenario.sweep
    trace = simulate(scenario.with_settings({key: cc}), 1, trace=True).trace
    return float(trace.filter(flow="upload")["estimate_bps"].drop_nans().max())  # type: ignore[arg-type]


def test_sliders_have_the_effect_that_the_tour_describes(page):
    """Step 4: at a loss of 0.0001 the controls perform alike, and at 0.1 all wait for timeouts."""
    page.get_by_role("button", name="Guided tour").click()
    for _ in range(3):
        page.locator("#lesson .primary").click()
    page.locator('#lesson h2:text-matches("^4 of 6")').wait_for()
    page.wait_for_selector("#lesson p:first-of-type:not(:empty)")
    for rate in (0.0001, 0.1):
        page.evaluate(
            f"""(() => {{ const next = lab.state; next.scenario.link[0].loss.rate = {rate};
                return lab.open(next); }})()"""
        )
        rows = rows_of(page).values()
        rates = [row["goodput_bps"] for row in rows]
        if rate == 0.0001:
            assert max(rates) < 1.05 * min(rates)
        else:
            assert min(row["timeouts"] for row in rows) > 2


def test_a_preset_of_the_class_has_its_text_and_points(opened):
    page = opened("#preset=aqm")
    assert "Active queue management" in page.locator("#paper").inner_text()
    drawn = page.get_attribute("body", "data-shown")
    page.get_by_role("button", name="fq_codel", exact=True).click()
    page.wait_for_selector(f'body:not([data-shown="{drawn}"])')
    queue = {"uplink.queue": {"kind": "fq_codel", "limit": "16bdp"}}
    rows = simulate(Scenario.preset("aqm").with_settings(queue), 1).flow_rows
    srtts_s = {row["flow"]: row["mean_srtt_s"] for row in page.evaluate("lab.rows")}
    assert srtts_s == {row["flow"]: row["mean_srtt_s"] for row in rows}
    assert page.locator(".claim").count() == 0
