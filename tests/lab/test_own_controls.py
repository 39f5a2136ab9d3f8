# SPDX-License-Identifier: BSD-3-Clause
"""`westwood lab --cc ./mine.c` shows users' controls, and runs them as `westwood run` does."""

import csv
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mine import MINE

from tests.lab.test_curves import exported
from tests.lab.test_rows import check_rows
from westwood import Control, InputError, PythonControl, Scenario, lab, simulate
from westwood.control import gallery, wasm
from westwood.control.writing import like, models
from westwood.draw import laboratory
from westwood.errors import UnavailableError
from westwood.lab import serving

GROWTH = "if (!ww_may_grow(ack)) return;"
EVENTFUL = """
name = "eventful"
duration = "20s"
profile = "linux"
[[link]]
name = "path"
between = ["a", "b"]
rate = "8Mbps"
delay = "20ms"
jitter = "3ms"
loss = { kind = "uniform", rate = 0.005 }
queue = { kind = "red", limit = "60p", min = 5, max = 25, ecn = true }
[[flow]]
name = "tcp"
from = "a"
to = "b"
cc = "reno"
ecn = true
"""


@pytest.fixture(autouse=True)
def needs():
    """Skips a test on a machine that can't build the page or compile controls for it."""
    if not laboratory.PAGE.exists():
        pytest.skip("the page is not built: make lab")
    try:
        wasm.compiler()
    except UnavailableError as error:
        pytest.skip(str(error))


@contextmanager
def served(*cc: str, scenario: str | None = None) -> Iterator[str]:
    """Serves the page with controls; returns its address with the scenario."""
    server = serving.Server(0, serving.own_controls(scenario, cc))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.url + serving.fragment(scenario, cc)
    finally:
        server.shutdown()
        server.server_close()


def file(folder: Path, name: str, text: str) -> str:
    """Writes a file; returns its name for --cc."""
    (folder / name).write_text(text, encoding="utf-8")
    return f"./{name}"


def behind(url: str) -> str:
    """Returns what an address has after the page's."""
    return url[url.index("#") :]


def opened_at(opened: Callable[..., Any], url: str) -> Any:
    """Opens a page that is served, with what its address shows."""
    return opened(behind(url), url=url.removesuffix(behind(url)))


def show(page: Any, ccs: Sequence[Any], *, together: bool) -> None:
    """Shows controls on the page."""
    lines = json.dumps([{"tcp.cc": cc} for cc in ccs])
    page.evaluate(f"lab.open({{...lab.state, lines: {lines}, together: {json.dumps(together)}}})")


def test_every_figure_is_that_of_the_command_line(opened, westwood, mine):
    folder = mine.parent
    third = file(folder, "third.c", like("bbr3", "third"))
    with served("./mine.c", third, "hybla.c", scenario=file(folder, "path.toml", EVENTFUL)) as url:
        page = opened_at(opened, url)
        assert [row["cc"] for row in page.evaluate("lab.rows")] == ["./mine.c", third, "hybla.c"]
        check_rows(page, westwood, folder)
        set_one = {"name": "./mine.c", "gain": 3}
        show(page, [set_one, "./mine.c"], together=False)
        check_rows(page, westwood, folder)
        show(page, [set_one, third, "cubic", "hybla.c"], together=True)
        check_rows(page, westwood, folder)


def test_its_windows_over_time_are_those_of_a_trace(opened, mine):
    with served("./mine.c") as url:
        text = exported(opened_at(opened, url), "CSV").decode()
        rows = list(csv.DictReader(text.splitlines()))
    scenario = Scenario.preset("sawtooth").with_settings({"tcp.cc": Control(mine)})
    trace = simulate(scenario, trace=True).trace
    for column in ("time_s", "cwnd", "ssthresh"):
        assert [float(row[column]) for row in rows] == trace[column].to_list()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*models(), *gallery.names()])
def test_every_control_that_comes_with_the_package(opened, westwood, mine, name):
    file_name = name if name in gallery.names() else file(mine.parent, "own.c", like(name, "own"))
    with served(file_name, "cubic", scenario=file(mine.parent, "path.toml", EVENTFUL)) as url:
        page = opened_at(opened, url)
        check_rows(page, westwood, mine.parent)
        show(page, [file_name, "cubic"], together=True)
        check_rows(page, westwood, mine.parent)


def test_its_parameters_are_fields_and_its_quantities_are_panels(opened, westwood, mine):
    with served("./mine.c", "cubic") as url:
        page = opened_at(opened, url)
        gain = page.locator('[data-field="own-0-gain"]:visible')
        what = "Segments that cwnd grows by in a round trip: 1 to 100, default 1"
        assert gain.locator("label").get_attribute("title") == what
        assert page.locator('[data-field="own-1-gain"]:visible').count() == 0
        gain.locator('input[type="text"]').fill("4")
        gain.locator('input[type="text"]').blur()
        page.wait_for_function("() => lab.state.lines[0]['tcp.cc'].gain === 4")
        check_rows(page, westwood, mine.parent)
        gain.locator('input[type="text"]').fill("101")
        gain.locator('input[type="text"]').blur()
        assert "expected 1 to 100" in gain.locator(".source").inner_text()
        counted = page.locator('[data-panel="own counted segments"]')
        assert counted.locator(".chip").all_inner_texts() == ["Mine, gain 4"]


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ("window->cwnd = 0; return;", "sets cwnd to 0, expected from 1 to 2^28 segments"),
        ("window->cwnd /= ack->now_us > 2000000 ? 0u : 1u;", "overflows, divides by zero, or"),
        ("((volatile char *)0)[-16] = 1;", "uses memory that is not its own"),
    ],
)
def test_a_control_that_fails_is_one_line_and_the_page_goes_on(opened, mine, action, problem):
    with served(file(mine.parent, "bad.c", MINE.replace(GROWTH, action)), "cubic") as url:
        page = opened_with_message(opened, url)
        assert page.inner_text("#message").startswith(f"./bad.c:19: on_ack {problem}")
        show(page, ["cubic"], together=False)
        assert [row["cc"] for row in page.evaluate("lab.rows")] == ["cubic"]
        assert page.locator("#message").is_hidden()


def opened_with_message(opened: Callable[..., Any], url: str) -> Any:
    """Opens the page, whose runs fail at first."""
    page = opened(url=url.removesuffix(behind(url)))
    page.evaluate(f"location.hash = {json.dumps(behind(url))}")
    page.wait_for_selector("#message:visible")
    return page


@pytest.mark.slow
def test_a_control_that_loops_is_ended(opened, mine):
    loop = "for (volatile int i = 0; i < 1;) i = 0;"
    with served(file(mine.parent, "loop.c", MINE.replace(GROWTH, loop)), "cubic") as url:
        page = opened_with_message(opened, url)
        assert page.inner_text("#message") == "./loop.c: an action does not return within 5 s"
        show(page, ["cubic"], together=False)
        assert [row["cc"] for row in page.evaluate("lab.rows")] == ["cubic"]


def test_a_reload_reads_the_file_again(opened, mine):
    with served("./mine.c") as url:
        page = opened_at(opened, url)
        slow = page.evaluate("lab.rows[0].goodput_bps")
        mine.write_text(MINE.replace("X(gain, 1,", "X(gain, 9,"), encoding="utf-8")
        page.reload()
        page.wait_for_selector("body[data-shown]")
        assert page.evaluate("lab.rows[0].goodput_bps") > slow
        mine.write_text(MINE.replace(GROWTH, "grow;"), encoding="utf-8")
        with pytest.raises(urllib.error.HTTPError) as answer:
            urllib.request.urlopen(url)
        assert answer.value.read().decode().startswith("./mine.c:21: ")


def test_a_page_without_the_control_says_so(opened, mine):
    with served("./mine.c") as url:
        link = opened_at(opened, url).evaluate("location.hash")
    page = opened_with_message(opened, laboratory.PAGE.as_uri() + link)
    assert page.inner_text("#message").startswith('cc = "./mine.c": this page has no such control')


def test_a_scenario_brings_its_controls(opened, mine):
    (mine.parent / "sub").mkdir()
    mine.rename(mine.parent / "sub" / "mine.c")
    text = EVENTFUL.replace('"reno"', '{ name = "./mine.c", gain = 2 }')
    with served(scenario=file(mine.parent, "sub/path.toml", text)) as url:
        assert opened_at(opened, url).evaluate("lab.rows[0].cc") == "./mine.c"
        saved = mine.parent / "saved.html"
        saved.write_bytes(urllib.request.urlopen(url).read())
    assert opened(behind(url), url=saved.as_uri()).evaluate("lab.rows[0].cc") == "./mine.c"
    given = Scenario.from_toml(mine.parent / "sub" / "path.toml")
    assert '"name": "./mine.c"' in lab.show(given).page


def test_controls_of_the_same_label_are_told_apart_by_their_files(mine):
    texts = {"mine.c": MINE, "other.c": MINE, "third.c": MINE.replace('"Mine"', '"CUBIC"')}
    page = serving.page(
        serving.own_controls(None, [file(mine.parent, *text) for text in texts.items()])
    ).decode()
    controls = json.loads(page.partition('id="own">')[2].partition("</script>")[0])
    labels = [control["label"] for control in controls]
    assert labels == ["Mine (./mine.c)", "Mine (./other.c)", "CUBIC (./third.c)"]


def test_a_control_in_python_is_refused_in_a_notebook():
    class Fixed(PythonControl):
        def on_ack(self, window: Any, ack: Any) -> None:
            window.cwnd = 20

        def on_loss(self, window: Any, now_us: int, in_flight: int, mss: int) -> None:
            window.cwnd = 10

    with pytest.raises(InputError, match=r"Fixed.py: the page runs controls in C only"):
        lab.show(Scenario.preset("path").with_settings({"tcp.cc": Fixed}))


@pytest.mark.parametrize(
    ("cc", "says"),
    [
        ("Mine.py", "the page runs controls in C only"),
        ("./nosuch.c", "./nosuch.c: no such file"),
        ("newren", 'did you mean "newreno"'),
        ("./bad.c", "./bad.c:21: "),
    ],
)
def test_a_wrong_control_is_one_line_before_serving(westwood, mine, cc, says):
    file(mine.parent, "bad.c", MINE.replace(GROWTH, "grow;"))
    assert says in westwood("lab", "--no-browser", "--cc", f"./mine.c,{cc}").refusal()


def test_a_machine_without_a_compiler_is_told_what_to_install(westwood, mine, monkeypatch):
    monkeypatch.setattr(wasm, "_installed", lambda: iter(()))
    wasm.compiler.cache_clear()
    done = westwood("lab", "--no-browser", "--cc", "./mine.c")
    wasm.compiler.cache_clear()
    assert done.code == 77
    assert "apt-get install clang lld, or pip install 'westwood[compiler]'" in done.err
