# SPDX-License-Identifier: BSD-3-Clause
"""A control that writes anywhere, recurses or loops ends with a line that names its file."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from westwood.control.writing import like

MINE = like("reno", "mine")
ON_LOSS = "    window->cwnd = window->ssthresh;\n"
TARGETS = ("own", "window", "(void *)(uintptr_t)config", "(void *)(uintptr_t)now_us")
KINDS = ("uint8_t", "uint32_t", "uint64_t")


def wild(choices: random.Random) -> str:
    """Returns statements that access memory with a random stride and count, in any direction."""
    target, kind = choices.choice(TARGETS), choices.choice(KINDS)
    count, stride = choices.choice([1, 10, 1000, 100_000]), choices.choice([1, -1, 7, 4096, -977])
    first = choices.choice([0, 1, 28, 29, 30, 58, -1, -3, 512, 70_000])
    value = choices.choice(["0", "1", "now_us", "~0ull"])
    access = f"at[{first} + (int64_t)i * {stride}]"
    done = f"{access} = ({kind}){value};" if choices.random() < 0.8 else f"(void){access};"
    depth = choices.choice([0, 0, 0, 1_000_000])
    return f"""    volatile uint8_t frame[{choices.choice([8, 5000, 70_000])}];
    frame[0] = 1;
    volatile {kind} *at = (volatile {kind} *)(void *)({target});
    __asm__("" : "+r"(at));
    for (uint32_t i = 0; i < {count}; i++) {done}
    if (now_us % 1000003 < {depth}) on_loss(config, own, window, now_us + 1, in_flight, mss);
    frame[1]++;
"""


def test_a_wild_control_runs_or_ends_in_a_line(attack: Any, tmp_path: Path) -> None:
    command = "run path --set path.loss.rate=0.02 --set duration=10s --seeds 4 --workers 2 --cc"
    for choices in attack.rounds():
        text = MINE.replace(ON_LOSS, ON_LOSS + wild(choices))
        (tmp_path / "mine.c").write_text(text, encoding="utf-8")
        ended = subprocess.run(
            [sys.executable, "-m", "westwood", *command.split(), "./mine.c"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        context = f"{ended.returncode}: {ended.stderr}\n{text}"
        assert ended.returncode in (0, 2), context
        if ended.returncode == 2:
            *others, last = ended.stderr.splitlines()
            assert last.startswith("westwood: ./mine.c:"), context
            assert all("westwood" not in line for line in others), context  # malloc's own line
