"""What a registration costs from Python beyond what it costs from C: the same clouds, both ways in turns, on the host.

usage: PYTHONPATH=build/python python3 bench/python/overhead.py [BUILD] [POINTS] [ROUNDS]
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import attune

build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
points = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def from_python(source, target):
    clock, cpu = time.monotonic(), processor()
    attune.register(source, target, init="identity", device="host")
    return time.monotonic() - clock, processor() - cpu


rng = np.random.default_rng(0)
u, v = rng.uniform(-3, 3, (2, points))
target = np.c_[u, v, np.sin(u) * np.cos(1.3 * v) + 0.3 * np.sin(2 * u + v)] + rng.normal(size=(points, 3)) * 1e-3
source = target[rng.permutation(points)] + (0.002, -0.001, 0.001)
with tempfile.TemporaryDirectory() as folder:
    program = os.path.join(folder, "pair")
    subprocess.run(
        ["cc", "-O2", os.path.join(here, "pair.c"), "-I", os.path.join(root, "include"), "-I", os.path.join(build, "include"),
         "-L", build, "-lattune", f"-Wl,-rpath,{build}", "-o", program], check=True)
    files = [os.path.join(folder, name) for name in ("source", "target")]
    source.tofile(files[0])
    target.tofile(files[1])
    command = [program, *files, str(points)]
    from_python(source, target)  # builds what it needs
    subprocess.run([*command, "1"], check=True, capture_output=True)
    both = {"C": [], "Python": []}
    for _ in range(rounds):
        lines = subprocess.run([*command, "2"], check=True, capture_output=True, text=True).stdout.splitlines()
        both["C"].append(tuple(float(n) for n in lines[-1].split()))  # the second: what is loaded once is loaded
        both["Python"].append(from_python(source, target))
for name, times in both.items():
    print(f"{name:7} {statistics.median(t[0] for t in times):.4f} s by the clock, {statistics.median(t[1] for t in times):.4f} s of the processor (medians of {rounds})")
for k, what in enumerate(("clock", "processor")):
    ratios = [p[k] / c[k] for p, c in zip(both["Python"], both["C"])]
    print(f"Python / C by the {what}: {statistics.median(ratios):.4f} (from {min(ratios):.4f} to {max(ratios):.4f})")
