# SPDX-License-Identifier: BSD-3-Clause
"""Measures claims with one or two settings changed from the profile.

A page quotes such a try by the claim and the settings, as `westwood/papers/infer/apply.py` does:

    <!-- mobicom.friendliness with bottleneck.queue.limit=20p: together/ratio .2f -->0.97<!-- / -->

Values that are not TOML count as text. Runs are whole sweeps with the seeds 1 to 10, as in
`westwood reproduce`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from westwood.cli.options import settings_of
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import prepare
from westwood.papers.claims import claims
from westwood.papers.infer import space
from westwood.papers.infer.evaluate import ClaimTestSet
from westwood.papers.infer.space import Value

SEEDS = tuple(range(1, 11))
WITH = " with "
_NAMED = re.compile(rf"<!-- ([\w.]+{WITH}[^<>:]+): ")


def named(pages: Iterable[str]) -> list[str]:
    """Lists the tries in the pages, each once: CLAIM with KEY=VALUE KEY=VALUE."""
    return sorted({found for page in pages for found in _NAMED.findall(page)})


def measured(tried: str) -> dict[str, Any]:
    """Runs a try; returns the verdict and the measurements of the claim's check."""
    claim, _, settings = tried.partition(WITH)
    open_ = space.of(claims()[claim].paper.key)
    value = Value(tried, settings_of(settings.split(" ")), "a page names it")
    plan = ClaimTestSet(open_, (claim,), SEEDS, thin=False).plan_with([value])
    found = plan.findings(dict(run_jobs(plan.jobs.values(), prepare=prepare)))[claim]
    verdict = "DIFFERS" if found.failures else "HOLDS"
    return {"verdict": verdict, "measured": dict(found.measured)}
