# SPDX-License-Identifier: BSD-3-Clause
"""Serves the laboratory's page to this machine alone, with a scenario in its link.

The page is one file that asks for nothing else, and the link has the scenario behind its #, which a
browser keeps to itself: the server sees neither.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from westwood import files, stopping
from westwood.errors import InputError, RunError, UnavailableError
from westwood.scenario import Scenario, number_files
from westwood.scenario.supplied import presets

PAGE = Path(__file__).with_name("page.html")
LOOPBACK = "127.0.0.1"
_LARGEST_LINK = 1_000_000  # characters that every browser takes
_DEFLATE = -15  # of zlib: the bare format, which browsers unpack


def page() -> bytes:
    """Reads the page; UnavailableError where it was not built."""
    try:
        return PAGE.read_bytes()
    except FileNotFoundError:
        raise UnavailableError("the laboratory's page is not built here: make lab") from None


def fragment(file_or_preset: str | None) -> str:
    """Makes what stands behind the # of the link, of a scenario that is checked first."""
    if file_or_preset is None:
        return ""
    Scenario.load(file_or_preset)
    if file_or_preset in presets():
        return f"#preset={file_or_preset}"
    path = Path(file_or_preset)
    return _packed(number_files.embedded(files.read_toml(path), path.parent), file_or_preset)


def fragment_of(scenario: Scenario) -> str:
    """Makes the same of a scenario of a program."""
    if scenario.name in presets() and scenario == Scenario.preset(scenario.name):
        return f"#preset={scenario.name}"
    return _packed(scenario.given(), scenario.name)


def _packed(given: Mapping[str, Any], name: str) -> str:
    text = json.dumps(given, default=_plain, separators=(",", ":"))
    pack = zlib.compressobj(9, zlib.DEFLATED, _DEFLATE)
    packed = pack.compress(text.encode()) + pack.flush()
    word = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(word) > _LARGEST_LINK:
        problem = "its lists of numbers are too long for a link, expected a smaller scenario"
        raise InputError(problem, value=name)
    return f"#t={word}"


def _plain(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else list(value)


class _Handler(BaseHTTPRequestHandler):
    """Answers the page, and nothing else."""

    server: Server

    def do_GET(self) -> None:
        names = {f"{host}:{self.server.server_port}" for host in (LOOPBACK, "localhost")}
        if self.headers.get("Host") not in names:  # a foreign name that leads here
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
        """Says nothing: the page asks once."""


class Server(ThreadingHTTPServer):
    """Listens on the loopback address; the system chooses a port where 0 was given."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        self.page = page()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise RunError(f"port {port} of {LOOPBACK} can't be had: {error.strerror}") from None

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{LOOPBACK}:{self.server_port}/"

    def run(self) -> None:
        """Serves until a signal comes, which is how it is meant to end."""
        stopping.begin()
        try:
            self.serve_forever(poll_interval=stopping.LOOK_S)
        except KeyboardInterrupt:
            stopping.was_meant()
        finally:
            self.server_close()
