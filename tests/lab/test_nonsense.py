# SPDX-License-Identifier: BSD-3-Clause
"""Nonsense in a file, a link or a state gives one clear line, and the page keeps its state."""

import base64
import json
import zlib

import pytest
from one_link import FILE as SOUND

from tests.lab.test_page import drop

HOSTILE = "<img src=x onerror=alert(1)>"
FILES = [
    ("name = ", "is not TOML"),
    (SOUND.replace('"wire"', f'"{HOSTILE}"'), "expected a name"),
    (SOUND.replace("10ms", HOSTILE), "expected a time"),
    (SOUND.replace('"reno"', f'"{HOSTILE}"'), "expected one of"),
    (SOUND.replace('"1Mbps"', '"1Mbs"'), "unknown unit"),
    (SOUND.replace('"1Mbps"', '"0bps"'), "expected at least 1kbps and at most 1Tbps"),
    (SOUND.replace("rate =", "rtae ="), 'did you mean "rate"'),
    (SOUND.replace('to = "b"', 'to = "c"'), "no link has this node"),
    (SOUND.replace("[[flow]]", "[flow]"), "expected at least one table [[flow]]"),
    (f'{SOUND}\npacket = "40B"', "expected more than the header"),
    (f'profile = "{HOSTILE}"\n{SOUND}', "expected one of"),
    (f"__proto__ = 1\n{SOUND}", "__proto__"),
    (f"{SOUND}\nsweep = 3", "sweep"),
    (f'{SOUND}\n[sweep]\n"tcp.cc" = []', "expected a list of values"),
    (f'{SOUND}\n[sweep]\n"nobody.rate" = ["1Mbps"]', "nobody.rate"),
    (SOUND.replace('"a", "b"', '"a", "a"'), "expected two different nodes"),
    (SOUND.replace('delay = "10ms"', 'delay = "10ms"\nloss = "much"'), "expected a table"),
    (
        SOUND.replace('delay = "10ms"', 'delay = "10ms"\ntrace = { forward = "f.txt" }'),
        "expected a list",
    ),
    (
        SOUND.replace("[[link]]", "[link]") + '[sweep]\n"wire.delay" = ["1ms"]',
        "expected at least one table [[link]]",
    ),
    ("\0\x01\x02", "is not TOML"),
    ("", "expected at least one table"),
]
STATES = [
    "seed = 0",
    "seed = 1e9",
    "lines = []",
    "lines = Array(5).fill({})",
    "lines[0] = {'nobody.cc': 'reno'}",
    "lines[0] = {'__proto__.cc': 'reno'}",
    "scenario = null",
    "scenario.link = {}",
    "scenario.link[0] = null",
    "scenario.flow[0].count = 1e6",
    "view = {from_s: 3, to_s: 2}",
    "queue_ms = -1",
    "preset = 'nobody'",
    "preset = 'constructor'",
    "more = 1",
    "others = {}",
    "others = [{'nobody.cc': 'reno'}]",
    "others = Array(61).fill({})",
    "scenario.link[0].between = ['a']",
    "scenario.link[0].loss = {kind: 'uniform', rate: 2}",
    "scenario.link[0].loss = {kind: 'toString'}",
    "scenario.profile = 'constructor'",
    "link = 'nobody'",
    "link = 'constructor'",
    "lines[0] = {'tcp.cc': JSON.parse('{\"a\":'.repeat(99) + '1' + '}'.repeat(99))}",
]
# Keys that every JavaScript object inherits, as the keys of a line or of a sweep.
WORDS = """
__proto__ __proto__.x tcp.__proto__ tcp.__proto__.x *.__proto__.x tcp.__proto__.__proto__.x
tcp.constructor.prototype.x tcp.constructor.x tcp.prototype.x tcp.toString.x tcp.hasOwnProperty
tcp.cc.__proto__.x path.loss.__proto__.x path.loss.packets.__proto__.x
"""
INHERITED = WORDS.split()
CLEAN = """["x", "y"].every((key) => [{}, [], () => 0].every((one) => one[key] === undefined)) &&
    Object.getOwnPropertyNames(Object.prototype).length === 12"""
LINKS = [
    "#s=",
    "#s=%%%",
    "#s=AAAA",
    "#t=eJw",
    f"#preset={HOSTILE}",
    "#s=" + "A" * 5000,
    "#preset=%",
    "#preset=%5F%5Fproto%5F%5F",
    "#preset=constructor",
    "#preset=toString",
    "#preset=sawtooth&cc=%",
]


def test_an_invalid_file_gives_one_line_and_loses_nothing(tab):
    before = tab.evaluate("lab.rows")
    for number, (text, expected) in enumerate(FILES):
        drop(tab, f"{HOSTILE}{number}.toml", text)
        message = tab.locator("#message", has_text=f"{HOSTILE}{number}.toml: ")
        message.wait_for(timeout=5000)
        assert expected in message.inner_text(), text
        assert len(message.inner_text()) < 500
        assert "TypeError" not in message.inner_text()
        assert tab.locator("img").count() == 0
    assert tab.evaluate("lab.rows") == before


@pytest.mark.parametrize("word", LINKS)
def test_an_invalid_link_gives_one_line(opened, word):
    page = opened(word)
    page.locator("#message").wait_for()
    assert page.locator("#message").inner_text().startswith(("this link is damaged", "preset = "))
    assert page.locator("img").count() == 0
    assert len(page.evaluate("lab.rows")) == 2


def test_a_misspelt_preset_in_a_link_is_guessed(opened):
    page = opened("#preset=sawtoth")
    expected = 'preset = "sawtoth": did you mean "sawtooth"?'
    assert page.locator("#message").inner_text().startswith(expected)


def packed(value: object) -> str:
    """Returns a value as the word of a link."""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = pack.compress(json.dumps(value).encode()) + pack.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@pytest.mark.parametrize("kind", ["s", "t"])
def test_a_link_changes_no_prototype(tab, kind):
    before, rows = tab.evaluate("lab.state"), tab.evaluate("lab.rows")
    assert tab.evaluate(CLEAN)
    for key in INHERITED:
        for value in (1, {"y": 1}, "westwood+"):
            if kind == "s":
                word = packed({"v": 1, **before, "lines": [{key: value}]})
            else:
                word = packed({**before["scenario"], "sweep": {key: [value]}})
            tab.evaluate("document.getElementById('message').hidden = true")
            tab.evaluate("(hash) => location.hash = hash", f"#{kind}={word}")
            tab.locator("#message").wait_for()
            message = tab.locator("#message").inner_text()
            assert "TypeError" not in message and "undefined" not in message, (key, message)
            assert tab.evaluate(CLEAN), (key, value)
            assert tab.evaluate("lab.state") == before
    tab.evaluate("lab.openPreset('path')")
    tab.evaluate("lab.openPreset('sawtooth')")
    assert tab.evaluate("lab.rows") == rows and tab.locator("#panels canvas").count() > 4


@pytest.mark.parametrize(
    "name", ["__proto__", "constructor", "%5F%5Fproto%5F%5F", "toString,hasOwnProperty"]
)
def test_a_link_with_unknown_controls_gives_one_line(opened, name):
    page = opened(f"#preset=sawtooth&cc={name}")
    assert "expected one of" in page.locator("#message").inner_text()
    assert len(page.evaluate("lab.rows")) == 2 and page.evaluate(CLEAN)


@pytest.mark.parametrize("kind", ["nobody", "constructor", "toString", "__proto__"])
def test_a_link_of_an_unknown_kind_opens_the_initial_page(opened, tab, kind):
    """Every JavaScript object inherits names such as `constructor`, which are not kinds."""
    assert opened(f"#{kind}=x").evaluate("lab.rows") == tab.evaluate("lab.rows")


def test_a_file_that_is_too_large_is_not_read(page):
    page.evaluate('() => { Blob.prototype.text = () => { throw new Error("it was read"); }; }')
    drop(page, "large.toml", " " * 8_000_001)
    page.locator(
        "#message", has_text="large.toml: expected a scenario file of at most 8 MB"
    ).wait_for()


def test_a_link_that_unpacks_to_too_much_is_rejected_early(page):
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = b"".join(pack.compress(bytes(10**6)) for _ in range(300)) + pack.flush()
    word = base64.urlsafe_b64encode(data).decode().rstrip("=")
    page.evaluate(
        """(word) => {
            const { write } = WritableStreamDefaultWriter.prototype;
            window.fed = 0;
            WritableStreamDefaultWriter.prototype.write = function (bytes) {
                window.fed += bytes.length;
                return write.call(this, bytes);
            };
            location.hash = word;
        }""",
        f"#s={word}",
    )
    page.locator("#message", has_text="this link is damaged").wait_for()
    assert 0 < page.evaluate("fed") < 50_000 < len(data), "each byte becomes a thousand"


def test_an_invalid_state_is_rejected(tab):
    before = tab.evaluate("lab.state")
    for change in STATES:
        problem = tab.evaluate(
            f"""(() => {{
                const next = lab.state;
                next.{change};
                try {{ lab.open(next); return ""; }} catch (error) {{ return String(error); }}
            }})()"""
        )
        assert problem, change
        assert "TypeError" not in problem, f"{change}: {problem}"
        assert tab.evaluate("lab.state") == before
