# SPDX-License-Identifier: BSD-3-Clause
"""Broken scenario files run, or give one line per mistake that names file and key."""

import contextlib
import os
import random
import re
import resource
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from plain_scenarios import check_like_the_models

from westwood.control.catalogue import (
    APPLICATIONS,
    DROPTAIL,
    IMPAIRMENTS,
    LOSSES,
    NO_LOSS,
    OF_DATAGRAMS,
    PROTOCOLS,
    QUEUES,
    RECOVERIES,
    SCRIPT,
    SETTINGS,
    UDP,
    Setting,
    settings_of,
    settings_of_protocol,
)
from westwood.engines import resources, simulator
from westwood.engines.contract import Job
from westwood.errors import InputError, RunError
from westwood.scenario import Scenario
from westwood.scenario.declared import written_field

SHIPPED = sorted(Path(__file__).parents[2].joinpath("scenarios").glob("*.toml"))
SMALL = Path(__file__).parents[1].joinpath("westwood", "small.toml")
LONGEST_S = 10.0
MOST_BYTES = 1 << 30
MOST_LINES = 12  # mistakes of a file, and the count of further ones
TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_][\w.-]*|[0-9.]+|\S')
VALUE = re.compile(r'(?<== )("[^"\n]*"|[0-9][\w.]*|\{.*\}|\[.*\])|(?<=name = )"')
VALUES = r"""
nan inf -1 0 1 1e400 1e-17 -0.0 true "" "2Mbps" "-1s" "1e9h" "x" [] {} [[]] 1979-05-27
99999999999999999999999 "\u0000" "unlimited" "0p" "2246400s" "1ps" "1bps" "1Tbps" "100%" ''
0x10 "1GiB" ["a","b"] {kind="none"} {kind="udp",rate="1kbps"} {name="reno"} "a.b" 1_000
"/dev/zero" "udp" "hystart" {packets="/dev/zero"} {forward="/proc/self/mem"} {packets="."}
{rate=5e-324} {every="1us",size="1B"}
{every="1s",size="1kB"} {rate=0.1,delay="1s",on="both"} "65535B" 10000
[1,2,3] [0] [9223372036854775807] "1bdp" "0bdp" {limit="1bdp"} {limit="-1bdp"}
"""
KEYS = """
name between queue loss trace reorder from to cc recovery count app arrivals duration seeds profile
sweep link flow kind on
"""
EVERY_KEY = [*KEYS.split(), *(setting.name for setting in SETTINGS)]


def mutated(text: str, choices: random.Random) -> bytes:
    """Returns the text after some changes of its tokens, lines or bytes."""
    for _ in range(choices.choice([1, 1, 1, 2, 5])):
        tokens = list(TOKEN.finditer(text))
        lines = text.splitlines()
        where = choices.choice(tokens) if tokens else None
        place = choices.randrange(len(lines) + 1)
        match choices.choice(range(9)) if choices.random() < 0.3 else 9:
            case 9:
                values = list(VALUE.finditer(text)) or [re.compile("$").search(text)]
                replacement = choices.choice(values)
                assert replacement is not None
                text = (
                    text[: replacement.start()]
                    + choices.choice(VALUES.split())
                    + text[replacement.end() :]
                )
            case 0 if where:
                text = text[: where.start()] + choices.choice(VALUES.split()) + text[where.end() :]
            case 1 if where:
                text = text[: where.start()] + choices.choice(EVERY_KEY) + text[where.end() :]
            case 2 if where:
                other = choices.choice(tokens)
                text = text[: where.start()] + other[0] + text[where.end() :]
            case 3:
                new = f"{choices.choice(EVERY_KEY)} = {choices.choice(VALUES.split())}"
                text = "\n".join([*lines[:place], new, *lines[place:]])
            case 4:
                text = "\n".join(lines[:place] + lines[place + 1 :])
            case 5:
                text = "\n".join(
                    [*lines[:place], *lines[max(0, place - 9) : place], *lines[place:]]
                )
            case 6:
                deep = choices.choice(["[", "{a=", "a.", '"a".', "[[", '"""', "'''", "\\", "#"])
                text = text.replace("=", "= " + deep * choices.choice([1, 10, 1000, 50_000]), 1)
            case 7:
                text = text.replace("\n", choices.choice(["\r\n", "\r", "\0\n", "\u2028", "\n\n"]))
            case _:
                position = choices.randrange(len(text) + 1)
                text = (
                    text[:position]
                    + chr(choices.choice([0, 34, 127, 233, 0xFEFF, 0x1F600]))
                    + text[position:]
                )
    encoding = choices.choice(["utf-8"] * 30 + ["utf-8-sig", "utf-16", "latin-1"])
    return text.encode(encoding, "replace")


def short(text: str) -> str:
    """Limits the scenario's runs to a second, since an attack has no time for more."""
    text = re.sub(r'^duration = "[^"]*"', 'duration = "1s"', text, flags=re.M)
    text = re.sub(r"^seeds = \d+", "seeds = 1", text, flags=re.M)
    return re.sub(r"^start = .*$", "", text.partition("[sweep]")[0], flags=re.M)


def test_mutated_scenario_files(attack, westwood, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mutated.toml"
    for choices in attack.rounds():
        content = mutated(short(choices.choice([*SHIPPED, SMALL]).read_text("utf-8")), choices)
        file.write_bytes(content)
        before = set(os.listdir(tmp_path))
        try:
            lasts = Scenario.from_toml(file)
            if lasts.duration > 10**13 or lasts.seeds * len(lasts.flows) > 100 or lasts.sweep:
                continue  # a valid scenario that takes long
        except InputError:
            pass
        start = time.process_time()
        with bounded_memory():
            called = westwood("run", file, "--seeds", 1, "--out", "out")
        assert time.process_time() - start < LONGEST_S
        assert called.code in (0, 2), called.err
        if called.code == 2:
            check_lines(called.err.splitlines(), file)
            assert set(os.listdir(tmp_path)) == before, "nothing may be written"


def check_lines(lines: list[str], file: Path) -> None:
    """Expects one line per mistake, with the file and its line if known, and a limit on lines."""
    assert 0 < len(lines) <= MOST_LINES
    place = re.compile(rf"westwood: {re.escape(str(file))}(:\d+)?: .")
    for number, line in enumerate(lines, 1):
        is_last = number == len(lines) > 1 and re.fullmatch(
            r"westwood: and \d+ more such errors?", line
        )
        assert is_last or place.match(line), line
        assert len(line) < 1500 + len(str(file))


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Lets the block have so much memory more than the process has."""
    limit = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)


def any_value(setting: Setting, choices: random.Random) -> Any:
    """Draws a value as a scenario writes it, often at an end of what is declared."""
    kind, _, other = setting.kind.partition("_OR_")
    if kind == "SWITCH" or setting.choices:
        return choices.choice(setting.choices or (False, True))
    least, most = setting.least, setting.most
    most = most // 4 if kind == "RATES" else most
    start = least or 1e-17
    between = start * (min(most, 2**30 if kind == "SSTHRESH" else most) / start) ** choices.random()
    if not isinstance(least, float):
        between = min(max(least, round(between)), most)
    value = choices.choice([least, most, between, *[0] * (other == "NONE")])
    return written_field(replace(setting, kind=kind), value)


def any_values(settings: Iterable[Setting], choices: random.Random) -> dict[str, Any]:
    """Draws values of the settings without a default, and of none, some or all of the others."""
    share = choices.choice([0, 0.05, 0.3, 1])
    return {
        setting.name: any_value(setting, choices)
        for setting in settings
        if not setting.why or choices.random() < share
    }


def of_kind(kind: str, choices: random.Random) -> dict[str, Any]:
    return {"kind": kind, **any_values(settings_of(kind).values(), choices)}


def any_link(choices: random.Random) -> dict[str, Any]:
    link = any_values(settings_of("link").values(), choices)
    reorder = {key: link.pop(f"reorder_{key}") for key in ("rate", "delay")}
    link["queue"] = of_kind(choices.choice([DROPTAIL, *QUEUES]), choices)
    link["queue"]["limit"] = choices.choice(["1p", "100p", "1B", "unlimited", "1073741824p"])
    link["loss"] = of_kind(choices.choice([NO_LOSS, SCRIPT, *LOSSES]), choices)
    if link["loss"]["kind"] == SCRIPT:
        link["loss"]["packets"] = sorted({choices.randrange(1, 2**63) for _ in range(3)})
    sides = ["forward", "backward", "both"]
    link["loss"]["on"] = choices.choice(sides)
    for kind in choices.sample([*IMPAIRMENTS, "reorder"], choices.choice([0, 0, 1, 2])):
        link[kind] = reorder if kind == "reorder" else of_kind(kind, choices)
        link[kind] = {**link[kind], "on": choices.choice(sides)}
        link[kind].pop("kind", None)
    return link


def any_flow(choices: random.Random) -> dict[str, Any]:
    app = choices.choice([*APPLICATIONS.values()])
    settings, cc = [*settings_of("flow").values()], UDP
    flow: dict[str, Any] = {"app": {"kind": app.kind, **any_values(app.settings, choices)}}
    if app.kind == UDP:
        settings = [setting for setting in settings if setting.name in OF_DATAGRAMS]
    else:
        cc = choices.choice([*PROTOCOLS])
        flow["recovery"] = choices.choice([*RECOVERIES])
    flow["cc"] = {"name": cc}
    if cc != UDP:
        flow["cc"] |= any_values(settings_of_protocol(cc).values(), choices)
    flow |= any_values(settings, choices)
    if app.kind == "bulk" and choices.random() < 0.5:
        flow.pop("size", None)
        flow["arrivals"] = {"every": choices.choice(["1us", "10ms", "1s"]), "size": "1B"}
    return flow | {"count": choices.choice([1, 1, 10, 10_000])}


def any_scenario(choices: random.Random, count: int) -> dict[str, Any]:
    """Draws a network of some links and a flow, with any declared settings."""
    link = any_link(choices)
    return {
        "name": "any",
        "duration": choices.choice(["1ps", "1s", "9s", "2246400s"]),
        "link": [
            {"name": f"l{i}", "between": [f"n{i}", f"n{i + 1}"], **link} for i in range(count)
        ],
        "flow": [{"name": "f", "from": "n0", "to": f"n{count}", **any_flow(choices)}],
    }


def fitted(drawn: dict[str, Any]) -> Scenario | None:
    """Leaves out what errors name until nothing is refused; None if a key is needed."""
    while True:
        try:
            return Scenario(**drawn)
        except InputError as error:
            name, *path, key = str(error.key).split(".")
            parts = [
                part for part in (*drawn["link"], *drawn["flow"]) if part["name"][0] == name[0]
            ]
            assert parts, error
            tables = [reduce(lambda table, step: table.get(step, {}), path, part) for part in parts]
            removed = [table.pop(key, None) for table in tables]
            if removed.count(None) == len(removed):
                return None


def test_the_engine_refuses_no_scenario(attack):
    """Bad input is rejected by file and key before the engine reads it."""
    for choices in attack.rounds():
        drawn = any_scenario(choices, choices.choice([1, 1, 2, 5, 254, 255, 256, 300]))
        if not (scenario := fitted(drawn)):
            continue
        run = simulator.prepare(Job(scenario, [1]))
        # An estimate counts the datagrams that a link carries, and not all that arrive.
        longer = () if scenario.flows[0].app.kind == UDP else ("1ms", "1s")
        drawn["duration"] = choices.choice(["1us", *longer])
        if (shorter := fitted(drawn)) and resources.estimate_run(shorter).seconds < 0.5:
            run = simulator.prepare(Job(shorter, [1]))
            try:
                with bounded_memory():
                    run(1)
            except RunError as error:
                assert isinstance(error.__cause__, MemoryError), error


def drawn_settings(drawn: dict[str, Any]) -> set[str]:
    """Returns the declared settings that were drawn, each also with its value."""
    link, flow = drawn["link"][0], drawn["flow"][0]
    reorder = {f"reorder_{key}": value for key, value in link.get("reorder", {}).items()}
    tables = [("link", link | reorder), ("flow", flow), ("cc", flow["cc"])]
    tables += [(flow["app"]["kind"], flow["app"])]
    tables += [(link[key]["kind"], link[key]) for key in ("queue", "loss")]
    tables += [(kind, link[kind]) for kind in IMPAIRMENTS if kind in link]
    return {
        text
        for section, table in tables
        for key, value in table.items()
        for text in (f"{section}.{key}", f"{section}.{key} = {value}")
    }


def ends_of(setting: Setting) -> Iterable[Any]:
    """Returns the least and greatest value, or all words, as a scenario writes them."""
    if setting.kind == "SWITCH" or setting.choices:
        return setting.choices or (False, True)
    finite = replace(setting, kind=setting.kind.partition("_OR_")[0])
    most = setting.most // 4 if setting.kind == "RATES" else setting.most
    return [written_field(finite, value) for value in (setting.least, most)]


def test_random_scenarios_have_every_declared_setting():
    missing = {f"{setting.section}.{setting.name}" for setting in SETTINGS if setting.is_for_users}
    for kind, app in APPLICATIONS.items():  # their models repeat the bounds
        missing |= {
            f"{kind}.{setting.name} = {end}" for setting in app.settings for end in ends_of(setting)
        }
    for seed in range(2000):
        drawn = any_scenario(random.Random(seed), 1)
        if missing & drawn_settings(drawn) and fitted(drawn):
            missing -= drawn_settings(drawn)
    assert not missing, "no scenario that is accepted has these"


def test_random_values_reach_the_ends_of_what_is_declared():
    for setting in SETTINGS:
        drawn = [any_value(setting, random.Random(seed)) for seed in range(100)]
        assert all(end in drawn for end in ends_of(setting)), (setting.section, setting.name)


def test_what_needs_no_models_is_read_as_they_read_it(attack, tmp_path):
    """The hash and every value agree, and the models refuse nothing that was taken without them."""
    file = tmp_path / "mutated.toml"
    for choices in attack.rounds():
        if choices.random() < 0.3:
            drawn = fitted(any_scenario(choices, choices.choice([1, 2])))
            if drawn is not None:
                check_like_the_models(drawn)
            continue
        text = short(choices.choice([*SHIPPED, SMALL]).read_text("utf-8"))
        file.write_bytes(mutated(text, choices))
        with contextlib.suppress(InputError):
            check_like_the_models(Scenario.from_toml(file))
