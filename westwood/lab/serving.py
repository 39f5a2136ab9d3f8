# SPDX-License-Identifier: BSD-3-Clause
"""Serves the laboratory's page to this machine only, with a scenario in its link.

The page is one file and loads nothing else. The scenario is in the link's fragment, which browsers
don't send to the server.
"""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from westwood import files, stopping
from westwood.draw.laboratory import PAGE
from westwood.errors import RunError, UnavailableError
from westwood.scenario import Scenario, fragments, number_files
from westwood.scenario.preset_files import presets

LOOPBACK = "127.0.0.1"


def page() -> bytes:
    """Returns the page; raises UnavailableError if it was not built."""
    try:
        return PAGE.read_bytes()
    except FileNotFoundError:
        raise UnavailableError("the laboratory's page is not built here: make lab") from None


def fragment(file_or_preset: str | None) -> str:
    """Checks a scenario and returns its link's fragment."""
    if file_or_preset is None:
        return ""
    Scenario.load(file_or_preset)
    if file_or_preset in presets():
        return fragments.of_preset(file_or_preset)
    path = Path(file_or_preset)
    return fragments.packed(
        number_files.embedded(files.read_toml(path), path.parent), file_or_preset
    )


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
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(self.server.page)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(self.server.page)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Logs nothing."""


class Server(ThreadingHTTPServer):
    """Listens on the loopback address; for port 0 the system chooses a port."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        self.page = page()
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
