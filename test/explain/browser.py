"""A browser without a window, by the protocol of its developer tools over a pipe: no package needed but the browser."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

#: What Chromium is called; ``KOPT_BROWSER`` names another.
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
)
_SECONDS = 30


def browser_path() -> str | None:
    """Where the browser is, or None where there is none."""
    names = [os.environ["KOPT_BROWSER"]] if "KOPT_BROWSER" in os.environ else _NAMES
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """One page in a browser. ``errors`` are what its console and its scripts complained of."""

    def __init__(self, path: str, folder: Path, width: int = 1500, height: int = 900):
        self.errors: list[str] = []
        self.requests: list[str] = []
        ends, self._write = os.pipe()
        self._read, others = os.pipe()
        ours = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (ends, others)]
        theirs, answers = ours
        command = [path, *_OPTIONS, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{answers}', "bash", *command],
            pass_fds=ours,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (*ours, ends, others):
            os.close(end)
        self._buffer, self._number, self._session = b"", 0, ""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
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

    def close(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait(_SECONDS)
        os.close(self._read)
        os.close(self._write)

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer.get("method"), answer.get("params", {}))

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], _SECONDS)
            assert ready, "the browser says nothing"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
