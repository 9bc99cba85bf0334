"""A headless Chromium, driven by its DevTools protocol through two pipes.

SPDX-License-Identifier: MIT
"""
import json
import os
import select
import subprocess
import time

WAIT_S = 60  # for what must come; then the test fails

# Requests to elsewhere would end in an error that is seen, and reach no one.
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update",
    "--disable-default-apps", "--disable-extensions", "--disable-sync",
    "--disable-dev-shm-usage", "--mute-audio", "--hide-scrollbars",
    "--force-color-profile=srgb", "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]

WATCH = """
window.seen = [];
addEventListener('securitypolicyviolation', (event) => seen.push(
    `policy: ${event.violatedDirective} ${event.blockedURI}`));
addEventListener('error', (event) => seen.push(`error: ${event.message}`));
addEventListener('unhandledrejection',
    (event) => seen.push(`rejection: ${event.reason}`));
"""


class Browser:
    """Owns the process. `urls` are those of all requests of the page."""

    def __init__(self, program, directory):
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def place():
            os.dup2(to_read, 13)
            os.dup2(from_write, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, "--user-data-dir=" + directory + "/profile",
             "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": directory})
        os.close(to_read)
        os.close(from_write)
        self.to, self.source = to_write, from_read
        self.rest = b""
        self.number = 0
        self.session = None
        self.urls = []
        self.errors = []
        self.answers = {}  # to requests that are intercepted, by their path
        target = [one for one in self.say("Target.getTargets")["targetInfos"]
                  if one["type"] == "page"][0]["targetId"]
        self.session = self.say("Target.attachToTarget", targetId=target,
                                flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.say(domain + ".enable")
        self.say("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def close(self):
        self.process.kill()
        self.process.wait()

    # --------------------------------------------------------- protocol ---

    def _message(self):
        while b"\0" not in self.rest:
            if not select.select([self.source], [], [], WAIT_S)[0]:
                raise AssertionError("the browser does not answer")
            got = os.read(self.source, 1 << 20)
            if not got:
                raise AssertionError("the browser has ended")
            self.rest += got
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.urls.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(what)[:500])
        elif method == "Log.entryAdded" and what["entry"]["source"] == "security":
            self.errors.append(what["entry"]["text"])
        elif method == "Fetch.requestPaused":
            path = what["request"]["url"].split("/", 3)[3].split("?")[0]
            self._send("Fetch.fulfillRequest", {
                "requestId": what["requestId"], "responseCode": 200,
                "body": self.answers[path]} if path in self.answers
                else None, what["requestId"])

    def _send(self, method, parameters, request=None):
        if parameters is None:
            method, parameters = "Fetch.continueRequest", {"requestId": request}
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        return self.number

    def say(self, method, **parameters):
        number = self._send(method, parameters)
        while True:
            message = self._message()
            if message.get("id") != number:
                self._note(message)
            elif "error" in message:
                raise AssertionError(f"{method}: {message['error']}")
            else:
                return message["result"]

    # ------------------------------------------------------------- page ---

    def value(self, expression):
        """Of an expression in the page; a promise is waited for."""
        result = self.say("Runtime.evaluate", expression=expression,
                          awaitPromise=True, returnByValue=True,
                          userGesture=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, wanted=True):
        """Waits until the expression has the value."""
        end = time.monotonic() + WAIT_S
        while True:
            try:
                got = self.value(expression)
            except AssertionError as error:
                got = str(error)
            if got == wanted or (wanted is True and got and
                                 not isinstance(got, str)):
                return got
            if time.monotonic() > end:
                raise AssertionError(f"{expression} is {got!r}, not {wanted!r}")
            time.sleep(0.02)

    def open(self, url):
        self.say("Page.navigate", url="about:blank")
        self.say("Page.navigate", url=url)
        self.wait("location.protocol === 'http:' && "
                  "document.readyState === 'complete'")

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})"
                          ".textContent")

    def texts(self, selector):
        return self.value(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".map((one) => one.textContent)")

    def place(self, selector):
        box = self.value(f"""(() => {{
            const one = document.querySelector({json.dumps(selector)});
            one.scrollIntoView({{block: 'nearest'}});
            const box = one.getBoundingClientRect();
            return [box.left, box.top, box.width, box.height];
        }})()""")
        return box

    def mouse(self, kind, x, y, buttons=0):
        self.say("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                 button="none" if kind == "mouseMoved" and not buttons
                 else "left", buttons=buttons, clickCount=1)

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        left, top, width, height = self.place(selector)
        x, y = left + min(width / 2, 60), top + min(height / 2, 20)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1)
        self.mouse("mouseReleased", x, y)

    def drag(self, selector, start, end):
        """From one share of its width to another."""
        left, top, width, height = self.place(selector)
        y = top + height / 2
        self.mouse("mouseMoved", left + width * start, y)
        self.mouse("mousePressed", left + width * start, y, 1)
        for step in range(1, 9):
            x = left + width * (start + (end - start) * step / 8)
            self.mouse("mouseMoved", x, y, 1)
        self.mouse("mouseReleased", left + width * end, y)

    def key(self, name, modifiers=0, text=None):
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40,
                 "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39}
        one = {"key": name, "modifiers": modifiers,
               "windowsVirtualKeyCode": codes.get(name, 0)}
        if name == "Enter":
            text = "\r"
        elif len(name) == 1:
            text = name
        self.say("Input.dispatchKeyEvent", type="keyDown",
                 **({**one, "text": text} if text else one))
        self.say("Input.dispatchKeyEvent", type="keyUp", **one)

    def write(self, text):
        self.say("Input.insertText", text=text)

    def size(self, width, height, is_dark=False):
        self.say("Emulation.setDeviceMetricsOverride", width=width,
                 height=height, deviceScaleFactor=1, mobile=width < 600)
        self.say("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if is_dark else "light"}])

    def picture(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(
                self.say("Page.captureScreenshot")["data"]))
