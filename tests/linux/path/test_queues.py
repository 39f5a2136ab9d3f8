# SPDX-License-Identifier: BSD-3-Clause
"""`--engine linux` lets packets wait in the kernel's own disciplines, here in Debian's kernel.

The emulated machine counts time in instructions, so its figures do not depend on the load.
"""

import pytest
from emulated_paths import needs_path
from one_link import one_link

from westwood import Scenario, simulate
from westwood.engines import linux, linux_queues
from westwood.kernel import emulated

pytestmark = [pytest.mark.slow, needs_path]


@pytest.fixture(autouse=True)
def _emulated(monkeypatch):
    if reason := emulated.missing_reason(["tc"]):
        pytest.skip(reason)
    monkeypatch.setattr(linux_queues, "is_missing", lambda discipline: True)


def reno_through(kind: str, *, ecn: bool) -> Scenario:
    link = {"delay": "20ms", "queue": {"kind": kind, "limit": "1000p", "ecn": ecn}}
    return one_link({"cc": "reno", "ecn": ecn}, link=link, duration="20s", profile="linux")


@pytest.mark.parametrize("kind", ["codel", "fq_codel"])
@pytest.mark.parametrize("ecn", [False, True])
def test_codel_of_the_kernel_decides_as_ours_does(kind, ecn):
    chosen = reno_through(kind, ecn=ecn)
    kernels, ours = linux.run(chosen, 1).raw.forward[0], simulate(chosen, 1).raw.forward[0]
    assert kernels.utilisation == pytest.approx(ours.utilisation, abs=0.05)
    assert kernels.waited_s == pytest.approx(ours.waited_s, rel=0.2)
    assert (kernels.marked, kernels.early_drops) == pytest.approx(
        (ours.marked, ours.early_drops), rel=0.25
    )
    assert kernels.queue_drops == kernels.early_drops


def test_pie_of_the_kernel_fills_the_link_and_drops_early():
    """It spaces its drops (RFC 8033, 5.4), so slow start fills a longer queue than in ours."""
    kernels = linux.run(reno_through("pie", ecn=False), 1).raw.forward[0]
    assert kernels.utilisation > 0.85
    assert kernels.queue_drops == kernels.early_drops > 100
