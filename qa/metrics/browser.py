# SPDX-License-Identifier: GPL-2.0-or-later
"""Chromium without a window, driven by its DevTools protocol over a pipe.

Messages are JSON, each ended by a zero byte: commands on descriptor 3 of the browser, answers and
events on descriptor 4."""
import base64
import json
import os
import select
import subprocess
import time


class Browser:
    """One page. Events of the console are kept in `problems` when they tell of an error."""

    def __init__(self, program, profile, size=(1200, 900)):
        to_browser, self.write_fd = os.pipe()
        self.read_fd, from_browser = os.pipe()

        def take_pipes():
            """In the child: the two ends at the numbers that the browser expects."""
            source_in, source_out = os.dup(to_browser), os.dup(from_browser)
            os.dup2(source_in, 3)
            os.dup2(source_out, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage",
             f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=take_pipes, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffered = b""
        self.number = 0
        self.problems = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(domain + ".enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def message(self, timeout):
        """The next message; None after `timeout` seconds."""
        end = time.monotonic() + timeout
        while b"\0" not in self.buffered:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                return None
            data = os.read(self.read_fd, 1 << 16)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffered += data
        text, self.buffered = self.buffered.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        """Keeps what went wrong on the page."""
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(params["exceptionDetails"].get("text", "exception"))
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.problems.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.problems.append(str(params["args"]))

    def call(self, method, timeout=60, **params):
        """The result of one command."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(command).encode() + b"\0")
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            got = self.message(end - time.monotonic())
            if got is None:
                break
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.note(got)
        raise RuntimeError(f"{method}: no answer within {timeout} s")

    def open(self, url):
        """Goes to a page and waits until it is there."""
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def value(self, expression):
        """What a JavaScript expression gives."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']['text']}")
        return got["result"].get("value")

    def until(self, expression, timeout=30):
        """Waits until the expression is true."""
        end = time.monotonic() + timeout
        while not self.value(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"not within {timeout} s: {expression}")
            time.sleep(0.1)

    def picture(self, path):
        """Writes what one sees, as PNG."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def end(self):
        """Ends the browser."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
