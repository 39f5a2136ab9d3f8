# SPDX-License-Identifier: BSD-3-Clause
"""Every public name has a complete docstring, whose examples give what they show."""

import doctest
import inspect
import pydoc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from pydantic import BaseModel

import westwood as package
from westwood import Scenario, lab, simulate
from westwood.cli import call

# Rules of numpydoc that our style does not have: where the summary starts, its mood ("Returns"),
# an extended summary, and links to other functions.
OTHER_STYLE = {"GL01", "ES01", "SA01", "SS05"}
# What the examples of Results read.
COMPARED = "compare --cc newreno --cc westwood+ --loss 0.1%,1% --duration 20s --seeds 3"
SKIPPED = {"simulate": 1, "lab.show": 1}  # needs ns-3; a notebook


def public() -> Iterator[tuple[str, Any]]:
    """Yields every public function, class, method and property by its name."""
    yield "lab.show", lab.show
    for name in package.__all__:
        if name == "__version__":
            continue
        public_object = getattr(package, name)
        yield name, public_object
        if not inspect.isclass(public_object):
            continue
        for member in dir(public_object):
            attribute = inspect.getattr_static(public_object, member)
            is_ours = isinstance(attribute, (property, classmethod)) or inspect.isfunction(
                attribute
            )
            if is_ours and not member.startswith("_"):
                yield f"{name}.{member}", getattr(public_object, member)


PUBLIC = dict(public())
ROWS = simulate("sawtooth").rows


def parameters(name: str) -> list[str]:
    public_object = PUBLIC[name]
    return (
        []
        if isinstance(public_object, property)
        else [*inspect.signature(public_object).parameters]
    )


def test_the_list_is_the_whole_interface():
    assert len(PUBLIC) > 45
    for name in ("simulate", "Result.trace", "Scenario.preset", "Results.pairs", "Scenario.hash"):
        assert name in PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_numpydoc_finds_no_mistake(name):
    """Parameters as in the signature with their types, Returns, Examples, order, full stops."""
    errors = validate(f"westwood.{name}")["errors"]
    assert [f"{code}: {text}" for code, text in errors if code not in OTHER_STYLE] == []


@pytest.mark.parametrize("name", [name for name in PUBLIC if not inspect.isclass(PUBLIC[name])])
def test_functions_and_properties_say_what_they_return_and_raise(name):
    sections = NumpyDocString(inspect.getdoc(PUBLIC[name]) or "")
    assert sections["Returns"] or sections["Yields"]
    arguments = [parameter for parameter in parameters(name) if parameter != "self"]
    assert sections["Raises"] or not arguments or name.startswith("InputError.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Has the results folder that examples read."""
    place = tmp_path_factory.mktemp("examples")
    assert call([*COMPARED.split(), "--out", str(place / "compared")]) == 0
    return place


def examples(name: str, documented: Any) -> doctest.DocTest:
    text = inspect.getdoc(documented) or ""
    return doctest.DocTestParser().get_doctest(text, {}, name, None, 0)


@pytest.mark.parametrize("name", ["westwood", *PUBLIC])
def test_examples_give_what_they_show(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    test = examples(name, PUBLIC.get(name, package))
    skipped = sum(doctest.SKIP in example.options for example in test.examples)
    assert skipped == SKIPPED.get(name, 0) and len(test.examples) > 1
    messages: list[str] = []
    assert not doctest.DocTestRunner(verbose=False).run(test, out=messages.append).failed, "".join(
        messages
    )


def test_an_example_that_differs_fails():
    """The runner above compares, so that an output that is out of date is seen."""
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed


def test_the_examples_of_results_name_their_command():
    text = " ".join((inspect.getdoc(package.Results) or "").replace("\\", "").split())
    assert f"westwood {COMPARED} --out compared" in text


def test_what_pydantic_adds_is_hidden():
    scenario = Scenario.preset("path")
    leftovers = {name for name in dir(BaseModel) if not name.startswith("__")}
    assert {"model_dump", "copy", "json", "construct", "validate"} <= leftovers
    for shown in (Scenario, scenario, scenario.link[0], scenario.flow[0], type(scenario.link[0])):
        assert leftovers.isdisjoint(dir(shown))
    assert {"name", "duration", "link", "points"} <= set(dir(scenario))
    text = pydoc.plain(pydoc.render_doc(Scenario))
    assert "model_" not in text and "pydantic" not in text.replace("pydantic.main.BaseModel", "", 1)


@pytest.mark.parametrize("member", [name for name in PUBLIC if name.startswith("Scenario.")])
def test_help_on_scenario_shows_every_member(member):
    text = pydoc.plain(pydoc.render_doc(Scenario))
    summary = (inspect.getdoc(PUBLIC[member]) or "").splitlines()[0]
    assert member.partition(".")[2] in text and summary in text


def test_help_is_complete_without_the_site():
    text = pydoc.plain(pydoc.render_doc(package))
    for name in PUBLIC:
        assert name.rpartition(".")[2] in text
    for summary in ("Runs a scenario once, with one seed", ">>> rows = simulate_many(swept"):
        assert summary in text


def test_completion_shows_the_public_names_only():
    assert dir(package) == sorted(package.__all__)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Scenario.preset("tabel1"), 'name = "tabel1": no such preset, did you mean'),
        (lambda: Scenario.load(3), "file_or_preset = 3: expected"),  # type: ignore[arg-type]
        (lambda: Scenario.from_toml(None), "path = None: expected"),  # type: ignore[arg-type]
        (lambda: Scenario.preset("path").with_settings([1]), "settings = [1]: expected a table"),  # type: ignore[arg-type]
        (lambda: Scenario.preset("path").with_sweep(3), "sweep = 3: expected a table"),  # type: ignore[arg-type]
        (
            lambda: Scenario.preset("path").with_sweep({"tcp.cc": 3}),
            "path: sweep.tcp.cc = 3: expected",
        ),
        (lambda: Scenario.preset("path").to_files(1), "name = 1: expected text"),  # type: ignore[arg-type]
        (lambda: simulate("path").sampled(0), "every_s = 0: expected a number more than 0"),
        (lambda: simulate("path").plot("cwnd"), 'view = "cwnd": no such view'),
        (lambda: simulate("path").plot(), 'view = "windows": was not recorded'),
        (lambda: simulate("path").write_pcap("a.pcap"), "no packet was captured"),
        (lambda: package.summarise(3, "cc", "sent"), "rows = 3: expected a polars DataFrame"),  # type: ignore[arg-type]
        (
            lambda: package.summarise(ROWS, "c", "sent"),
            'by = "c": no such column, did you mean "cc"',
        ),
        (lambda: package.summarise(ROWS, "cc", "flow"), 'columns = "flow": expected a column of'),
        (lambda: package.paired(ROWS, ROWS, "seed", "send"), 'column = "send": no such column'),
        (
            lambda: package.paired(ROWS, ROWS.with_columns(seed=pl.lit(9)), "seed", "sent"),
            'by = ["seed"]: no row of one has',
        ),
        (lambda: package.plot_means(ROWS.clear()), "rows: has no rows"),
        (lambda: package.plot_means(ROWS, "send"), 'metric = "send": unknown column'),
        (lambda: package.plot_means(ROWS.drop("cc")), "rows: has no column cc, expected the rows"),
        (lambda: package.Results.read("nowhere"), '"nowhere": no such folder'),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(wrong, message):
    with pytest.raises(package.InputError) as error:
        wrong()
    assert str(error.value).startswith(message) and "\n" not in str(error.value)
