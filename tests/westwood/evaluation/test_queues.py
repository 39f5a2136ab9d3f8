# SPDX-License-Identifier: BSD-3-Clause
"""RFC 7928's suite: its paths, what it measures, and what is known of each discipline."""

import json
from pathlib import Path

import pytest

from westwood import simulate
from westwood.errors import InputError
from westwood.evaluation.discipline import ECN, NAMES, Discipline, discipline
from westwood.evaluation.queues import PART
from westwood.units import parse_time

CRITERIA = {criterion.name: criterion for criterion in PART.criteria}
BY_TRACE = ("droptail", "red")  # the others need a rate


def rows(name, point, asked, seconds=30):
    """The rows of a point's runs, shortened."""
    (where,) = [where for where in CRITERIA[name].points if where.name == point]
    runs = where.runs(Discipline(asked.cc, {**asked.settings, **where.settings}))
    return {
        of_run: simulate(scenario.with_settings({"duration": f"{seconds}s"})).rows.to_dicts()
        for of_run, scenario in runs.items()
    }


def measured(name, point, asked, seconds=30):
    return CRITERIA[name].measure(rows(name, point, asked, seconds))


@pytest.mark.parametrize("kind", NAMES)
def test_a_point_has_the_discipline_in_the_place_of_drop_tail(kind):
    for criterion in PART.criteria:
        for point in criterion.points:
            plain = point.runs(Discipline("droptail"))
            if "capacity" in criterion.name and kind not in BY_TRACE:
                with pytest.raises(InputError, match="expected droptail or red"):
                    point.runs(Discipline(kind))
                continue
            for name, scenario in point.runs(Discipline(kind)).items():
                assert scenario.link[0].queue.kind == kind
                limits = [runs.link[0].queue.limit for runs in (scenario, plain[name])]
                same = scenario.with_settings({"path.queue": {"limit": str(limits[0])}})
                assert (limits[0], same.hash) == (limits[1], plain[name].hash)


def test_each_criterion_names_a_section_and_says_that_its_threshold_is_ours():
    for criterion in PART.criteria:
        assert criterion.source.startswith("RFC 7928, ")
        assert criterion.threshold.source.startswith("ours: ")


def test_numbers_of_flows_follow_from_the_loss_rates_of_8_2_1():
    """Morris' window at a share p of lost packets is sqrt(0.76 / p); the BDP is 167 packets."""
    counts = []
    for point in CRITERIA["aqm-queue"].points:
        if "congestion" in point.name:
            (scenario,) = point.runs(Discipline("codel")).values()
            assert str(scenario.link[0].queue.limit) == "167p"
            counts.append(scenario.flow[0].count)
    assert counts == [round((p / 0.76) ** 0.5 * 167) for p in (0.001, 0.005, 0.01)]


def test_the_rate_is_a_tenth_for_half_of_the_time():
    for point, period_ms in zip(CRITERIA["aqm-capacity-queue"].points, (20000, 100), strict=True):
        (scenario,) = point.runs(Discipline("droptail")).values()
        times = scenario.link[0].trace.forward
        high = [ms for ms in times if ms <= period_ms]
        assert max(times) <= 2 * period_ms
        assert len(high) * 1504 * 8 / period_ms == pytest.approx(20_000, rel=0.01)
        assert (len(times) - len(high)) / len(high) == pytest.approx(0.1, rel=0.03)


@pytest.mark.parametrize("kind", [kind for kind in NAMES if kind != "droptail"])
def test_with_ecn_flows_reduce_for_marks(kind):
    runs = rows("aqm-ecn-delay", "mild", discipline(kind, {}, "--queue"), 15)
    assert not any(row["ecn_reductions"] for row in runs["solo"])
    assert sum(row["ecn_reductions"] for row in runs["alone"]) > 5


def test_settings_of_a_discipline_reach_its_queue():
    asked = discipline("codel", {"target": "10ms", ECN: True}, "--queue")
    for criterion in PART.criteria:
        if "capacity" not in criterion.name:
            scenario = list(criterion.points[0].runs(asked).values())[-1]
            assert scenario.link[0].queue.target == parse_time("10ms")
            assert all(flow.ecn for flow in scenario.flow if flow.cc.name != "udp")
    assert asked.text == "codel:target=10ms:ecn=true"
    assert asked.label == "CoDel target=10ms ecn=true"
    assert len({Discipline("codel", {"target": f"{ms}ms"}).styled for ms in (2, 5, 10, 20)}) > 2


def test_a_codel_queue_is_short_and_leaves_a_lone_reno_flow_less_of_the_link():
    """RFC 8289: its target is for several flows; half a window of 100 ms drains the queue."""
    runs = {kind: rows("aqm-queue", "Reno (5.1.1)", Discipline(kind)) for kind in NAMES[:3]}
    queue, use = (
        {kind: CRITERIA[name].measure(runs[kind]) for kind in runs}
        for name in ("aqm-queue", "aqm-use")
    )
    assert queue["codel"] < 5 < 50 < queue["droptail"]
    assert use["codel"] < 90 < use["droptail"]


def test_pie_holds_datagrams_that_exceed_the_link_at_its_target_and_codel_does_not():
    """RFC 8033's drop probability grows until the delay is 15 ms, 25 packets."""
    queue = {
        kind: measured("aqm-unresponsive", "2 of the link", Discipline(kind))
        for kind in ("pie", "codel", "droptail")
    }
    assert 20 < queue["pie"] < 30 < 60 < queue["codel"] < queue["droptail"]


def test_fq_codel_gives_a_flow_its_half_beside_datagrams():
    mbps = {
        kind: measured("aqm-beside-datagrams", "0.8 of the link", Discipline(kind))
        for kind in ("fq_codel", "codel")
    }
    assert mbps["codel"] < 4 < 7 < mbps["fq_codel"]


def test_measures():
    flow = {"mean_queue": 2.9, "utilisation": 0.5, "completion_s": 2, "completion_p95_s": 3}
    flow |= {"sent": 200, "goodput_bps": 4e6, "queue_drops": 4}
    names = ("tcp", "beside", "small", "large", "short", "web", "video", "cbr")
    rows = [flow | {"flow": name} for name in names]
    rows[1] |= {"goodput_bps": 1e6, "queue_drops": 0, "sent": 0}
    rows[3] |= {"queue_drops": 8}
    runs = {"alone": rows, "solo": [{"mean_queue": 0.9}]}
    expected = {"queue": 3, "use": 50, "loss": 100 * 32 / 1400, "ecn-delay": 3, "short": 2}
    expected |= {"rtt": 4, "yielding": 0.25, "beside-datagrams": 4, "packet-sizes": 0.5}
    expected |= {"web": 2, "video": 3, "constant-rate": 2, "load-use": 50, "rates-queue": 3}
    assert {name: CRITERIA[f"aqm-{name}"].measure(runs) for name in expected} == pytest.approx(
        expected
    )


def test_the_page_compares_disciplines_and_says_why_a_case_did_not_run(westwood):
    only = "aqm-queue,aqm-use,aqm-capacity-queue"
    done = westwood(
        "evaluate", "--queue", "codel:target=10ms,pie", "--only", only, "--quick", "--out", "page"
    )
    assert done.code == 0
    assert "codel:target=10ms: 1 meets, 1 fails, 0 cannot tell, 1 not run" in done.out
    assert "pie, aqm-capacity-queue: not run\n  path.queue.kind = " in done.out
    assert "  westwood evaluate --queue codel:target=10ms --quick --only aqm-use --out" in done.out
    page = Path("page/index.html").read_text(encoding="utf-8")
    assert "The clauses of RFC 7928" in page and "<th>queue</th>" in page.replace(
        ' scope="col"', ""
    )
    assert Path("page/rfc7928.svg").exists()
    answers = json.loads(Path("page/answers.json").read_text(encoding="utf-8"))["answers"]
    assert list(answers) == ["codel:target=10ms", "pie"]


def test_a_discipline_alone_shows_why_a_case_did_not_run(westwood):
    only = ("--only", "aqm-ecn-loss,aqm-packet-sizes", "--quick", "--against", "red:min=20:max=60")
    done = westwood("evaluate", "--queue", "droptail", *only)
    assert "  aqm-ecn-loss      -" in done.out
    assert " droptail:ecn: drop-tail has no settings\n" in done.out
    assert "evaluate --queue droptail --against red:min=20:max=60 --quick --only NAME" in done.out
    assert max(map(len, done.out.splitlines()[:8])) <= 80
