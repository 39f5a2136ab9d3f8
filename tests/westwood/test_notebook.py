# SPDX-License-Identifier: BSD-3-Clause
"""How the package and its objects appear at a prompt and in a notebook."""

import pydoc
from typing import Any

import pytest
from one_link import one_link

import westwood as package
from westwood import Result, Results, Scenario, presets, simulate
from westwood.scenario.summary import summarise


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(Scenario.preset("fairness").with_settings({"duration": "2s"}))


def test_help_shows_all_public_names():
    text = pydoc.plain(pydoc.render_doc(package))
    for name in package.__all__:
        assert name in dir(package) and (name in text or name == "__version__")
    assert "class Scenario(" in text and "simulate(scenario: 'Scenario | str" in text
    assert "Runs a scenario once" in text


def test_the_docstring_names_everything():
    assert all(name in (package.__doc__ or "") for name in package.__all__ if name[0] != "_")


@pytest.mark.parametrize("name", presets())
def test_repr_has_units(name):
    """No quantity appears without its unit."""
    scenario = Scenario.preset(name)
    text = repr(scenario)
    assert str(scenario) == text and text.startswith(f"Scenario(name='{name}'")
    assert not [
        word
        for word in text.replace(",", " ").split()
        if word.strip("()'").isdigit() and len(word) > 7
    ]
    for link in scenario.link:
        assert f"Link(name='{link.name}'" in text and "rate='" in repr(link)
    assert "duration='" in text and "bps'" in text


def test_repr_shortens_long_lists():
    scenario = one_link("bbr", link={"trace": {"forward": list(range(1, 5000))}})
    assert "(1, 2, ... 4999 in all)" in repr(scenario) and len(repr(scenario)) < 1500


def test_a_result_shows_the_goodput_of_each_flow(result):
    text = repr(result)
    assert text.startswith("<Result of fairness, 2s, seed 1: ") and "Mb/s" in text
    assert len(text) < 600
    page: Any = result._repr_html_()  # type: ignore[operator]
    assert page.startswith("<table>") and "goodput" in page
    for flow in result.scenario.flows:
        assert f"<td>{flow.name}</td>" in page


def test_a_scenario_is_shown_as_tables():
    page = Scenario.preset("fading")._repr_html_()
    for cell in ("<td>2 Mb/s</td>", "<td>45ms</td>", "fading", "bottleneck.loss.bad_rate"):
        assert cell in page


def test_html_is_escaped():
    scenario = Scenario.preset("path").with_settings({"tcp.cc": "reno"})
    from westwood import markup

    assert "<b>" not in markup.table(["<b>"], [["<script>", "&"]], "<i>")
    assert "<script" not in scenario._repr_html_()


def test_a_folder_shows_its_means(westwood, tmp_path):
    asked = ("--set", "duration=2s", "--seeds", "2", "--out", tmp_path / "swept")
    assert westwood("sweep", "loss", *asked).code == 0
    results = Results.read(tmp_path / "swept")
    assert repr(results).startswith("<Results of loss in ")
    assert "±" in results._repr_html_() and "Reno" in results._repr_html_()
    assert results.plot().axes[0].get_ylabel() == "Goodput (Mb/s)"


def test_the_summary_of_a_path():
    path = Scenario.preset("path")
    assert summarise(path) == "2 Mb/s, 45 ms one way, loss 0.5 %, queue 100 packets"
    assert (
        summarise(path, ["path.loss.rate", "tcp.cc"]) == "2 Mb/s, 45 ms one way, queue 100 packets"
    )
    assert summarise(Scenario.preset("fading")) == "2 Mb/s, 45 ms one way, fading, queue 50 packets"
