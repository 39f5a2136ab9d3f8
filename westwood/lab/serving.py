# SPDX-License-Identifier: BSD-3-Clause
"""Serves the laboratory's page to this machine only, with a scenario in its link.

The page is one file and loads nothing else. The scenario is in the link's fragment, which browsers
don't send to the server. Controls of users' files are in the page. Each request reads them again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

from westwood import files, stopping
from westwood.control import loading, one_command
from westwood.control.catalogue import is_protocol, unknown_protocol
from westwood.draw import laboratory
from westwood.errors import InputError, RunError, WestwoodError
from westwood.scenario import Scenario, controls, fragments, number_files
from westwood.scenario.preset_files import presets

LOOPBACK = "127.0.0.1"
_FIRST = "sawtooth"  # the page's first view
_lock = threading.Lock()  # of reading controls


Own = Mapping[str, Callable[[], loading.Control]]  # what loads a control, by its name


def page(controls: Own) -> bytes:
    """Returns the page with these controls, as their files are now."""
    with _lock, one_command():
        return laboratory.page([load() for load in controls.values()])


def own_controls(file_or_preset: str | None, cc: Sequence[str]) -> Own:
    """Returns the controls in files that a scenario and --cc name.

    Raises InputError for a control that the page lacks.
    """
    loaders: dict[str, Callable[[], loading.Control]] = {}
    if file_or_preset is not None and file_or_preset not in presets():
        path = Path(file_or_preset)
        kept = files.is_in_results(path)
        for name, source in controls.files(files.read_toml(path)).items():
            load = partial(loading.of_source, source, name, path.parent)
            loaders[name] = load if source or kept else partial(loading.load, name, path.parent)
    for name in cc:
        if name.endswith(loading.PYTHON):
            raise InputError("the page runs controls in C only", key="--cc", value=name)
        if not is_protocol(name):
            raise InputError(unknown_protocol(name), key="--cc", value=name)
        if loading.is_file(name):
            loaders[name] = partial(loading.load, name)
    return loaders


def fragment(file_or_preset: str | None, cc: Sequence[str] = ()) -> str:
    """Checks a scenario and returns the fragment of a link to it with these controls."""
    shown = "&cc=" + ",".join(quote(name, safe="./+") for name in cc) if cc else ""
    if file_or_preset is None:
        return fragments.of_preset(_FIRST) + shown if cc else ""
    Scenario.load(file_or_preset)
    if file_or_preset in presets():
        return fragments.of_preset(file_or_preset) + shown
    path = Path(file_or_preset)
    embedded = number_files.embedded(files.read_toml(path), path.parent)
    return fragments.packed(embedded, file_or_preset) + shown


class _Handler(BaseHTTPRequestHandler):
    """Answers requests for the page, and no others."""

    server: Server

    def do_GET(self) -> None:
        names = {f"{host}:{self.server.server_port}" for host in (LOOPBACK, "localhost")}
        if self.headers.get("Host") not in names:  # DNS rebinding
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        elif self.path.partition("?")[0] not in ("/", "/index.html"):
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            try:
                self._answer(HTTPStatus.OK, "text/html", self.server.page())
            except WestwoodError as error:  # a control's file has a mistake now
                text = f"{error}\n".encode()
                self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", text)

    def _answer(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Logs nothing."""


class Server(ThreadingHTTPServer):
    """Listens on the loopback address; for port 0 the system chooses a port."""

    daemon_threads = True

    def __init__(self, port: int = 0, controls: Own | None = None) -> None:
        self.page: Callable[[], bytes] = partial(page, controls or {})
        self.page()  # a mistake ends the command
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise RunError(f"can't use port {port} of {LOOPBACK}: {error.strerror}") from None

    @property
    def url(self) -> str:
        """Returns the URL of the page."""
        return f"http://{LOOPBACK}:{self.server_port}/"

    def run(self) -> None:
        """Serves until a signal comes, which is the normal end."""
        stopping.begin()
        try:
            self.serve_forever(poll_interval=stopping.POLL_S)
        except KeyboardInterrupt:
            stopping.was_meant()
        finally:
            self.server_close()
