"""Threads, forks, Ctrl-C, and the interpreter's end, each in a process of its own where it may hang."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np

import attune
from conftest import moved, needs_compiler, pose, surface

HERE = os.path.dirname(os.path.abspath(__file__))


def run(text, timeout=120, **options):
    """A program of its own; what it printed."""
    head = f"import sys; sys.path.insert(0, {HERE!r})\nfrom conftest import *\nimport attune, os, signal, threading, time\n"
    done = subprocess.run([sys.executable, "-c", head + textwrap.dedent(text)], capture_output=True, text=True, timeout=timeout, **options)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def register_once(seed):
    target = surface(1500, seed)
    truth = pose(0.1, (0.1, 0, 0))
    result = attune.register(moved(target, np.linalg.inv(truth)), target, init="identity", device="host")
    return bool(np.allclose(result.transform, truth, atol=1e-3))


def test_threads_work_at_the_same_time():
    good = []
    threads = [threading.Thread(target=lambda s=s: good.append(register_once(s))) for s in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert good == [True] * 4


def test_the_lock_is_released():
    target = surface(20000)
    ticks = []
    over = threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    attune.register(target[::2] + 0.001, target, init="identity", device="host")
    end = time.monotonic()
    over.set()
    thread.join()
    during = [t for t in ticks if begin < t < end]
    assert len(during) >= 2, "no other thread of Python ran while clouds were registered"


def test_fork_after_use():
    assert register_once(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(register_once, range(4)).get(timeout=120) == [True] * 4


def test_spawn():
    assert register_once(0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(register_once, (1,)).get(timeout=120)


def test_objects_and_devices_of_the_parent_are_refused_after_a_fork():
    code, out, err = run("""
        unwrapper = attune.Unwrapper((96, 80), device="host")
        phase = wrapped()[0].astype("f4")
        unwrapper(phase)
        pid = os.fork()
        if pid == 0:
            for call in (lambda: unwrapper(phase), lambda: attune.Unwrapper((8, 8), device="opencl")):
                try:
                    call()
                except attune.Error as error:
                    print(error, flush=True)
            print(attune.unwrap(phase).shape, flush=True)
            os._exit(0)
        print(os.waitpid(pid, 0)[1], flush=True)
        unwrapper(phase)
    """)
    assert code == 0, err
    assert "made before a fork" in out and "only the host works" in out and "(96, 80)" in out and out.endswith("0")


LONG = """
    target = surface(36000)
    source = moved(target[::2], pose(2.0))
"""


def test_ctrl_c_stops_the_work_and_nothing_else():
    code, out, err = run(LONG + """
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    try:
        for k in range(1000):
            attune.register(source, target, device="host", dense=True, most_iterations=200)
    except KeyboardInterrupt:
        print("stopped", time.monotonic() - begin < 8)
    print(attune.register(target[:500] + 0.001, target[:500], init="identity", device="host").verdict)
    """)
    assert code == 0, err
    assert out.splitlines()[0] == "stopped True" and len(out.splitlines()) == 2


def test_an_unwrapper_outlives_ctrl_c():
    code, out, err = run("""
    phase, bowl = wrapped()
    unwrapper = attune.Unwrapper(phase.shape, device="host", bits=64)
    unwrapper(phase)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            unwrapper(phase)
    except KeyboardInterrupt:
        print("stopped")
    print(off(unwrapper(phase), bowl) < 1e-6)
    """)
    assert code == 0, err
    assert out.splitlines() == ["stopped", "True"]


def test_ctrl_c_stops_a_lattice():
    code, out, err = run("""
    cells = np.stack(np.meshgrid(*[np.arange(25)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    atoms = 4.05 * (cells + np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])).reshape(-1, 3)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            attune.lattice(atoms, device="host")
    except KeyboardInterrupt:
        print("stopped")
    print(len(attune.lattice(atoms[:500], models={"fcc": 4.05}, device="host")))
    """)
    assert code == 0, err
    assert out.splitlines() == ["stopped", "500"]


def test_ctrl_c_stops_a_needle(needle_folder):
    code, out, err = run(f"""
    model, scan = {str(needle_folder / "model.stl")!r}, {str(needle_folder / "scan")!r}
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            attune.needle(model, scan, device="host")
    except KeyboardInterrupt:
        print("stopped")
    print(attune.needle(model, scan, device="host").found)
    """)
    assert code == 0, err
    assert out.splitlines() == ["stopped", "True"]


@needs_compiler
def test_ctrl_c_stops_a_tuning_and_its_processes():
    code, out, err = run("""
    k = attune.kernel("transpose", device="host")
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        k.tune(budget=100, A=(512, 512))
    except KeyboardInterrupt:
        print("stopped")
    try:
        print(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        print("no child is left")
    """)
    assert code == 0, err
    assert out.splitlines() == ["stopped", "no child is left"]


def test_a_handler_of_ones_own_is_called():
    code, out, err = run(LONG + """
    def mine(number, frame):
        raise RuntimeError("mine")
    signal.signal(signal.SIGINT, mine)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            attune.register(source, target, device="host")
    except RuntimeError as error:
        print(error)
    print(signal.getsignal(signal.SIGINT) is mine)
    """)
    assert code == 0, err
    assert out.splitlines() == ["mine", "True"]


def test_the_interpreter_ends_while_a_thread_works():
    code, out, err = run(LONG + """
    def work():
        while True:
            attune.register(source, target, device="host", dense=True)
    threading.Thread(target=work, daemon=True).start()
    time.sleep(1)
    print("ending", flush=True)
    """)
    assert (code, out) == (0, "ending") and "Fatal" not in err and "Segmentation" not in err, err


def test_without_a_compiler():
    """What is compiled in does for all that the package offers."""
    code, out, err = run("""
    target = surface(1500)
    for method in ("em-icp", "icp", "icp-plane", "gicp"):
        result = attune.register(moved(target, pose(0.1)), target, init="auto", method=method, device="host")
        print(method, result.trusted)
    phase, bowl = wrapped()
    print(off(attune.unwrap(phase, device="host"), bowl) < 1e-6)
    noisy = np.angle(np.exp(1j * (bowl + np.random.default_rng(0).normal(size=bowl.shape) * 0.8)))
    print(attune.unwrap(noisy, device="host", full_output=True)[1].converged)
    cells = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    atoms = 4.05 * (cells + np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])).reshape(-1, 3)
    print(attune.lattice(atoms, models={"fcc": 4.05}, device="host").counts["fcc"] > 200)
    """, env=dict(os.environ, ATTUNE_CC="/nowhere/cc"))
    assert code == 0, err
    assert [line.split()[-1] for line in out.splitlines()] == ["True"] * 7


def test_import_needs_no_numpy():
    code, out, err = run("""
    """)
    assert code == 0, err
    done = subprocess.run([sys.executable, "-c", "import attune, sys; print('numpy' in sys.modules, attune.__version__)"], capture_output=True, text=True)
    assert done.stdout.split() == ["False", attune.__version__], done.stderr
