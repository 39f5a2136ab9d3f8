# SPDX-License-Identifier: BSD-3-Clause
"""Lists the suites in the order of the page, each with its module, which declares PART."""

from __future__ import annotations

from collections.abc import Mapping

MODULES: Mapping[str, str] = {
    "basics": "basics",
    "rfc9743": "rfc9743",
    "c4": "c4",
    "prudentia": "prudentia",
    "regressions": "regressions",
    "benchmark": "paths",
    "tcpeval": "tcpeval",
    "draft": "draft.suite",
    "check": "check",
    "shallow": "shallow",
    "nsperf": "nsperf",
    "slow-start": "slow_start",
    "probe-rtt-interval": "probe_rtt",
    "rfc7928": "queues",
}
