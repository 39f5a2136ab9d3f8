# SPDX-License-Identifier: BSD-3-Clause
"""Drives Firefox by its own protocol, WebDriver BiDi: https://www.w3.org/TR/webdriver-bidi/.

No other driver of Debian's Firefox works without a download: Playwright needs commands of later
versions, and Selenium needs a program that neither Debian nor PyPI has.
"""

import asyncio
import json
import subprocess
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

ADDRESS = "WebDriverBiDiServer.json"  # Firefox writes it into its profile once it listens
PATIENCE_S = 120.0
LARGEST = 1 << 26  # bytes of an answer
EVENTS = ("log.entryAdded", "network.beforeRequestSent")


class Firefox:
    """A headless browser with one tab."""

    def __init__(self, binary: str, profile: Path) -> None:
        options = ("--headless", "--no-remote", "--remote-debugging-port", "0")
        self._process = subprocess.Popen(
            [binary, *options, "--profile", profile],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._loop = asyncio.new_event_loop()
        self._asked = 0
        self.problems: list[str] = []  # errors in the console
        self.requests: list[str] = []  # requested addresses
        self._socket = self._connected(profile / ADDRESS)
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=EVENTS)
        (tab,) = self.ask("browsingContext.getTree")["contexts"]
        self._tab = tab["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        """Sends a command and returns its result; records the events in between."""
        self._asked += 1
        command = {"id": self._asked, "method": method, "params": parameters}
        return self._loop.run_until_complete(asyncio.wait_for(self._answer(command), PATIENCE_S))

    def of_tab(self, method: str, **parameters: Any) -> Any:
        """Sends a command about the tab."""
        return self.ask(method, context=self._tab, **parameters)

    def goto(self, url: str) -> None:
        """Opens an address and waits until it has loaded."""
        self.of_tab("browsingContext.navigate", url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Evaluates an expression in the page, awaits a promise, and returns the result as JSON."""
        script = f"(async () => JSON.stringify(await ({expression})))()"
        done = self.ask(
            "script.evaluate", expression=script, target={"context": self._tab}, awaitPromise=True
        )
        assert done["type"] == "success", done["exceptionDetails"]["text"]
        return json.loads(done["result"].get("value", "null"))

    def wait_for(self, condition: str) -> None:
        """Waits until a condition is true in the page."""
        end_s = time.monotonic() + PATIENCE_S
        while not self.evaluate(condition):
            assert time.monotonic() < end_s, f"never came: {condition}"
            time.sleep(0.05)

    def drag(self, selector: str, begin: float, end: float) -> None:
        """Drags with the mouse from one share of an element's width to another."""
        x, y, width, height = self.evaluate(
            f"(({{x, y, width, height}}) => [x, y, width, height])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        corners = [
            {"x": round(x + share * width), "y": round(y + height / 2)} for share in (begin, end)
        ]
        steps = [
            {"type": "pointerMove", **corners[0]},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", **corners[1], "duration": 100},
            {"type": "pointerUp", "button": 0},
        ]
        self.of_tab(
            "input.performActions", actions=[{"type": "pointer", "id": "mouse", "actions": steps}]
        )

    def screenshot(self) -> bytes:
        """Returns a screenshot of the page as PNG."""
        return b64decode(self.of_tab("browsingContext.captureScreenshot")["data"])

    def close(self):
        try:
            self.ask("browser.close")
            self._process.wait(PATIENCE_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._loop.run_until_complete(self._closed())
            self._loop.close()

    def _connected(self, address: Path) -> WebSocketClientConnection:
        end_s = time.monotonic() + PATIENCE_S
        while not address.exists() or not address.read_text():
            assert time.monotonic() < end_s and self._process.poll() is None, "it doesn't start"
            time.sleep(0.05)
        session = json.loads(address.read_text())
        url = f"ws://{session['ws_host']}:{session['ws_port']}/session"
        return self._loop.run_until_complete(_connection(url))

    async def _answer(self, command: dict[str, Any]) -> Any:
        await self._socket.write_message(json.dumps(command))
        while True:
            text = await self._socket.read_message()
            assert text is not None, f"the connection closed at {command['method']}"
            answer = json.loads(text)
            if answer.get("id") == command["id"]:
                assert answer["type"] == "success", f"{command['method']}: {answer.get('message')}"
                return answer["result"]
            self._note(answer.get("method"), answer.get("params", {}))

    def _note(self, event: str, parameters: dict[str, Any]) -> None:
        if event == "log.entryAdded" and parameters["level"] == "error":
            self.problems.append(parameters["text"])
        elif event == "network.beforeRequestSent":
            self.requests.append(parameters["request"]["url"])

    async def _closed(self) -> None:
        self._socket.close()
        while await self._socket.read_message() is not None:
            pass


async def _connection(url: str) -> WebSocketClientConnection:
    return await websocket_connect(url, max_message_size=LARGEST)
