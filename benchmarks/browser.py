"""A headless Chromium, driven through its own protocol over a pipe: for tests of the report and pictures of it.

with Browser() as browser:
    page = browser.open(Path("report.html").resolve().as_uri(), size=(1280, 800))
    page.wait("cmnet.state().settled")
    page.screenshot(Path("report.png"))
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from queue import Empty, Queue
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--hide-scrollbars",
    "--font-render-hinting=none",
)
KEYS = {" ": "Space", "Escape": "Escape", "?": "Slash", "+": "Equal", "-": "Minus"}


def find_chromium() -> str | None:
    """The path of an installed Chromium or Chrome, CMNET_CHROMIUM first."""
    return os.environ.get("CMNET_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser process. Answers and events come in on a thread of their own."""

    def __init__(self, patience: float = 60.0) -> None:
        path = find_chromium()
        if path is None:
            raise RuntimeError("no Chromium found; install one, or set CMNET_CHROMIUM to its path")
        self.patience = patience
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        in_child, self._out = os.pipe()
        self._in, out_child = os.pipe()
        self.process = subprocess.Popen(
            [path, *OPTIONS, f"--user-data-dir={self.profile.name}"],
            pass_fds=(3, 4),
            preexec_fn=lambda: _as_three_and_four(in_child, out_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(in_child)
        os.close(out_child)
        self._answers: dict[int, Queue[dict[str, Any]]] = {}
        self._pages: dict[str, Page] = {}
        self._last = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        os.close(self._out)
        self.profile.cleanup()

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        with self._lock:
            self._last += 1
            number = self._last
            self._answers[number] = Queue()
            message = {"id": number, "method": method, "params": parameters}
            os.write(
                self._out,
                json.dumps(message if session is None else {**message, "sessionId": session}).encode() + b"\0",
            )
        try:
            answer = self._answers[number].get(timeout=self.patience)
        except Empty:
            raise TimeoutError(f"{method} was not answered within {self.patience:g} s") from None
        finally:
            del self._answers[number]
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def _listen(self) -> None:
        rest = b""
        while chunk := os.read(self._in, 1 << 20):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if message.get("id") in self._answers:  # an answer that came too late is nobody's
                    self._answers[message["id"]].put(message)
                elif "method" in message and message.get("sessionId") in self._pages:
                    self._pages[message["sessionId"]].happened(message["method"], message["params"])

    def open(
        self,
        url: str,
        size: tuple[int, int] = (1000, 700),
        scheme: str = "light",
        still: bool = False,
        before: str = "",
    ) -> Page:
        """A new page at an address.

        scheme : light or dark, what the reader prefers; still : whether reduced motion is preferred
        before : a script that runs before those of the page
        """
        target = self.call("Target.createTarget", url="about:blank", newWindow=True)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        self._pages[session] = page
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.resize(size)
        page.prefer(scheme, still)
        page.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        page.call("Page.navigate", url=url)
        page.wait("document.readyState === 'complete'")
        return page


class Page:
    """One page, with a record of what it asked for and of what went wrong in it."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self.browser = browser
        self.session = session
        self.target = target
        self.requests: list[str] = []
        self.errors: list[str] = []

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.browser.call("Target.closeTarget", targetId=self.target)

    def happened(self, event: str, facts: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.errors.append(str(facts["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert"):
            self.errors.append(str(facts["args"]))
        elif event == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
            self.errors.append(str(facts["entry"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, script: str) -> Any:
        """The value of a script, as JSON would carry it."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until a script is true; whatever it throws counts as not yet."""
        end = time.monotonic() + self.browser.patience
        while not self.evaluate(f"(() => {{ try {{ return Boolean({condition}); }} catch {{ return false; }} }})()"):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition} did not come true within {self.browser.patience:g} s")
            time.sleep(0.02)

    def resize(self, size: tuple[int, int], ratio: float = 1.0) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=ratio, mobile=False
        )

    def prefer(self, scheme: str, still: bool) -> None:
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}, motion])

    def press(self, key: str) -> None:
        text = key if len(key) == 1 else ""
        code = KEYS.get(key, f"Key{key.upper()}" if key.isalpha() and len(key) == 1 else key)
        number = {"Escape": 27, " ": 32}.get(key, ord(key.upper()) if len(key) == 1 else 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, text=text, windowsVirtualKeyCode=number)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

    def click(self, selector: str, count: int = 1) -> None:
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'nearest'}})")
        at = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = self.evaluate(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({at})")
        self.click_at(x, y, count)

    def click_at(self, x: float, y: float, count: int = 1) -> None:
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=n)

    def point_at(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pdf(self, path: Path) -> None:
        answer = self.call(
            "Page.printToPDF", preferCSSPageSize=True, printBackground=False, paperWidth=8.27, paperHeight=11.69
        )
        path.write_bytes(base64.b64decode(answer["data"]))


def _as_three_and_four(reading: int, writing: int) -> None:
    """In the child: the pipe where the browser looks for it, whatever numbers the two ends have."""
    reading, writing = os.dup(reading), os.dup(writing)
    high = [os.dup2(end, 200 + k) for k, end in enumerate((reading, writing))]
    os.dup2(high[0], 3)
    os.dup2(high[1], 4)
