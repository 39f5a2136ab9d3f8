# SPDX-License-Identifier: BSD-3-Clause
"""What a claim's measure is under one setting or two that the profile has otherwise.

A page quotes it as a figure that names them, in the words of `westwood/papers/infer/apply.py`:

    <!-- mobicom.friendliness with bottleneck.queue.limit=20p: together/ratio .2f -->0.97<!-- / -->

Values are TOML where they are TOML, and text where they aren't. Runs are whole sweeps with the
seeds 1 to 10, as `westwood reproduce` has them.
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
    """The tries that pages quote, each once: CLAIM with KEY=VALUE KEY=VALUE."""
    return sorted({found for page in pages for found in _NAMED.findall(page)})


def measured(tried: str) -> dict[str, Any]:
    """Runs a try; returns the verdict and what the claim's check measured."""
    claim, _, settings = tried.partition(WITH)
    open_ = space.of(claims()[claim].paper.key)
    value = Value(tried, settings_of(settings.split(" ")), "a page names it")
    plan = ClaimTestSet(open_, (claim,), SEEDS, thin=False).plan_with([value])
    found = plan.findings(dict(run_jobs(plan.jobs.values(), prepare=prepare)))[claim]
    verdict = "DIFFERS" if found.failures else "HOLDS"
    return {"verdict": verdict, "measured": dict(found.measured)}
