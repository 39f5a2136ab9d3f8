# SPDX-License-Identifier: BSD-3-Clause
"""Where figures go and how large they are, and several protocols in one: run, trace, compare."""

from typing import Any

import pytest
from matplotlib.image import imread

from westwood import InputError, Scenario, plot_means, simulate_many
from westwood.draw.views import VIEWS

SHORT = ("--set", "duration=3s")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_figure_is_a_pdf_of_the_size_and_title_that_are_asked_for(westwood, tmp_path):
    asked = ("--figure", "mine.pdf", "--size", "72x144mm", "--title", "A $ and a $")
    called = westwood("trace", "path", *SHORT, *asked)
    assert (called.code, called.out) == (0, "mine.pdf\n"), called.err
    written = (tmp_path / "mine.pdf").read_bytes()
    assert written.startswith(b"%PDF-") and b"/MediaBox [ 0 0 204.09" in written  # points
    assert [path.name for path in tmp_path.iterdir()] == ["mine.pdf"]
    asked = ("--figure", "bars.png", "--size", "5x3in")
    compared = westwood("compare", "--duration", "2s", "--seeds", "2", "--cc", "bbr", *asked)
    size_px = (533, 888)  # 1280 pixels for 7.2 inches
    assert compared.code == 0 and imread(tmp_path / "bars.png").shape[:2] == size_px


def test_protocols_are_drawn_over_each_other(westwood, tmp_path):
    westwood("trace", "path", *SHORT, "--cc", "cubic", "--cc", "bbr", "--plot").printed()
    drawn = (tmp_path / "path-trace.svg").read_text("utf-8")
    assert "<!-- CUBIC -->" in drawn and "<!-- BBRv1 -->" in drawn


@pytest.mark.parametrize("view", [name for name in VIEWS if name != "windows"])
def test_a_view_has_its_own_file(view, westwood, tmp_path):
    called = westwood("trace", "path", *SHORT, "--view", view, "--plot")
    assert (called.code, called.out) == (0, f"path-{view}.png\n"), called.err


def test_the_part_that_run_draws_is_chosen_by_the_user(westwood, tmp_path):
    asked = ("--seeds", "1", "--plot", "--from", "1s", "--to", "2s")
    assert westwood("run", "path", *SHORT, *asked).code == 0
    assert "1 to 2 s of 3 s" in (tmp_path / "path.svg").read_text("utf-8")


def legends(figure: Any) -> list[str]:
    return [name for key in figure.keys for name in key.names]


def test_report_has_the_figure_options_of_the_other_commands(westwood, tmp_path):
    swept = ("--loss", "0.1%,1%", "--queue", "10p,50p", "--cc", "cubic,bbr")
    westwood("compare", "--duration", "2s", "--seeds", "2", *swept, "--out", "kept").printed()
    asked = ("--by", "cc", "--size", "8.5cm", "--title", "Mine")
    called = westwood("report", "kept", *asked, "--figure", "mine.pdf")
    assert (called.code, called.out) == (0, "mine.pdf\n"), called.err
    assert b"/MediaBox [ 0 0 240.94" in (tmp_path / "mine.pdf").read_bytes()  # 8.5 cm in points
    assert not (tmp_path / "kept/index.html").exists()
    assert westwood("report", "kept", *asked).code == 0
    drawn = (tmp_path / "kept/figure.svg").read_text("utf-8")
    assert "<!-- Mine -->" in drawn and "<!-- queue limit 50p -->" in drawn
    for option, problem in (
        (("--by", "path.queue.limt"), 'did you mean "path.queue.limit"?'),
        (("--size", "1cm"), "expected a width, or a width and a height"),
        (("--figure", "a.gif"), "expected a file's name in .png, .svg or .pdf"),
        (("--row", "1", "--title", "t"), "--title: has no effect with --row"),
    ):
        assert problem in westwood("report", "kept", *option).refusal()


def test_curves_differ_in_what_the_user_chooses():
    path = Scenario.preset("path").with_settings({"duration": "2s"})
    keys = {"path.loss.rate": [0.001, 0.01], "path.queue.limit": ["10p", "50p"]}
    rows = simulate_many(path.with_sweep({**keys, "tcp.cc": ["cubic", "bbr"]}), seeds=2)
    titles = {
        by: ([axes.get_title() for axes in figure.axes], legends(figure))
        for by in (None, "cc", "path.queue.limit", "path.loss.rate")
        for figure in [plot_means(rows, by=by)]
    }
    queues, controls = ["10p", "50p"], ["CUBIC", "BBRv1"]
    assert titles[None] == titles["path.queue.limit"] == (controls, queues)
    assert titles["path.loss.rate"] == (controls, ["0.001", "0.01"])
    panels, curves = titles["cc"]
    assert panels == ["queue limit 10p", "queue limit 50p"] and set(curves) == set(controls)
    with pytest.raises(InputError, match='by = "queue": expected a swept key'):
        plot_means(rows, by="queue")
