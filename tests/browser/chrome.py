"""Chromium driven through chromedriver's HTTP protocol: a page as a person would see it, without further packages."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
DRIVER = shutil.which("chromedriver")
MISSING = "no Chromium with chromedriver here; apt-get install chromium chromium-driver"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
)


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Chrome:
    """One browser with an empty profile. Use as a context."""

    def __init__(self, *more: str):
        self.flags = (*FLAGS, *more)

    def __enter__(self) -> Chrome:
        self.profile = tempfile.mkdtemp(prefix="dynarm-chrome-")
        self.port = _free_port()
        assert DRIVER is not None
        environment = {**os.environ, "HOME": self.profile}
        self.driver = subprocess.Popen(
            [DRIVER, f"--port={self.port}", "--log-level=OFF"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        try:
            self._wait()
            options = {"binary": BROWSER, "args": [*self.flags, f"--user-data-dir={self.profile}"]}
            wanted = {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
            made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.session = made["sessionId"]
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._send("DELETE", f"/session/{self.session}")
        finally:
            self._stop()

    def _stop(self) -> None:
        self.driver.terminate()
        self.driver.wait(timeout=10)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _wait(self, seconds: float = 20.0) -> None:
        until = time.monotonic() + seconds
        while True:
            try:
                if self._send("GET", "/status")["ready"]:
                    return
            except (OSError, urllib.error.URLError):
                if time.monotonic() > until:
                    raise
            time.sleep(0.05)

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=data,
            method=method,
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            told = json.loads(error.read())["value"]
            raise AssertionError(f"{told['error']}: {told['message']}") from None

    def post(self, path: str, body: Any) -> Any:
        """A command of the session."""
        return self._send("POST", f"/session/{self.session}{path}", body)

    def devtools(self, command: str, **parameters: Any) -> Any:
        """A command of the browser's own protocol."""
        return self.post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width: int, height: int) -> None:
        """The size of the window's inside, exactly."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def scheme(self, name: str) -> None:
        """What the page finds as the person's wish: light or dark."""
        self.devtools(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}]
        )

    def open(self, address: str | Path) -> None:
        """Load a page and forget what was logged before."""
        if isinstance(address, Path):
            address = address.absolute().as_uri()
        self.log("browser"), self.log("performance")
        self.post("/url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.post("/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script: str, seconds: float = 90.0) -> Any:
        """Wait until a script returns something true; that."""
        end = time.monotonic() + seconds
        while True:
            found = self.run(script)
            if found:
                return found
            assert time.monotonic() < end, f"not within {seconds} s: {script}"
            time.sleep(0.05)

    def log(self, kind: str) -> list[dict[str, Any]]:
        """Entries since the last look."""
        return self.post("/se/log", {"type": kind})

    def complaints(self) -> list[str]:
        """What the console says of errors and warnings."""
        return [e["message"] for e in self.log("browser") if e["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """Addresses that were asked for, except the page itself and what it carries inside."""
        found = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [
            url
            for url in found
            if not url.startswith(("file:", "data:", "blob:", "about:", "chrome"))
        ]

    def picture(self, path: Path, whole: bool = False) -> None:
        """A screenshot; of the whole page on request."""
        parameters: dict[str, Any] = {"format": "png"}
        if whole:
            box = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {
                "x": 0,
                "y": 0,
                "width": box["width"],
                "height": box["height"],
                "scale": 1,
            }
            parameters["captureBeyondViewport"] = True
        path.write_bytes(
            base64.b64decode(self.devtools("Page.captureScreenshot", **parameters)["data"])
        )
