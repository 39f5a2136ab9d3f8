# SPDX-License-Identifier: BSD-3-Clause
"""`westwood lab` serves one page to this machine only, with a scenario in its link."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from one_link import with_link

from westwood.draw import laboratory
from westwood.lab import serving

SCENARIO = with_link('loss = { packets = "lost.txt" }')
SCENARIO += '[sweep]\n"tcp.cc" = ["reno", "cubic"]\n'


@pytest.fixture
def built():
    """Skips the test without a page."""
    if not laboratory.PAGE.exists():
        pytest.skip("the page is not built: make lab")


@pytest.fixture
def server(built: None) -> Iterator[serving.Server]:
    """Starts a server on a free port."""
    started = serving.Server()
    thread = threading.Thread(target=started.serve_forever, daemon=True)
    thread.start()
    yield started
    started.shutdown()
    started.server_close()


def status(url: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_the_served_page_is_the_file(server, opened):
    served, file = opened(url=server.url), opened()
    assert served.evaluate("lab.rows") == file.evaluate("lab.rows")


def test_only_the_page_is_served_and_only_to_this_machine(server):
    assert status(server.url) == 200
    assert status(f"{server.url}../../etc/passwd") == 404
    assert status(f"{server.url}declarations.py") == 404
    assert status(server.url, Host="evil.example") == 421
    assert server.server_address[0] == "127.0.0.1"


def test_a_scenario_of_a_file_opens_with_its_lists_and_its_sweep(tmp_path, opened):
    (tmp_path / "lost.txt").write_text("3\n17\n")
    (tmp_path / "mine.toml").write_text(SCENARIO)
    page = opened(serving.fragment(str(tmp_path / "mine.toml")))
    assert page.evaluate("lab.state.scenario.link[0].loss.packets") == [3, 17]
    assert page.evaluate("lab.state.lines") == [{"tcp.cc": "reno"}, {"tcp.cc": "cubic"}]
    assert [row["lost"] for row in page.evaluate("lab.rows")] == [2, 2]


def test_an_invalid_scenario_is_reported_before_serving(westwood, tmp_path):
    (tmp_path / "bad.toml").write_text(SCENARIO.replace("1Mbps", "1 banana"))
    for wrong in ("nosuch", tmp_path / "bad.toml", tmp_path / "none.toml"):
        westwood("lab", wrong, "--no-browser").refusal()


@pytest.mark.usefixtures("built")
def test_a_used_port_gives_one_line(westwood):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = westwood("lab", "--no-browser", "--port", port)
    assert done.code == 1
    assert f"can't use port {port} of 127.0.0.1: " in done.err


def test_a_missing_page_says_how_to_build_it(westwood, monkeypatch, tmp_path):
    monkeypatch.setattr(laboratory, "PAGE", tmp_path / "page.html")
    done = westwood("lab", "--no-browser")
    assert done.code == 77
    assert "make lab" in done.err


@pytest.mark.usefixtures("built")
def test_it_opens_the_browser_and_ends_on_ctrl_c(tmp_path):
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" >{seen}.part\nmv {seen}.part {seen}\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "westwood", "lab", "fig5"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"BROWSER": f"{browser} %s"},
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline()
        assert status(address.partition("#")[0]) == 200
        while not seen.exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 0
    assert address.startswith("http://127.0.0.1:")
    assert address == f"{seen.read_text()}\n"
    assert address.endswith("/#preset=fig5\n")
