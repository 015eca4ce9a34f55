# SPDX-License-Identifier: MIT
"""browser.py - headless Chromium, driven over its DevTools pipe with the standard library only.

With --remote-debugging-pipe the browser reads commands from descriptor 3 and writes answers and
events to descriptor 4: JSON texts, each ended by a zero byte (Chromium's
content/browser/devtools/devtools_pipe_handler.cc). No port is opened.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from harness import Failure, Skip

# No sandbox: tests run as root. No background traffic: a test counts requests.
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
           "--disable-extensions", "--disable-sync", "--no-default-browser-check", "--hide-scrollbars",
           "--remote-debugging-pipe", "--window-size=1280,800"]
START_S = 60


def _above(fd):
    """The same descriptor above the numbers that the browser wants."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return moved


class Browser:
    """One browser process with a profile folder of its own; one page at a time."""

    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise Skip("no chromium: scripts/setup test")
        self.folder = tempfile.mkdtemp(prefix="guestprof-browser-")
        to_browser, self.out = map(_above, os.pipe())
        self.into, from_browser = map(_above, os.pipe())

        def take_descriptors():
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        self.process = subprocess.Popen(
            [program, *OPTIONS, f"--user-data-dir={self.folder}", "about:blank"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4), preexec_fn=take_descriptors,
            start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.events, self.page = 0, b"", [], None

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self, deadline):
        """The next message."""
        while b"\0" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.into], [], [], left)[0]:
                raise Failure("the browser does not answer")
            part = os.read(self.into, 1 << 20)
            if not part:
                raise Failure("the browser is gone")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, timeout=START_S, session=None, **params):
        """Result of a command; events that come meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.out, text):]
        deadline = time.monotonic() + timeout
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_event(self, method, session, timeout=START_S):
        deadline = time.monotonic() + timeout
        while True:
            for event in self.events:
                if event.get("method") == method and event.get("sessionId") == session:
                    self.events.remove(event)
                    return event["params"]
            self.events.append(self._read(deadline))

    def open(self, url, dark=False, timeout=START_S):
        """The page that was open before is closed: one in the background is not painted."""
        if self.page is not None:
            self.call("Target.closeTarget", targetId=self.page.target)
        self.page = Page(self, url, dark, timeout)
        return self.page


class Page:
    """A page in a tab of its own. What it complains about, and what it asks for, is kept."""

    def __init__(self, browser, url, dark, timeout):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
        started = time.monotonic()
        self.call("Page.navigate", url=url)
        browser.wait_event("Page.loadEventFired", self.session, timeout)
        # A frame was painted when the second one begins.
        self.wait("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", timeout)
        self.seconds = time.monotonic() - started

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def wait(self, expression, timeout=START_S):
        answer = self.browser.call("Runtime.evaluate", timeout, self.session, expression=expression,
                                   awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def text(self, selector):
        return self.wait(f"document.querySelector({json.dumps(selector)}).textContent")

    def key(self, key, modifiers=0):
        text = key if len(key) == 1 else {"Enter": "\r"}.get(key, "")
        code = {"Enter": 13, "Escape": 27, "Backspace": 8, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                "ArrowDown": 40}.get(key, ord(key.upper()[0]))
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=modifiers,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def mouse(self, kind, x, y, **params):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **params)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def _events(self, *methods):
        self.wait("0")  # what was said before this answer is here now
        return [event for event in self.browser.events
                if event.get("sessionId") == self.session and event.get("method") in methods]

    def complaints(self):
        """Errors and warnings on the console, exceptions, violations of the policy."""
        said = self._events("Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded", "Runtime.consoleAPICalled")
        return [json.dumps(event["params"])[:500] for event in said]

    def requests(self):
        """Addresses that were asked for, but those of data."""
        return [event["params"]["request"]["url"] for event in self._events("Network.requestWillBeSent")
                if not event["params"]["request"]["url"].startswith("data:")]


@contextlib.contextmanager
def browser():
    made = Browser()
    try:
        yield made
    finally:
        made.close()
