# SPDX-License-Identifier: BSD-3-Clause
"""Any text, value or keyword makes a scenario, or an error of one line."""

import random
import tomllib
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from westwood.errors import InputError
from westwood.scenario import Scenario

SMALL = Path(__file__).parents[1].joinpath("small.toml").read_text(encoding="utf-8")


def read(path: Path, text: str) -> None:
    """Reads a text as a scenario: it is one, or the error is one line."""
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        for _ in Scenario.from_toml(path).points():
            pass
    except InputError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 500 + len(str(path))


FUZZ = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES = """
nan -inf -1 0 1e400 true "" "2Mbps" "-1s" "1e9h" "x" [] {} [[]] 1979-05-27 99999999999999999999999
"\\u0000" "unlimited" "0p" {kind="none"} {name="reno"} ["a","b"] "a.b" 0.5 "100%" ''
"""


@FUZZ
@given(text=st.text(max_size=200))
def test_any_text(text, tmp_path):
    read(tmp_path / "fuzz.toml", text)


@FUZZ
@given(seed=st.integers(0, 2**32), value=st.sampled_from(VALUES.split()))
def test_any_value_for_any_key(seed, value, tmp_path):
    chosen = random.Random(seed)
    lines = SMALL.splitlines()
    place = chosen.choice([n for n, line in enumerate(lines) if "=" in line])
    lines[place] = f"{lines[place].split('=')[0]} = {value}"
    read(tmp_path / "fuzz.toml", "\n".join(lines))


@FUZZ
@given(seed=st.integers(0, 2**32), noise=st.text(max_size=5))
def test_any_mutation_of_the_text(seed, noise, tmp_path):
    chosen = random.Random(seed)
    start = chosen.randrange(len(SMALL))
    end = min(len(SMALL), start + chosen.randrange(12))
    read(tmp_path / "fuzz.toml", SMALL[:start] + noise + SMALL[end:])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["link", "flow", "sweep", "name", "duration", "profile", "self", "_given", ""]
)


@FUZZ
@given(changes=st.dictionaries(KEYS, JSON, max_size=3))
def test_any_keywords(changes):
    try:
        Scenario(**{**tomllib.loads(SMALL), **changes})
    except InputError as error:
        assert "\n" not in str(error)


SETTINGS = "tcp tcp. . tcp.cc tcp.cc.name bottleneck.loss a.b.c tcp.cc.name.x link sweep"
SETTINGS += " bottleneck.queue.limit.x"


@FUZZ
@given(
    key=st.sampled_from([*SETTINGS.split(), ""]),
    value=JSON,
)
def test_any_setting(key, value, tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    try:
        Scenario.from_toml(path).with_settings({key: value})
    except InputError as error:
        assert "\n" not in str(error)
