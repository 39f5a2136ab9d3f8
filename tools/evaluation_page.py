# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates our controls and writes docs/own-evaluation.md: python -m tools.pages evaluation [DIR].

DIR is the folder of the evaluation, build/evaluation by default; what it holds is not run again.
docs/own-evaluation.json keeps the numbers. tests/tools/test_evaluation_page.py compares them with
the page and some of them with new runs. docs/pages/own-evaluation.html is the evaluation's own page
with few of its pictures, which would be three times as large with all.

`python -m tools.pages evaluation-linux DIR` asks Linux in virtual time at the points that decide
who is safe to others, and keeps what it says in docs/evaluation-linux.json.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools import pages
from tools.pages import DOCS
from westwood.cli.commands import call
from westwood.control.catalogue import PROTOCOLS
from westwood.evaluation import text
from westwood.evaluation.answer import Answer
from westwood.evaluation.catalogue import PARTS
from westwood.evaluation.criterion import QUESTIONS

CONTROLS = ("westwood+", "westwood-cubic", "cubic", "bbr", "bbr3", "sack")
WHOLE = DOCS / "pages" / "own-evaluation.html"
_SECTION = re.compile(r'(?=<h2 id=")')
_FIGURE = re.compile(r"<figure>.*?</figure>\n?", re.DOTALL)
_LABORATORY = re.compile(r'<p class="soft">Try it in a browser:.*?</p>\n?', re.DOTALL)
_PICTURES = {"harm-cubic.png": "evaluation-harm.png", "c4.png": "evaluation-c4.png"}
_WORDS = {
    "meets": "meets",
    "fails": "**fails**",
    "cannot tell": "cannot tell",
    "not run": "not run",
}
_LINES = {
    criterion.name: criterion.question
    for part in PARTS.values()
    for criterion in part.criteria
    if criterion.question
}


def measured(folder: Path) -> pages.Numbers:
    """Runs the evaluation, or what is missing of it, and returns its numbers."""
    resume = ["--resume"] if folder.exists() else []
    code = call(["evaluate", *CONTROLS, "--out", str(folder), *resume])
    if code:
        raise SystemExit(code)
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))["answers"]
    for picture, name in _PICTURES.items():
        shutil.copyfile(folder / picture, DOCS / "img" / name)
    html = (folder / "index.html").read_text(encoding="utf-8")
    WHOLE.parent.mkdir(exist_ok=True)
    WHOLE.write_text(short(html), encoding="utf-8")
    return {
        "says": {entry["criterion"]: entry["says"] for entry in answers[CONTROLS[0]]},
        "answers": {
            cc: {entry["criterion"]: _kept(entry) for entry in answers[cc]} for cc in CONTROLS
        },
    }


def measured_in_linux(folder: Path) -> pages.Numbers:
    """Asks the engine linux-um, too, and returns what it says at each control's worst point."""
    words = ["--only", "harm-cubic", "--also", "linux-um", "--out", str(folder)]
    code = call(["evaluate", *CONTROLS, *words, *(["--resume"] if folder.exists() else [])])
    if code:
        raise SystemExit(code)
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))["answers"]
    numbers = {}
    for cc, (entry,) in answers.items():
        there = {key: entry["elsewhere"][key] for key in ("judged", "low", "high", "verdict")}
        worst = Answer.of(entry).worst
        numbers[cc] = {"point": worst and worst.name, "here": entry["verdict"], **there}
    return numbers


def in_linux(numbers: pages.Numbers) -> dict[str, str]:
    """Returns the sentence about what Linux says of the first line."""
    agreed = {cc: entry for cc, entry in numbers.items() if entry["verdict"] == entry["here"]}
    same = ", ".join(f"`{cc}` {_figure(entry)}" for cc, entry in agreed.items())
    others = "".join(
        f"; `{cc}` {entry['verdict']}, {_figure(entry)} ({text.number(entry['low'])} to "
        f"{text.number(entry['high'])})"
        for cc, entry in numbers.items()
        if cc not in agreed
    )
    asked = "`--only harm-cubic --also linux-um`"
    sentence = (
        f"At the same points Linux 6.12 in virtual time confirms {len(agreed)} of {len(numbers)} "
        f"verdicts of the first line ({asked}), where 0.8 is asked for: {same}{others}.\n"
    )
    return {"linux": sentence}


def short(html: str) -> str:
    """Returns a page of all tables, with the pictures of the five lines and of C4.

    The links to the laboratory are left out, because their folder is not in docs/.
    """
    kept = tuple(f'<h2 id="{name}"' for name in (*_LINES, "part-c4"))
    sections = _SECTION.split(_LABORATORY.sub("", html))
    return "".join(
        section if section.startswith(kept) else _FIGURE.sub("", section) for section in sections
    )


def _kept(entry: dict[str, Any]) -> dict[str, Any]:
    """Returns what the page needs: the worst point, what is judged there and the mean of all."""
    answer = Answer.of(entry)
    worst = answer.worst
    worst_point = (
        {"point": worst.name, "judged": worst.judged, "mean": answer.mean} if worst else {}
    )
    compared = [point.paced for point in answer.points if not math.isnan(point.paced)]
    paced = {"paced": min(compared, default=math.nan)}
    return {"verdict": entry["verdict"]} | _known(worst_point | paced)


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value == value and value is not None}


def tables(numbers: pages.Numbers) -> dict[str, str]:
    """Returns the page's tables."""
    return {
        "conclusions": conclusions(numbers),
        "lines": pages.table(f"question | {_CONTROLS}", _lines(numbers)),
        "pacing": pages.table(_PACING, _pacing(numbers)),
        "criteria": pages.table(f"criterion | what | {_CONTROLS}", _criteria(numbers)),
        "published": pages.table(_PUBLISHED, _published(numbers)),
    }


# A row of "what to take": the path, and the lines that a control must not fail on it.
_PATHS = {
    "shared with others, without random loss": ("safe", "fills", "short"),
    "shared with others, and losing packets without a queue": ("safe", "loss", "short"),
    "yours alone, and losing packets without a queue": ("loss",),
    "yours alone, with a queue that must stay short": ("fills", "queues"),
}


def conclusions(numbers: pages.Numbers) -> str:
    """Returns who meets how many lines, what to take for which path, and why not BBRv1."""
    by_line = {cc: _by_line(numbers["answers"][cc]) for cc in CONTROLS}

    def which(lines: tuple[str, ...], *verdicts: str) -> list[str]:
        return [
            f"`{cc}`" + (", experimental" if PROTOCOLS[cc].warning else "")
            for cc, answers in by_line.items()
            if {answers[line]["verdict"] for line in lines} <= set(verdicts)
        ]

    counts: dict[int, list[str]] = {}
    for cc, answers in by_line.items():
        met_count = sum(answer["verdict"] == "meets" for answer in answers.values())
        counts.setdefault(met_count, []).append(f"`{cc}`")
    ranked = "; ".join(
        f"{', '.join(counts[count])} {count}" for count in sorted(counts, reverse=True)
    )
    rows = []
    for path, lines in _PATHS.items():
        takes = which(lines, "meets")
        open_ = [cc for cc in which(lines, "meets", "cannot tell") if cc not in takes]
        asked = ", ".join(_MUST[line] for line in lines)
        rows.append((path, "; ".join(takes) or "none", "; ".join(open_) or "-", asked))
    safe, short = by_line["bbr"]["safe"], by_line["bbr"]["short"]
    why = (
        f"Why not `bbr` on a shared path: at {safe['point']} CUBIC keeps {_figure(safe)} of what "
        f"it keeps next to itself, and at {short['point']} short flows keep {_figure(short)}."
    )
    meets = f"Of the five lines below each control meets: {ranked}."
    shown = pages.table("your path | take | not decided | because it must", rows)
    return f"{meets}\n\n{shown}\n{why}\n"


def _by_line(answers: dict[str, Any]) -> dict[str, Any]:
    """Returns the answers to the questions of the five lines."""
    return {question: answers[name] for name, question in _LINES.items()}


_MUST = {
    "safe": "leave CUBIC its share",
    "fills": "fill the path",
    "queues": "keep queues short",
    "loss": "survive loss",
    "short": "let short flows pass",
}


_CONTROLS = " | ".join(f"`{cc}`" for cc in CONTROLS)
_PUBLISHED = "trial | control | ours, s | picoquic, s | difference | why | source"


def _lines(numbers: pages.Numbers) -> Iterator[Sequence[str]]:
    for question, says in QUESTIONS.items():
        cells = []
        for cc in CONTROLS:
            answer = _by_line(numbers["answers"][cc])[question]
            cells.append(f"{_WORDS[answer['verdict']]}, {_figure(answer)} at {answer['point']}")
        yield says, *cells


_PACING = (
    "control | 95 % of segments in bursts of at most: | largest burst: | "
    "CUBIC keeps, over what it keeps next to CUBIC: | next to paced CUBIC:"
)


def _pacing(numbers: pages.Numbers) -> Iterator[list[str]]:
    """Yields how bursty each control is, and what CUBIC keeps at the worst point."""
    for cc in CONTROLS:
        answers = numbers["answers"][cc]
        bursts = [_figure(answers[name]) for name in ("bursts", "largest-burst")]
        kept = answers["harm-cubic"]
        yield [f"`{cc}`", *bursts, _figure(kept), text.number(kept["paced"])]


def _figure(answer: dict[str, Any]) -> str:
    return text.number(answer["judged"])


def _criteria(numbers: pages.Numbers) -> Iterator[Sequence[str]]:
    for name, says in numbers["says"].items():
        cells = [_WORDS[numbers["answers"][cc][name]["verdict"]] for cc in CONTROLS]
        yield f"`{name}`", says, *cells


def _published(numbers: pages.Numbers) -> Iterator[Sequence[str]]:
    for criterion in PARTS["c4"].criteria:
        for cc, published in criterion.published.items():
            answer = numbers["answers"][cc][criterion.name]
            for theirs in published:
                ours = theirs.ours(answer["mean"], answer["judged"])
                off = ours / theirs.value - 1
                why = theirs.explains(off)
                cells = (f"{ours:.3g}", theirs.text, f"{off:+.1%}", why, theirs.source)
                yield criterion.says, f"`{cc}`", *cells


PAGE = pages.Page(
    DOCS / "own-evaluation.md",
    DOCS / "own-evaluation.json",
    tables,
    lambda numbers: numbers,
    lambda stored, words: [measured(Path(*words or (DOCS.parent / "build" / "evaluation",)))],
)
LINUX = pages.Page(
    DOCS / "own-evaluation.md",
    DOCS / "evaluation-linux.json",
    in_linux,
    lambda numbers: numbers,
    lambda stored, words: [measured_in_linux(Path(*words))],
    # The points are those that decide in the simulator.
    {
        "points": lambda stored: (
            _worst_points(),
            {cc: entry["point"] for cc, entry in stored.items()},
        )
    },
)


def _worst_points() -> dict[str, str]:
    return {cc: answers["harm-cubic"]["point"] for cc, answers in PAGE.read()["answers"].items()}
