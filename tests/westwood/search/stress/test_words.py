# SPDX-License-Identifier: BSD-3-Clause
"""What a hunt says of an attack and of the harm that it does: tests/golden/hunt_words.json."""

import random
from dataclasses import replace
from typing import Any

import pytest
from golden_files import assert_golden

from westwood.search.stress import attack as attacks
from westwood.search.stress import report
from westwood.search.stress.attack import Attack
from westwood.search.stress.degradation import DEGRADATIONS
from westwood.search.stress.figures import Figures
from westwood.search.stress.search_run import Finding

PATH = Attack(10_000_000, 100_000, 80, 20_000_000, 1)  # bit/s, us, packets, us, seed
SHARES = {"westwood+": 0.1, "cubic": 0.5, "sack": 0.3, "bbr": 0.7}
HARMED = replace(
    PATH,
    loss="uniform",
    loss_rate=0.02,
    flows=2,
    beside="cubic",
    beside_flows=1,
    burst_bps=2_000_000,
    burst_on_us=100_000,
    burst_off_us=300_000,
    min_rto_us=1_000_000,
)


def invented(protocol: str, part: float = 1.0, without: tuple[str, ...] = ()) -> Figures:
    """Invents a run: a control has its share, more in the first half and without disturbance."""
    share = SHARES[protocol] * (1.2 if part < 1 else 1) * (1.3 if without else 1)
    return Figures(
        goodput_bps=9e6 * share,
        competing_bps=9e6 * (1 - share),
        total_bps=9e6 * (0.3 + share / 2),
        fairness=0.5 + share / 2,
        timeouts=round(20 * (1 - share)),
        loss_ratio=0.2 * (1 - share),
        queue_s=0.2 * (1 - share),
        completion_s=3 * (1 - share),
        transfers=7,
    )


def test_each_harm_is_measured_and_told():
    sentences: dict[str, Any] = {}
    for name, harm in DEGRADATIONS.items():
        value = harm.measure(invented, HARMED, "westwood+")
        sentence = harm.tell(invented, HARMED, "westwood+")
        sentences[name] = [float(f"{value:.9g}"), sentence, harm.what]
    assert_golden("hunt_words", sentences)


@pytest.mark.parametrize(
    ("min_rto_us", "share"), [(300_000, "36%"), (900_000, "90%"), (2_000_000, "100%")]
)
def test_a_flow_waits_in_timeouts_for_at_most_all_of_the_time(min_rto_us, share):
    """18 timeouts in 20 s, each of the minimum RTO and the 100 ms of the path."""
    attack = replace(HARMED, flows=1, min_rto_us=min_rto_us)
    sentence = DEGRADATIONS["stalled"].tell(invented, attack, "westwood+")
    assert f"spends at least {share} of the time in 18 timeouts" in sentence


def test_each_feature_is_told_with_its_numbers():
    choices, sentences = random.Random(3), {}
    for name in attacks.FEATURES:
        together = ["beside", "elsewhere"] if name == "elsewhere" else [name]
        fractions = [choices.random() for _ in range(attacks.genes(together))]
        attack = attacks.drawn(together, fractions, 7)
        finding = Finding(attack, "idle", "bbr", 0.5, 0.4, 0.6, "it idles", {name: 0.1, "so": 0.3})
        page = report.page([finding, finding], "Title", {finding.kind: 3})
        files = report.files(finding, "found")
        sentences[name] = [page.splitlines(), files["found.toml"].splitlines(), sorted(files)]
    assert_golden("hunt_features", sentences)
