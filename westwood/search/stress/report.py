# SPDX-License-Identifier: BSD-3-Clause
"""Writes findings: a short scenario for each, and a page that lists them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from westwood.control.catalogue import label
from westwood.control.loading import is_file, named
from westwood.results.folder import Folder
from westwood.scenario import toml_format
from westwood.scenario.paths.aqms import AQMS
from westwood.search.stress import attack as attacks
from westwood.search.stress.attack import FEATURES, Attack
from westwood.search.stress.degradation import DEGRADATIONS
from westwood.search.stress.scenarios import as_data
from westwood.search.stress.search_run import Finding
from westwood.units import PS_PER_S, format_rate, format_time

_PS_PER_US = PS_PER_S // 1_000_000
_WIDTH = 100


def name(number: int, finding: Finding) -> str:
    """Returns the name of a finding's scenario."""
    cc = Path(finding.cc).stem if is_file(finding.cc) else finding.cc
    return f"{cc}-{finding.harm}-{number}"


def path(attack: Attack) -> str:
    """Describes the path of an attack in a few words."""
    link = f"{attack.rate_bps / 1e6:.3g} Mb/s, RTT {attack.delay_us / 1e3:.3g} ms"
    queue_ms = 1e3 * attack.queue_packets / attack.packets_in(1e6)
    return f"{link}, a queue of {queue_ms:.3g} ms ({attack.queue_bdp:.2g} BDP)"


def parts(attack: Attack) -> list[str]:
    """Describes each feature of an attack with its numbers."""
    return [_SAID[feature](attack) for feature in attacks.features(attack)]


def _time(us: float) -> str:
    return format_time(round(us) * _PS_PER_US)


_LOST = {"forward": "loss", "both": "loss in both directions", "backward": "loss of ACKs"}


def _losses(attack: Attack) -> str:
    return f"{attack.loss_rate:.2%} {_LOST[attack.loss_on]}"


def _fading(attack: Attack) -> str:
    kind = "" if attack.is_steady else " on average"
    good, bad = _time(attack.good_us), _time(attack.bad_us)
    return f"{attack.loss_rate:.0%} {_LOST[attack.loss_on]} for {bad} after {good}{kind}"


def _bursts(attack: Attack) -> str:
    ends = ", until half-time" if attack.calm_us else ""
    return (
        f"datagrams at {format_rate(attack.burst_bps)} for {_time(attack.burst_on_us)} every "
        f"{_time(attack.burst_on_us + attack.burst_off_us)}{ends}"
    )


_SAID: Mapping[str, Callable[[Attack], str]] = {
    "loss": _losses,
    "fading": _fading,
    "recording": lambda attack: f"{_losses(attack)}, as recorded ({attack.loss_recording})",
    "jitter": lambda attack: f"up to {_time(attack.jitter_us)} jitter",
    "reordering": lambda attack: (
        f"{attack.reorder_rate:.2%} held back by {_time(attack.reorder_us)}"
    ),
    "bursts": _bursts,
    "bursts, then calm": _bursts,
    "dips": lambda attack: (
        f"rate falls to {attack.dip_rate:.0%} for half of every {_time(attack.dip_every_us)}"
    ),
    "RTO": lambda attack: f"minimum RTO of {_time(attack.min_rto_us)}",
    "AQM": lambda attack: AQMS[attack.aqm].called,
    "reverse traffic": lambda attack: f"{attack.reverse_flows} CUBIC in reverse",
    "beside": lambda attack: f"{attack.beside_flows} competing {label(attack.beside or '')}",
    "elsewhere": lambda attack: f"those at {_time(attack.beside_delay_us)}",
    "own links": lambda attack: (
        f"access links of at least {attack.access_share:.2g} times an even share"
    ),
    "several": lambda attack: f"{attack.flows} flows of it",
    "round trips": lambda attack: (
        f"{attack.flows} flows of it, round trips up to {attack.rtt_spread:.2g} times"
    ),
    "transfers": lambda attack: (
        f"transfers of {attack.short_bytes / 1e3:.3g} kB, one in {_time(attack.short_every_us)}"
    ),
}


def sentence(finding: Finding) -> str:
    """Describes what happens, and on which path."""
    attack = finding.attack
    there = ", ".join([path(attack), *parts(attack)])
    return f"{finding.says}: {there}, {_time(attack.duration_us)}."


def cause(finding: Finding) -> str:
    """Describes how much degradation remains without each feature."""
    shares = finding.without.items()
    gone = [
        f"without {FEATURES[key].what}: {value:.0%}" for key, value in shares if key in FEATURES
    ]
    sentences = [f"{key}: {value:.0%}" for key, value in shares if key not in FEATURES]
    return "; ".join([*gone, *sentences])


def comment(finding: Finding, called: str) -> str:
    """Writes the comment at the top of a scenario."""
    attack = finding.attack
    says = [
        sentence(finding),
        f"Harm ({DEGRADATIONS[finding.harm].what}): {finding.value:.0%}, {finding.least:.0%} to "
        f"{finding.most:.0%} with other seeds; {cause(finding)}.",
        f"westwood control stress --replay {called}.toml runs it; "
        f"the simulator's seed was {attack.seed}.",
    ]
    lines = [line for text in says for line in textwrap.wrap(text, _WIDTH - 2)]
    return "".join(f"# {line}\n" for line in lines)


def files(finding: Finding, called: str) -> dict[str, str]:
    """Returns the scenario's files by name; a recorded rate and a control have their own."""
    data = as_data(finding.attack, finding.cc) | {"name": called, "sweep": {}}
    texts = {}
    if is_file(finding.cc):
        control = named(finding.cc)
        texts[control.file] = control.code.decode()
        table = {"name": Path(finding.cc).name, "source": control.source}
        for flow in data["flow"]:
            flow["cc"] = table if flow.get("cc") == finding.cc else flow.get("cc")
    if trace := data["link"][0].get("trace"):
        texts[f"{called}.rate"] = "".join(f"{ms}\n" for ms in trace["forward"])
        trace["forward"] = f"{called}.rate"
    return {**texts, f"{called}.toml": comment(finding, called) + toml_format.dumps(data)}


def page(findings: Sequence[Finding], title: str, counts: Mapping[tuple[str, ...], int]) -> str:
    """Writes the page that lists the findings."""
    lines = [f"# {title}", ""]
    for number, finding in enumerate(findings, 1):
        again = counts.get(finding.kind, 1)
        lines += [
            f"{number}. **{finding.harm}, {finding.value:.0%}** ({again} of this kind): "
            f"{sentence(finding)}",
            f"   {cause(finding)}. "
            f"`westwood control stress --replay findings/{name(number, finding)}.toml`",
        ]
    return "\n".join(lines) + "\n"


def write(
    folder: Folder, findings: Sequence[Finding], title: str, counts: Mapping[tuple[str, ...], int]
) -> None:
    """Writes the scenarios, the page and the findings as JSON."""
    for number, hunt_finding in enumerate(findings, 1):
        called = name(number, hunt_finding)
        for file, content in files(hunt_finding, called).items():
            folder.text(f"findings/{file}", content)
    folder.json("findings.json", [finding.as_json() for finding in findings])
    folder.text("findings.md", page(findings, title, counts))
