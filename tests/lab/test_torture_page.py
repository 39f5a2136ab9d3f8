# SPDX-License-Identifier: BSD-3-Clause
"""The page runs any file, link or saved state, or rejects it in one line, and keeps working.

Moving sliders repeatedly takes no memory."""

import base64
import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lab.test_nonsense import CLEAN, INHERITED
from tests.lab.test_torture_lab import scenario

SHIPPED = sorted(Path(__file__).parents[2].joinpath("scenarios").glob("*.toml"))
SHOWN = "document.body.dataset.shown"
LONGEST_MESSAGE = 500
PATIENCE_MS = 4000  # for a run; a longer one is stopped
MOVES = 120
MOST_GROWTH_MB = 8  # of the page's memory, between the first 40 moves and the last
# Waits until the opened input is shown, rejected, or stopped for taking too long; returns which.
SETTLED = """async ([before, patience_ms]) => {
    const end = performance.now() + patience_ms;
    const box = document.getElementById("message");
    const isOver = () => document.body.dataset.shown !== before || !box.hidden;
    while (!isOver() && performance.now() < end) await new Promise((done) => setTimeout(done, 10));
    if (isOver()) return box.hidden ? "" : box.textContent;
    document.getElementById("stop").click();
    return "stopped";
}"""
DROP = """async ([name, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(bytes)], name));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
}"""
OPEN = """(state) => {
    try { lab.open(state).catch(() => 0); return ""; } catch (error) { return String(error); }
}"""


@pytest.fixture
def checked(page) -> Callable[[], None]:
    """Returns a check that the page still works as it did at its start."""

    def rows() -> Any:
        page.evaluate("document.getElementById('message').hidden = true")
        page.evaluate("lab.openPreset('path')")
        return page.evaluate("lab.rows")

    expected = rows()

    def check():
        assert rows() == expected
        assert page.evaluate(CLEAN)
        assert page.locator("#message").is_hidden()
        assert page.locator("img").count() == 0

    return check


def settled(page: Any, act: Callable[[], object]) -> str:
    """Does something to the page; returns the resulting message, if any."""
    page.evaluate("document.getElementById('message').hidden = true")
    before = page.evaluate(SHOWN)
    act()
    message: str = page.evaluate(SETTLED, [before, PATIENCE_MS])
    assert len(message) < LONGEST_MESSAGE and "\n" not in message, message
    assert "TypeError" not in message and "undefined" not in message, message
    return message


def damaged(content: bytes, choices: random.Random) -> bytes:
    """Returns the content with bytes changed, cut off, doubled or prepended."""
    content_ = bytearray(content)
    for _ in range(choices.choice((1, 1, 2, 8))):
        if not content_:
            break
        start, end = sorted(choices.randrange(len(content_) + 1) for _ in range(2))
        match choices.randrange(5):
            case 0 | 1:
                content_[choices.randrange(len(content_))] ^= 1 << choices.randrange(8)
            case 2:
                del content_[start:end]
            case 3:
                content_[start:start] = content_[start:end]
            case _:
                content_[start:end] = choices.randbytes(end - start)
    return bytes(content_)


def test_a_dropped_file_is_run_or_refused_in_a_line(page, checked, attack):
    for choices in attack.rounds():
        content = choices.choice(SHIPPED).read_bytes()
        if choices.random() < 0.5:
            content = scenario(choices).encode()
        content = damaged(content, choices)
        name = choices.choice(("a.toml", "<img src=x>.toml", "a" * 300, "x.png", "\u202e.toml"))
        settled(page, lambda: page.evaluate(DROP, [name, list(content)]))  # noqa: B023
        checked()


def inheriting(value: Any, choices: random.Random) -> Any:
    """Returns the value with keys that objects inherit, added and in place of others."""
    if isinstance(value, list):
        return [inheriting(part, choices) for part in value]
    if not isinstance(value, dict):
        return value
    entries = {}
    for key, entry in [*value.items(), ("", 1)]:
        renamed = not key or choices.random() < 0.05
        if key or choices.random() < 0.2:
            name = choices.choice(INHERITED) if renamed else key
            entries[name.rpartition(".")[2] if choices.random() < 0.5 else name] = inheriting(
                entry, choices
            )
    return entries


def test_a_damaged_link_is_run_or_refused_in_a_line(page, checked, attack):
    page.evaluate("lab.openPreset('fading')")
    state = json.dumps({"v": 1, **page.evaluate("lab.state")})
    for choices in attack.rounds():
        text = damaged(state.encode(), choices)
        if choices.random() < 0.4:
            text = json.dumps(inheriting(json.loads(state), choices)).encode()
        pack = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = pack.compress(text) + pack.flush()
        if choices.random() < 0.3:
            packed = damaged(packed, choices)
        word = base64.urlsafe_b64encode(packed).decode().rstrip("=")
        kind = choices.choice(("s", "s", "t", "preset", "constructor", "toString", "__proto__"))
        settled(page, lambda: page.evaluate("(hash) => location.hash = hash", f"#{kind}={word}"))  # noqa: B023
        checked()


def hostile(state: dict[str, Any], choices: random.Random) -> None:
    """Makes the state extreme: few or many parts, short or long, slow or fast."""
    link, flow = state["scenario"]["link"][-1], state["scenario"]["flow"][0]
    changes: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        (state["scenario"], {"duration": choices.choice(("1ps", "1us", "1h", "624h"))}),
        (link, {"rate": choices.choice(("1bps", "1kbps", "1Tbps"))}),
        (link, {"delay": choices.choice(("0s", "1ps", "1h"))}),
        (link, {"queue": {"limit": choices.choice(("1p", "1B", "unlimited", "1000000p"))}}),
        (link, {"loss": {"kind": "uniform", "rate": choices.choice((1, "100%", 5e-324))}}),
        (link, {"loss": {"kind": "script", "packets": list(range(1, 20_000))}}),
        (flow, {"count": choices.choice((1, 100, 10_000))}),
        (flow, {"arrivals": {"every": choices.choice(("1us", "1h")), "size": "1B"}}),
        (flow, {"packet": choices.choice(("41B", "65535B"))}),
        (state, {"seed": choices.choice((1, 1_000_000))}),
        (state, {"queue_ms": choices.choice((1e-9, 100_000))}),
        (state, {"view": {"from_s": 0, "to_s": choices.choice((1e-300, 5e-7, 1e300))}}),
        (state, {"view": {"from_s": 1e300, "to_s": 2e300}}),
        (state, {"lines": [{}] * 4}),
        (state, {"together": True, "lines": [{"*.cc": "reno"}, {"*.cc": "bbr"}]}),
        (state, {"others": [{"*.cc": "vegas"}] * 60}),
    )
    for table, change in choices.sample(changes, choices.randint(1, 3)):
        table.update(change)


def test_a_state_that_is_valid_and_hostile_leaves_the_page_at_work(page, checked, attack):
    """The state is shown, rejected in one line, or stopped."""
    page.evaluate("lab.openPreset('path')")
    usual = json.dumps(page.evaluate("lab.state"))
    for choices in attack.rounds():
        state = json.loads(usual)
        hostile(state, choices)

        def act():
            message = page.evaluate(OPEN, state)  # noqa: B023
            if message:  # rejected before anything began
                page.evaluate(
                    "(said) => Object.assign(document.getElementById('message'), "
                    "{ textContent: said, hidden: false })",
                    message,
                )

        settled(page, act)
        checked()


def test_sliders_moved_again_and_again_take_no_memory(page, attack):
    """Neither the page nor the engine in its workers grows."""
    session = page.context.new_cdp_session(page)
    sliders = page.locator("input[type='range']:visible")
    for choices in attack.rounds():
        used = []
        for move in range(MOVES):
            slider = sliders.nth(choices.randrange(sliders.count()))
            before = page.evaluate(SHOWN)
            slider.focus()
            page.keyboard.press(choices.choice(("ArrowLeft", "ArrowRight", "PageUp", "PageDown")))
            page.evaluate(SETTLED, [before, 200])
            if move % 40 == 39:
                used.append(memory_mb(session))
        assert used[-1] - used[0] < MOST_GROWTH_MB, used


def memory_mb(session: Any) -> float:
    """Returns the page's memory after garbage collection."""
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6
