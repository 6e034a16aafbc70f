"""A headless Chromium through its driver, with nothing but the standard library: open a page, run a script in it, take
pictures of it at a width and in light or dark, and ask what its console said."""
import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

SIZES = {"desktop": (1280, 900, 1), "phone": (390, 844, 2)}


def missing():
    """What is not here, or None."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return program
    return None


class Browser:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}", "--silent"], stdout=subprocess.DEVNULL)
        self.session = ""
        for left in range(200, -1, -1):
            try:
                self.ask("GET", "/status")
                break
            except OSError:
                if not left:
                    raise
                time.sleep(0.1)
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-gpu-watchdog",
                   "--enable-unsafe-swiftshader",
                   "--use-angle=swiftshader", "--allow-file-access-from-files"]
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": options},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + made["sessionId"]

    def ask(self, how, where, what=None):
        data = None if how == "GET" else json.dumps(what or {}).encode()
        request = urllib.request.Request(self.address + where, data, {"Content-Type": "application/json"}, method=how)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def devtools(self, command, **params):
        return self.ask("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": params})

    def look(self, size="desktop", scheme="light"):
        width, height, ratio = SIZES[size]
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio,
                      mobile=size == "phone")
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address):
        self.ask("POST", self.session + "/url", {"url": address})

    def run(self, script, *args):
        return self.ask("POST", self.session + "/execute/sync", {"script": script, "args": list(args)})

    def wait(self, script, seconds=30):
        """Until the script says something true; what it said."""
        end = time.monotonic() + seconds
        while True:
            said = self.run(script)
            if said:
                return said
            if time.monotonic() > end:
                raise AssertionError(f"still not so after {seconds} s: {script}")
            time.sleep(0.1)

    def console(self):
        """What went wrong by the console since it was asked last."""
        said = self.ask("POST", self.session + "/se/log", {"type": "browser"})
        return [line["message"] for line in said
                if line["level"] in ("SEVERE", "WARNING") and "GPU stall due to ReadPixels" not in line["message"]]

    def settle(self):
        """Two frames drawn."""
        self.ask("POST", self.session + "/execute/async", {
            "script": "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));",
            "args": []})

    def shot(self, path, whole=True):
        self.settle()
        picture = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def canvas_colours(self):
        """For each canvas, how many colours it shows, of at most 64; a WebGL one is drawn again for it."""
        return self.run("""
            return [...document.querySelectorAll('canvas')].map(canvas => {
              const copy = document.createElement('canvas'), seen = new Set();
              copy.width = canvas.width; copy.height = canvas.height;
              if (!canvas.width || !canvas.height) return 0;
              if (canvas.redraw) canvas.redraw();
              const g = copy.getContext('2d');
              g.drawImage(canvas, 0, 0);
              const p = new Uint32Array(g.getImageData(0, 0, copy.width, copy.height).data.buffer);
              for (let k = 0; k < p.length && seen.size < 64; ++k) seen.add(p[k]);
              return seen.size;
            });""")

    def close(self):
        try:
            self.ask("DELETE", self.session)
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait()
