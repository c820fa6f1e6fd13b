"""A browser without a window, by the protocol of its developer tools: QtWebEngine, the Chromium that pip installs."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

_OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
_SECONDS = 60


class MissingLibrary(Exception):
    """A library of the system that the browser loads."""


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _command(folder: Path, port: int) -> list[str]:
    """What starts the browser with nothing opened. ``KOPT_BROWSER`` names a Chromium in place of QtWebEngine's."""
    if (path := os.environ.get("KOPT_BROWSER")) is None:
        return [sys.executable, str(Path(__file__).with_name("qt_browser.py"))]
    files = f"--user-data-dir={folder}"
    return [path, "--headless=new", *_OPTIONS, f"--remote-debugging-port={port}", files, "about:blank"]


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """One that keeps its files in a folder."""
    port, log = _free_port(), folder / "browser.log"
    of_qt = {
        "QT_QPA_PLATFORM": "offscreen",
        "QTWEBENGINE_REMOTE_DEBUGGING": f"127.0.0.1:{port}",
        "QTWEBENGINE_CHROMIUM_FLAGS": " ".join(_OPTIONS),
    }
    with log.open("wb") as said:
        process = subprocess.Popen(_command(folder, port), stdout=said, stderr=said, env={**os.environ, **of_qt})
    try:
        with connect(_address(process, log), max_size=None, proxy=None, open_timeout=_SECONDS) as connection:
            yield Browser(connection)
    finally:
        process.terminate()
        process.wait(_SECONDS)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """What the browser prints once it listens."""
    end = time.monotonic() + _SECONDS
    while (found := re.search(r"DevTools listening on (ws:\S+)", said := log.read_text())) is None:
        if process.poll() is not None and (missing := re.search(r"\S+: cannot open shared object file", said)):
            raise MissingLibrary(missing[0])
        assert process.poll() is None and time.monotonic() < end, said
        time.sleep(0.05)
    return found[1]


class Browser:
    """One page in a browser. ``errors`` are what its console and its scripts complained of."""

    def __init__(self, connection: ClientConnection, width: int = 1500, height: int = 900):
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._connection, self._number, self._session = connection, 0, ""
        page = next(one for one in self._call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """How large the window is."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)

    def open(self, url: str) -> None:
        """Loads a page, and waits for it."""
        self._call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, code: str) -> Any:
        """The value of an expression."""
        found = self._call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(f"{code}: {found['exceptionDetails']['exception'].get('description')}")
        return found["result"].get("value")

    def wait(self, code: str) -> None:
        """Until an expression is true."""
        asked = f"new Promise((go) => {{ const look = () => ({code}) ? go(1) : setTimeout(look, 20); look(); }})"
        self.evaluate(asked)

    def click(self, code: str) -> None:
        """A click of the mouse in the middle of the element that an expression gives."""
        place = self.evaluate(
            f"(() => {{ const e = {code}; e.scrollIntoView({{block: 'nearest'}}); const b = e.getBoundingClientRect();"
            " return [b.x + Math.min(b.width, 120) / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, key: str) -> None:
        """A key."""
        text = {"text": key} if len(key) == 1 else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text: str) -> None:
        """Several letters."""
        self._call("Input.insertText", text=text)

    def prefers(self, scheme: str) -> None:
        """What the system prefers: ``light`` or ``dark``."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path: Path) -> None:
        """What is seen, as a PNG."""
        found = self._call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._connection.send(json.dumps(message))
        while True:
            answer = json.loads(self._connection.recv(_SECONDS))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer.get("method"), answer.get("params", {}))

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
