# SPDX-License-Identifier: BSD-3-Clause
"""A results folder is read back: its page, files for other programs, a row's command."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from westwood import Results, Scenario, simulate
from westwood.experiments.experiment import point_name
from westwood.results.folder import Folder
from westwood.scenario.preset_files import presets_folder

SWEPT = """[sweep]
"bottleneck.loss.rate" = [0.001, 0.01]
"bottleneck.delay" = ["5ms", "50ms"]
"tcp.cc" = ["reno", { name = "westwood", filter = "none" }]
"""


@pytest.fixture
def folder(small_file, westwood) -> Path:
    small_file.write_text(small_file.read_text(encoding="utf-8") + SWEPT, encoding="utf-8")
    assert westwood("sweep", small_file, "--seeds", "3", "--out", "res").code == 0
    return small_file.parent / "res"


@pytest.fixture
def two_flows(small_file) -> Path:
    """A flow with a swept protocol competes with one that keeps its own."""
    data = tomllib.loads(small_file.read_text(encoding="utf-8"))
    flow = "".join(f'{key} = "{data["flow"][0][key]}"\n' for key in ("from", "to"))
    text = small_file.read_text(encoding="utf-8")
    text += f'[[flow]]\nname = "other"\n{flow}cc = "cubic"\n'
    text += '[sweep]\n"tcp.cc" = ["bbr", "westwood-cubic", "reno"]\n'
    small_file.write_text(text, encoding="utf-8")
    return small_file


def test_the_command_of_a_row_runs_it_again(folder, westwood, tmp_path):
    results = Results.read(folder)
    for number in (1, 8, results.rows.height):
        called = westwood("report", folder, "--row", number)
        words = shlex.split(called.out)
        assert words[:2] == ["westwood", "trace"] and called.code == 0
        assert westwood(*words[1:-1], "--out", tmp_path / f"again-{number}").code == 0
        again = pl.read_parquet(tmp_path / f"again-{number}" / "runs.parquet")
        row = results.rows.row(number - 1, named=True)
        same = ("scenario", "seed", "goodput_bps", "sent", "retransmitted", "timeouts")
        assert [again[name][0] for name in same] == [row[name] for name in same]
    called = westwood("report", folder, "--row", 99).refusal()
    assert called == "westwood: --row = 99: expected from 1 to 24\n"


def test_a_folder_keeps_the_losses_that_were_listed(westwood, tmp_path):
    words = "compare --listed-losses --loss 0.5%,1% --cc reno --duration 10s --seeds 2 --out r"
    assert westwood(*words.split()).code == 0
    assert json.loads((tmp_path / "r/manifest.json").read_text())["listed_losses"] is True
    results = Results.read(tmp_path / "r")
    assert "listed losses" in results.plot().axes[0].get_title()
    for number, row in enumerate(results.rows.iter_rows(named=True), start=1):
        kept = tmp_path / "r/listed" / f"{row['scenario']}.toml"
        assert str(kept) in results.command(number)
        again = simulate(Scenario.load(kept), seed=row["seed"]).flow_rows[0]
        assert (again["scenario"], again["sent"]) == (row["scenario"], row["sent"])


def test_a_folder_with_a_udp_flow_is_read_like_any_other(westwood, tmp_path):
    run = ("run", "udp-share", "--cc", "westwood", "--cc", "reno", "--set", "duration=5s")
    assert westwood(*run, "--set", "udp.start=1s", "--seeds", "2", "--out", "us").code == 0
    assert westwood("report", "us", "--export").code == 0
    assert (tmp_path / "us" / "data" / "udp.csv").exists()
    results = Results.read(tmp_path / "us")
    assert set(results.summary["cc"]) == {"westwood", "reno", "udp"}
    (pair,) = results.pairs("goodput_bps").to_dicts()
    assert (pair["flow"], pair["cc"], pair["minus"]) == ("tcp", "reno", "westwood")
    for number, row in enumerate(results.rows.iter_rows(named=True), start=1):
        words = shlex.split(westwood("report", "us", "--row", number).out)
        cc = words[words.index("--cc") + 1] if "--cc" in words else "westwood"
        scenario = results.planned.scenario.with_settings({"tcp.cc": cc})
        flows = simulate(scenario, row["seed"]).flow_rows
        assert next(flow for flow in flows if flow["flow"] == row["flow"])["sent"] == row["sent"]


@pytest.mark.parametrize("swept", [True, False])
def test_a_udp_flow_has_a_row_for_each_competing_protocol(swept, westwood, tmp_path):
    text = (presets_folder() / "udp-share.toml").read_text(encoding="utf-8")
    (tmp_path / "u.toml").write_text(text + ('[sweep]\n"tcp.cc" = ["reno", "bbr"]\n' * swept))
    protocols = () if swept else ("--cc", "reno", "--cc", "bbr")
    short = ("--set", "duration=9s", "--set", "udp.start=1s", "--set", "udp.app.rate=4.5Mbps")
    printed = westwood(
        "run", "u.toml", *protocols, *short, "--seeds", "1", "--out", "r", "--json"
    ).printed()
    means = [row for row in json.loads(printed)["summary"] if row["flow"] == "udp"]
    assert [row["tcp.cc"] for row in means] == ["reno", "bbr"]
    assert means[0]["goodput_bps"] != means[1]["goodput_bps"]
    results = Results.read(tmp_path / "r")
    udp = results.summary.filter(flow="udp")
    assert results.to_xarray().sizes["tcp.cc"] == 2
    assert udp["runs"].to_list() == [1, 1] and results.keys == ["tcp.cc"]
    names = [point_name(row, results.keys, 2) for row in results.summary.iter_rows(named=True)]
    assert {"UDP, udp, tcp.cc bbr", "BBRv1, tcp"} < set(names) and len(set(names)) == 4
    assert udp["goodput_bps"].to_list() == [row["goodput_bps"] for row in means]
    assert westwood("report", "r").code == 0


def test_the_page_is_self_contained_and_has_every_point(folder, westwood):
    called = westwood("report", folder, "--metric", "throughput_bps")
    assert (called.code, called.out) == (0, f"{folder}/index.html\n")
    page = (folder / "index.html").read_text(encoding="utf-8")
    # A row for each point and protocol, a row for each pair, and the heads of both tables.
    assert page.count("<tr>") == (8 + 1) + (4 + 1)
    assert "Westwood minus Reno" in page and "effect" in page
    assert "data:image/svg+xml;base64," in page
    assert not re.findall(r'(?:src|href)="(?!data:|#|lab\.html#)', page)
    HTMLParser().feed(page)


def test_the_page_says_what_limits_a_flow(small_file, westwood, tmp_path):
    for window, is_limited in (("1MiB", False), ("8KiB", True)):
        out = str(tmp_path / window)
        changed = f"*.receive_window={window}"
        westwood("run", str(small_file), "--set", changed, "--seeds", "1", "--out", out)
        westwood("report", out)
        page = (tmp_path / window / "index.html").read_text()
        assert ("<th>Limited by the receiver</th>" in page) == is_limited


def test_names_from_files_are_escaped(folder, westwood):
    manifest = (folder / "manifest.json").read_text(encoding="utf-8")
    script = manifest.replace("small", "<script>alert(1)</script>")
    Folder(folder).text("manifest.json", script)
    assert westwood("report", folder).code == 0
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_there_is_a_file_for_gnuplot_for_each_protocol(folder, westwood):
    called = westwood("report", folder, "--export")
    names = {Path(line).name for line in called.out.splitlines()}
    assert names == {"index.html", "summary.csv", "pairs.csv", "reno.csv", "westwood.csv"}
    pairs = pl.read_csv(folder / "pairs.csv")
    assert pairs.height == 4 and set(pairs["column"]) == {"goodput_bps"}
    table = pl.read_csv(folder / "data" / "reno.csv")
    assert table.height == 4
    assert {"bottleneck.loss.rate", "bottleneck.delay", "goodput_bps", "goodput_bps_ci95"} <= set(
        table.columns
    )


def test_xarray_has_every_run_at_its_coordinates(folder):
    results = Results.read(folder)
    array = results.to_xarray()
    sizes = {"bottleneck.loss.rate": 2, "bottleneck.delay": 2, "flow": 1, "cc": 2, "seed": 3}
    assert dict(array.sizes) == sizes
    for row in results.rows.iter_rows(named=True):
        here = array.sel({key: row[key] for key in array.sizes})
        assert float(here["goodput_bps"]) == row["goodput_bps"]
        assert float(here["timeouts"]) == row["timeouts"]


def test_xarray_has_a_fixed_flow_for_each_protocol_of_a_swept_one(two_flows, westwood):
    assert westwood("run", two_flows, "--seeds", "2", "--out", "two").code == 0
    results = Results.read(two_flows.parent / "two")
    array = results.to_xarray()
    sizes = {"tcp.cc": 3, "flow": 2, "cc": 4, "seed": 2}
    assert dict(array.sizes) == sizes
    for row in results.rows.iter_rows(named=True):
        here = array.sel({key: row[key] for key in array.sizes})
        assert float(here["goodput_bps"]) == row["goodput_bps"]


def test_every_curve_is_in_the_legend_of_its_panel(two_flows, westwood):
    with two_flows.open("a", encoding="utf-8") as file:
        file.write('"bottleneck.delay" = ["5ms", "50ms"]\n')
    assert westwood("run", two_flows, "--seeds", "1", "--out", "two").code == 0
    axes = Results.read(two_flows.parent / "two").plot().axes
    legends = {
        axes_.get_title(): [t.get_text() for t in axes_.get_legend().get_texts()] for axes_ in axes
    }
    assert legends["BBRv1"] == ["bbr, tcp"] and len(legends) == 4
    assert legends["CUBIC"] == [f"{cc}, other" for cc in ("bbr", "westwood-cubic", "reno")]


@pytest.mark.parametrize("keys", [0, 1, 2])
def test_any_sweep_can_be_drawn(keys, small_file, westwood):
    swept = SWEPT.splitlines()[: keys + 1]
    text = small_file.read_text(encoding="utf-8") + ("\n".join(swept) if keys else "")
    small_file.write_text(text + "\n", encoding="utf-8")
    assert westwood("run", small_file, "--seeds", "2", "--out", "r").code == 0
    assert westwood("report", "r", "--metric", "mean_srtt_s").code == 0
    assert (small_file.parent / "r" / "figure.png").stat().st_size > 5000


def test_the_page_of_an_interrupted_command_says_so(folder, westwood):
    results = Folder(folder, "")
    manifest = results.verified("manifest.json").read_text()
    results.write_manifest(manifest.replace('"complete": true', '"complete": false'))
    del results  # also releases its lock
    called = westwood("report", folder)
    assert called.code == 0
    assert "its command was interrupted, and some runs are missing" in called.err
    assert ", interrupted" in (folder / "index.html").read_text()


def test_an_unfinished_sweep_is_reported_with_how_to_resume(folder, westwood):
    (folder / "runs.parquet").unlink()
    (folder / "sweep.json").write_text("{}")
    called = westwood("report", folder)
    assert called.code == 2
    assert (
        f"continue with westwood sweep {folder}/scenario.toml --resume --out {folder}" in called.err
    )


def test_a_folder_without_runs_is_reported_in_one_line(tmp_path, westwood):
    called = westwood("report", tmp_path).refusal()
    assert "has no runs.parquet, expected a folder that run --out or sweep wrote" in called


def test_the_command_of_a_row_names_its_protocol(small_file, westwood):
    arguments = ["--cc", "reno", "--cc", "cubic", "--seeds", "2", "--out", "r"]
    assert westwood("run", small_file, *arguments).code == 0
    results = Results.read(small_file.parent / "r")
    number = results.rows["cc"].to_list().index("cubic") + 1
    assert "--cc cubic" in results.command(number)
    row = results.rows.row(number - 1, named=True)
    scenario = results.planned.scenario.with_settings({"tcp.cc": "cubic"})
    assert simulate(scenario, row["seed"]).flow_rows[0]["sent"] == row["sent"]


def test_a_changed_number_file_of_a_scenario_is_refused(small_file, westwood):
    packets = ",".join(map(str, range(1, 30_000, 2)))
    lost = f'bottleneck.loss={{ kind = "script", packets = [{packets}] }}'
    asked = ("sweep", small_file, "--seeds", "1", "--set", lost, "--out", "res")
    assert westwood(*asked).code == 0
    (file,) = (small_file.parent / "res").glob("*.txt")
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"\n29999\n", b"\n30001\n"))
    assert file.name in westwood("report", "res").refusal()
    assert westwood(*asked, "--resume").code == 0
    assert file.read_bytes() == whole and westwood("report", "res").code == 0
