"""Reports and live views in a real browser: nothing on the console, nothing empty, the numbers of the JSON.
usage: pages.py ATTUNE FOLDER [--short]   pictures are left in FOLDER. Exit 77: there is no browser here."""
import array
import json
import math
import os
import re
import subprocess
import sys
import time

import browser

ATTUNE, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SHORT = "--short" in sys.argv
LOOKS = [("desktop", "light")] if SHORT else [(s, c) for s in browser.SIZES for c in ("light", "dark")]
SIDE = 128 if SHORT else 512


def path(name):
    return os.path.join(FOLDER, name)


def attune(*words):
    done = subprocess.run([ATTUNE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"attune {' '.join(words)}: {done.stderr}"
    return done.stdout


def cell(page, name):
    """The value beside a name in any table of the page."""
    return page.run("""const row = [...document.querySelectorAll('tr')].find(r => r.cells[0].textContent === arguments[0]);
                       return row ? row.cells[1].textContent : null;""", name)


def check(page, name):
    """Opens a report in every look, takes its picture, and asserts what holds for all of them."""
    for size, scheme in LOOKS:
        page.look(size, scheme)
        page.open("file://" + path(name + ".html"))
        page.shot(path(f"{name}-{size}-{scheme}.png"))
        said = page.console()
        assert not said, f"{name}: {said}"
        for k, colours in enumerate(page.canvas_colours()):
            assert colours > 2, f"{name}: canvas {k} shows {colours} colours"
        wide = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name}: {wide} pixels too wide for a {size}"
        least = page.run("return Math.min(99, ...[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height).filter(h => h > 0))")
        assert least >= 10, f"{name}: text of {least} pixels on a {size}"
        foot = page.run("return document.querySelector('footer').textContent")
        assert "attune " in foot and "--report" in foot, f"{name}: {foot}"


def same(name, shown, told):
    assert shown is not None and abs(float(re.match(r"\(?[-−]?[\d.e+-]+", shown).group().strip("(").replace("−", "-")) - told) \
        <= 1e-4 * abs(told) + 1e-12, f"{name}: the page says {shown}, the JSON {told}"


def si(text):
    number, unit = text.split(" ")[:2]
    return float(number) * {"": 1, "m": 1e-3, "µ": 1e-6, "n": 1e-9, "p": 1e-12}[unit[:-1]]


def registration(page):
    attune("sample", "scans", "-o", path("scans"), "--size", "3000" if SHORT else "20000")
    told = json.loads(attune("register", path("scans/source.ply"), path("scans/target.ply"), "--device", "host", "--report",
                             path("register.html"), "--json"))
    check(page, "register")
    same("rmse", cell(page, "rmse"), told["rmse"])
    same("inlier distance", cell(page, "inlier distance"), told["inlier_distance"])
    matrix = [float(v) for v in page.run("return document.querySelector('pre').textContent").split()]
    for shown, wanted in zip(matrix, sum(told["transform"], [])):
        assert abs(shown - wanted) < 1e-9, f"matrix: {shown} and {wanted}"
    assert told["verdict"] in page.run("return document.querySelector('.verdict').textContent").lower()
    before = page.run("return document.querySelector('canvas').toDataURL()")
    page.run("""const c = document.querySelector('canvas');
                for (const [name, x] of [['pointerdown', 50], ['pointermove', 120], ['pointerup', 120]])
                  c.dispatchEvent(new PointerEvent(name, {pointerId: 1, clientX: x, clientY: 60, buttons: 1, bubbles: true}));
             """)
    page.settle()
    page.console()  # a pointer that is none cannot be captured
    assert before != page.run("return document.querySelector('canvas').toDataURL()") or SHORT, "dragging turns nothing"


def unwrapping(page):
    attune("sample", "fringes", "-o", path("fringes"), "--size", f"{SIDE}x{SIDE}")
    told = json.loads(attune("unwrap", path("fringes/wrapped.npy"), "--wavelength", "632.8nm", "--pixel", "5um", "--remove", "tilt",
                             "--device", "host", "--report", path("unwrap.html"), "--json"))
    check(page, "unwrap")
    for name, key in (("PV", "pv"), ("RMS", "rms"), ("Sa (levelled)", "sa"), ("Sq (levelled)", "sq")):
        assert math.isclose(si(cell(page, name)), told[key], rel_tol=1e-3), f"{name}: {cell(page, name)}, {told[key]}"
    page.run("""const s = document.querySelector('[data-tool=kind]'); s.value = '3d'; s.dispatchEvent(new Event('change'));""")
    page.shot(path("unwrap-3d.png"))
    assert page.canvas_colours()[0] > 2, "3D shows nothing"
    assert not page.console()


def needle(page):
    attune("sample", "needle", "-o", path("needle"))
    told = json.loads(attune("needle", path("needle/model.ply"), path("needle/scan"), "--device", "host", "--report", path("needle.html"),
                             "--json"))
    check(page, "needle")
    tip = re.search(r"Tip at \(([-\d.]+), ([-\d.]+), ([-\d.]+)\)", page.run("return document.querySelector('.verdict').textContent"))
    for shown, wanted in zip(tip.groups(), told["tip"]):
        assert abs(float(shown) - wanted) < 1e-4, f"tip: {shown} and {wanted}"


def lattice(page):
    attune("sample", "atoms", "-o", path("atoms"), "--size", "8000", "--grains", "4", "--lattice", "bcc")
    told = json.loads(attune("lattice", path("atoms/frame.pos"), "--ranges", path("atoms/ranges.rrng"), "--device", "host", "--report", path("lattice.html"), "--json"))
    check(page, "lattice")
    text = page.run("return document.body.textContent")
    for count in told["counts"].values():
        assert str(count) in text or not count, f"counts: {count} is not on the page"


def tuning(page):
    told = json.loads(attune("tune", "scale", "--device", "host", "--size", "A=150x150", "--budget", "90s", "--evals", "16", "--report", path("tune.html"),
                             "--json"))
    check(page, "tune")
    return told


def wrapped(side, turns):
    """Frames of a bump that goes round, as bytes of float32."""
    frames = []
    for k in range(turns):
        angle = 2 * math.pi * k / turns
        across = [math.exp(-8 * (i / side - .5 - .2 * math.cos(angle)) ** 2) for i in range(side)]
        down = [30 * math.exp(-8 * (j / side - .5 - .2 * math.sin(angle)) ** 2) for j in range(side)]
        frames.append(array.array("f", [math.remainder(d * a, 2 * math.pi) for d in down for a in across]).tobytes())
    return frames


def begin(*words):
    """A verb with --serve: the process and the page's address."""
    process = subprocess.Popen([ATTUNE, *words, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=False)
    for line in process.stderr:
        found = re.search(rb"live view: (http://127\.0\.0\.1:\d+/[0-9a-f]{32}/)", line)
        if found:
            return process, found.group(1).decode()
    raise AssertionError(f"attune {' '.join(words)} --serve said no address")


def finish(page, process, name):
    """The page outlives the stream and a reload; the program ends once nobody looks."""
    page.wait("return live.ended()", 120)
    address = page.run("return location.href")
    page.open(address)
    page.wait("return live.ended() && live.events() > 0", 20)
    page.settle()
    time.sleep(0.6)
    for size, scheme in LOOKS:
        page.look(size, scheme)
        time.sleep(0.6)
        page.shot(path(f"live-{name}-{size}-{scheme}.png"))
    said = page.console()
    assert not said, f"live {name}: {said}"
    for k, colours in enumerate(page.canvas_colours()):
        assert colours > 1, f"live {name}: canvas {k} is empty"
    page.open("about:blank")
    assert process.wait(30) == 0, f"live {name}: exit {process.returncode}"


def live_unwrap(page):
    frames = wrapped(SIDE, 6)
    process, address = begin("unwrap", "-", "--stream", "--shape", f"{SIDE}x{SIDE}", "--device", "host", "--pixel", "5um",
                             "--wavelength", "632.8nm")
    page.look(*LOOKS[0])
    page.open(address)
    for k in range(60):
        process.stdin.write(frames[k % len(frames)])
        process.stdin.flush()
        time.sleep(0.03)
    page.wait("return live.shown() > 3")
    page.run("document.getElementById('pause').click()")
    held = page.run("return live.shown()")
    for k in range(10):
        process.stdin.write(frames[k % len(frames)])
        process.stdin.flush()
        time.sleep(0.03)
    assert page.run("return live.shown()") <= held + 1, "paused, and frames go on"
    page.run("document.getElementById('pause').click()")
    wrong = subprocess.run(["curl", "-s", "-o", os.devnull, "-w", "%{http_code}", address[:-3] + "00/"], capture_output=True,
                           text=True, check=False).stdout if not SHORT else "404"
    assert wrong == "404", f"another token: {wrong}"
    process.stdin.close()
    finish(page, process, "unwrap")


def live_register(page):
    process, address = begin("register", path("scans/source.ply"), path("scans/target.ply"), "--device", "host")
    page.look(*LOOKS[0])
    page.open(address)
    finish(page, process, "register")


def live_lattice(page):
    process, address = begin("lattice", path("atoms/frame.pos"), "--device", "host")
    page.look(*LOOKS[0])
    page.open(address)
    finish(page, process, "lattice")


def live_needle(page):
    os.makedirs(path("incoming"), exist_ok=True)
    for k in range(3):
        if not os.path.lexists(path(f"incoming/{k}")):
            os.symlink(path("needle/scan"), path(f"incoming/{k}"))
    process, address = begin("needle", path("needle/model.ply"), path("incoming"), "--stream", "--frames", "3", "--device", "host")
    page.look(*LOOKS[0])
    page.open(address)
    finish(page, process, "needle")


def live_tune(page):
    process, address = begin("tune", "scale", "--device", "host", "--size", "A=150x150", "--budget", "90s", "--evals", "16", "--again")
    page.look(*LOOKS[0])
    page.open(address)
    finish(page, process, "tune")


ALL = [registration, unwrapping, needle, lattice, tuning, live_unwrap, live_register, live_needle, live_lattice, live_tune]
FEW = [registration, unwrapping, live_unwrap]


def main():
    lacking = browser.missing()
    if lacking:
        print(f"skipped: {lacking} is not here; 'tools/setup test' installs it")
        return 77
    os.makedirs(FOLDER, exist_ok=True)
    names = [w for w in sys.argv[3:] if not w.startswith("-")]
    page = browser.Browser()
    try:
        for test in FEW if SHORT else ALL:
            if names and test.__name__ not in names:
                continue
            test(page)
            print(f"{test.__name__}: as it should be", flush=True)
    finally:
        page.close()
    return 0


sys.exit(main())
