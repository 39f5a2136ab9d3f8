# SPDX-License-Identifier: BSD-3-Clause
"""The estimated resources of runs are close to the real ones."""

import json
import random
import subprocess
import sys
from typing import Any

_MEASURE = """
import json, sys
import polars
from westwood import Scenario, simulate
from westwood.engines import resources

def peak():
    with open("/proc/self/status") as lines:  # ru_maxrss may be the parent's
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

scenario, asked = json.loads(sys.argv[1])
made = Scenario(**scenario)
recorded = resources.Recorded(asked["trace"], asked["events"], asked["queues"], asked["capture"])
before = peak()
said = before + resources.estimate_run(made, recorded).memory_bytes
result = simulate(made, 1, **asked, check_resources=False)
for name in ("trace", "events", "queues"):
    if asked[name]:
        getattr(result, name)
print(json.dumps([said, peak()]))
"""


def _any(choices: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draws a path of about 10^5 packets with bulk flows, groups of them and transfers."""
    rate = 10 ** choices.uniform(6.5, 9)
    flows = []
    for number in range(choices.randint(1, 3)):
        cc = choices.choice(["newreno", "cubic", "westwood+", "bbr"])
        flow: dict[str, Any] = {"name": f"f{number}", "from": "a", "to": "c", "cc": cc}
        kind = choices.choice(["bulk", "count", "arrivals"])
        if kind == "count":
            flow["count"] = choices.choice([10, 100, 1000])
        if kind == "arrivals":
            share = choices.uniform(0.1, 0.3)
            every_us = max(1, int(1e6 * 8 * 20_000 / (share * rate)))
            flow["arrivals"] = {"every": f"{every_us}us", "size": "20kB"}
        flows.append(flow)
    delay_ms = choices.choice([1, 5, 20])
    # As long as TCP needs to fill the path, since an estimate ignores losses.
    limit = f"{max(100, round(choices.uniform(1, 3) * rate * 2e-3 * (1 + delay_ms) / 12_000))}p"
    ends = (("access", "a", "b", 1e10, 1), ("neck", "b", "c", rate, delay_ms))
    links = [
        {
            "name": name,
            "between": [a, b],
            "rate": f"{bps:.0f}bps",
            "delay": f"{its_ms}ms",
            "queue": {"kind": "droptail", "limit": limit},
        }
        for name, a, b, bps, its_ms in ends
    ]
    length_s = min(60.0, 2e5 * 12_000 / rate)
    asked = {name: choices.random() < 0.5 for name in ("trace", "events", "queues")}
    asked |= {"capture": choices.choice([None, "neck"])}
    return {"name": "any", "duration": f"{length_s:.3f}s", "link": links, "flow": flows}, asked


def test_memory_is_estimated_well_enough(attack):
    for choices in attack.rounds():
        chosen = json.dumps(_any(choices))
        done = subprocess.run(
            [sys.executable, "-c", _MEASURE, chosen], capture_output=True, text=True, check=True
        )
        estimate, taken = json.loads(done.stdout)
        assert 1 / 1.5 < estimate / taken < 2, f"{estimate:.0f} of {taken:.0f}: {chosen}"
