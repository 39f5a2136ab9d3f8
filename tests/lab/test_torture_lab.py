# SPDX-License-Identifier: BSD-3-Clause
"""The page and the command line give the same rows for any scenario, or both reject it."""

import itertools
import math
import random
from typing import Any

from westwood.control.catalogue import (
    PROTOCOLS,
    RECOVERIES,
    Setting,
    settings_of,
    settings_of_protocol,
)
from westwood.engines.simulator import simulate
from westwood.errors import WestwoodError
from westwood.scenario import Scenario, profiles
from westwood.scenario.toml_format import toml_value

COSTS = {"scenario", "engine", "cpu_s", "wall_s"}
TIMES = ("0s", "1us", "0.5ms", "7.25ms", "100ms", "1.5s", "20s")
LOSSES = (
    '{ kind = "uniform", rate = "2%" }',
    "{ rate = 0.0007 }",
    '{ kind = "bits", rate = 1e-6, on = "backward" }',
    '{ kind = "script", packets = [1, 2, 30, 31, 32, 90] }',
    '{ kind = "gilbert", p = 0.01, r = 0.3, good_rate = 0.001, bad_rate = "50%" }',
    '{ kind = "markov", good = "1s", bad = "300ms", good_rate = 0.01, bad_rate = "30%" }',
    '{ kind = "blackout", good = "2s", bad = "0.4s", durations = "exponential", on = "both" }',
    '{ kind = "blackout", good = "2s", bad = "0s" }',
    '{ kind = "none" }',
)
QUEUES = (
    '{ limit = "20p" }',
    '{ limit = "1.5bdp" }',
    '{ limit = "0.07 bdp" }',
    '{ limit = "7ms" }',
    '{ limit = "40kB" }',
    '{ limit = "unlimited" }',
    '{ kind = "red", limit = "50p", min = 4, max = 12.5 }',
    '{ kind = "red", limit = "2bdp", min = 2, max = 9, weight = "1%", ecn = true, spared = 2 }',
)
DATAGRAMS = (
    '{ kind = "udp", rate = "300kbps" }',
    '{ kind = "udp", rate = "1Mbps", on = "1s", off = "500ms", spacing = "exponential" }',
)
ARRIVALS = '{ every = "300ms", size = "30kB", sizes = "exponential" }'


def value(setting: Setting, choices: random.Random) -> Any:
    """Returns a value for a setting, sometimes an invalid one."""
    match setting.kind:
        case "SWITCH":
            return choices.choice((True, False))
        case "COUNT" | "COUNT_OR_NONE":
            return choices.randint(max(0, int(setting.least) - 1), min(20, int(setting.most) + 1))
        case "CHOICE":
            return choices.choice(setting.choices)
        case "SEGMENTS" | "SSTHRESH":
            return choices.choice(("1p", "2p", "30p", "9000B", "64KiB", "unlimited"))
        case "BYTES" | "SIZE_OR_ALL":
            return choices.choice(("0B", "40B", "52B", "576B", "1500B", "8KiB", "1MB"))
        case "PACKETS":
            return choices.choice((0, 3.5, 40))
        case "SHARE" | "FACTOR_OR_NONE":
            return choices.choice((0, 0.25, 0.9, 0.9999, "12.5%", 1.5, 3.0))
    return choices.choice(TIMES)


def some(settings: dict[str, Setting], choices: random.Random, most: int) -> dict[str, Any]:
    names = choices.sample(sorted(settings), choices.randint(0, min(most, len(settings))))
    return {name: value(settings[name], choices) for name in names}


def table(name: str, values: dict[str, Any]) -> str:
    return f"\n[[{name}]]\n" + "\n".join(
        f"{key} = {value if key in ('loss', 'queue', 'app', 'arrivals') else toml_value(value)}"
        for key, value in values.items()
    )


def scenario(choices: random.Random) -> str:
    """Returns a scenario of one or two links and a few flows, valid or nearly valid."""
    nodes = ["a", "b", "c"][: choices.choice((2, 3))]
    choices_ = {k: s for k, s in settings_of("link").items() if k in ("overhead", "jitter")}
    text = f'name = "any"\nduration = "{choices.choice(("3s", "8s"))}"\n'
    text += f'profile = "{choices.choice(profiles.names())}"\n'
    for first, second in itertools.pairwise(nodes):
        link = {"name": f"{first}{second}", "between": [first, second]}
        link |= {"rate": choices.choice(("300kbps", "2Mbps", "11.5Mbps"))}
        link |= {"delay": choices.choice(("0s", "1.5ms", "30ms"))}
        link |= {"loss": choices.choice(LOSSES)} if choices.random() < 0.6 else {}
        link |= {"queue": choices.choice(QUEUES)} if choices.random() < 0.7 else {}
        text += table("link", {**link, **some(choices_, choices, 2)})
    for number in range(choices.randint(1, 3)):
        ends = [nodes[0], nodes[-1]]
        choices.shuffle(ends)
        flow: dict[str, Any] = {"name": f"f{number}", "from": ends[0], "to": ends[1]}
        if choices.random() < 0.2:
            flow["app"] = choices.choice(DATAGRAMS)
        else:
            cc = choices.choice(sorted(PROTOCOLS))
            flow["cc"] = {"name": cc, **some(settings_of_protocol(cc), choices, 2)}
            flow |= some(settings_of("flow"), choices, choices.choice((0, 0, 1, 3)))
            flow |= {"arrivals": ARRIVALS} if choices.random() < 0.2 else {}
            flow |= (
                {"recovery": choices.choice(sorted(RECOVERIES))} if choices.random() < 0.2 else {}
            )
            flow |= {"count": choices.randint(1, 4)} if choices.random() < 0.2 else {}
        text += table("flow", flow)
    return text + "\n"


def test_the_page_and_the_command_line_agree_on_any_scenario(one_page, attack, tmp_path):
    for choices in attack.rounds():
        text = scenario(choices)
        (tmp_path / "any.toml").write_text(text)
        try:
            rows = simulate(Scenario.from_toml(tmp_path / "any.toml"), 1).flow_rows
        except WestwoodError as error:
            rows, problem = None, str(error)
        answer = one_page.evaluate(
            """async (text) => {
                try { await lab.openToml(text); } catch (error) { return String(error); }
                const message = document.getElementById("message");
                return message.hidden ? lab.rows : message.textContent;
            }""",
            text,
        )
        if rows is None:
            assert isinstance(answer, str), f"the command line says {problem} of\n{text}"
            assert "TypeError" not in answer
            continue
        assert not isinstance(answer, str), f"the page says {answer} of\n{text}"
        for ours, theirs in zip(answer, rows, strict=True):
            for key in theirs.keys() - COSTS:
                same = ours[key] == theirs[key] or (
                    math.isnan(ours[key]) and math.isnan(theirs[key])
                )
                assert same, f"{key} is {ours[key]}, not {theirs[key]}, of\n{text}"
