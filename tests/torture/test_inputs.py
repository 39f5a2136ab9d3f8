# SPDX-License-Identifier: BSD-3-Clause
"""A damaged input file is read, or rejected in one line that names the error.

test_damage.py covers results folders, test_scenarios.py scenarios with other words.
"""

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
from cases import PLAN
from damages import BYTES
from small_studies import SCENARIO

from westwood.campaign import fit, trying
from westwood.campaign.plan import CampaignPlan
from westwood.errors import WestwoodError
from westwood.kernel import reading
from westwood.results import journal
from westwood.results.folder import Folder
from westwood.scenario import Scenario

TRACED = SCENARIO.replace(
    'rate = "2Mbps"', 'rate = "2Mbps"\ntrace = { forward = "times.txt" }'
).replace('{ kind = "uniform", rate = 0.005 }', '{ kind = "script", packets = "lost.txt" }')
NUMBERS = "# milliseconds, or packets\n3\n17\n18\n400\n"
CONTROLS = ("cubic", "reno")
EVENTS = (
    "netns,flow,time_s,cwnd,ssthresh,estimate_bps,sample_bps,rtt_s,srtt_s,rto_s,in_flight,"
    "state,event,cc,rtt_min_s,mss,delivered_bytes,sent,retransmitted,lost\n"
)
EVENT = "7,10.0.0.1:4000>10.0.0.2:443,{:.6f},{},{},8000.0,9000.0,0.05,0.05,0.3,4,{},{},ww_plus,"
CELLS = ("", "0", "-1", "1", "1e18", "1e300", "nan", "inf", "7.5", "open", "timeout", "x", "é")
LONGEST_S = 10.0


def recording() -> str:
    kinds = (
        [("open", "start")] + 30 * [("open", "window")] + [("recovery", "loss"), ("open", "end")]
    )
    rows = [
        EVENT.format(0.1 * place, 10 + place, 20, *kind)
        + f"0.05,1448,{1448 * 20 * place},{20 * place},{place // 10},0\n"
        for place, kind in enumerate(kinds)
    ]
    return EVENTS + "".join(rows)


def trial(folder: Path) -> None:
    """Writes two uploads into a folder as `path compare` does."""
    times = [0.02 * place for place in range(200)]
    frame = pl.DataFrame(
        {
            "time_s": times,
            "srtt_s": [0.05 + 0.01 * (place % 5) for place in range(200)],
            "delivered_bytes": [1448 * 10 * place for place in range(200)],
            "sent": [10 * place for place in range(200)],
            "retransmitted": [place // 40 for place in range(200)],
        }
    )
    folder_ = Folder(folder)
    folder_.manifest({"trial": {}})
    rows = [{"pair": 1, "place": 1, "cc": cc, "min_rtt_s": 0.05, "mss": 1448} for cc in CONTROLS]
    for row in rows:
        folder_.frame(trying.trace_file(row), frame)
    (folder / trying.JOURNAL).write_bytes(b"".join(map(journal.line_of, rows)))


Read = Callable[[Path], object]


def written(folder: Path) -> Mapping[str, Read]:
    """Writes a valid file of each kind; returns the readers by file name."""
    texts = {
        "traced.toml": TRACED,
        "lost.txt": NUMBERS,
        "times.txt": NUMBERS,
        "plan.toml": PLAN,
        "day.csv": recording(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    frame, _ = reading.read(folder / "day.csv")
    frame.write_parquet(folder / "day.parquet")
    trial(folder / "tried")

    def scenario(path: Path) -> object:
        return Scenario.from_toml(path.parent / "traced.toml")

    def recorded(path: Path) -> object:
        return fit.uploads(path), reading.read(path)

    def tried(path: Path) -> object:
        return fit.uploads(folder / "tried")

    return {
        "traced.toml": scenario,
        "lost.txt": scenario,
        "times.txt": scenario,
        "plan.toml": lambda path: CampaignPlan.load(str(path)),
        "day.csv": recorded,
        "day.parquet": recorded,
        f"tried/{trying.JOURNAL}": tried,
        "tried/traces/001-reno.parquet": tried,
    }


def test_a_damaged_file_is_read_or_refused_in_a_line(attack, tmp_path):
    sound = tmp_path / "sound"
    sound.mkdir()
    readers = written(sound)
    for name, read in readers.items():
        read(sound / name)
    for choices in attack.rounds():
        folder = tmp_path / "damaged"
        shutil.copytree(sound, folder)
        name, read = choices.choice(list(readers.items()))
        choices.choice(BYTES)(folder / name, choices, tmp_path)
        start = time.process_time()
        try:
            read(folder / name)
        except WestwoodError as error:
            assert len(str(error).splitlines()) == 1, error
        assert time.process_time() - start < LONGEST_S, name
        shutil.rmtree(folder)


def test_a_recording_that_is_read_is_drawn(attack, westwood, tmp_path):
    """Any numbers give a figure or one line."""
    file = tmp_path / "day.csv"
    for choices in attack.rounds():
        cells = [line.split(",") for line in recording().splitlines()]
        for _ in range(choices.randint(1, 4)):
            row = choices.choice(cells[1:])
            row[choices.randrange(len(row))] = choices.choice(CELLS)
        file.write_text("".join(",".join(row) + "\n" for row in cells), encoding="utf-8")
        called = westwood("trace", file, "--figure", tmp_path / "figure.svg")
        assert called.code in (0, 2), called.err
        assert called.err.count("\n") == (called.code != 0), called.err
