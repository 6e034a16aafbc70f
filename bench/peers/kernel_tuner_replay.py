#!/usr/bin/env python3
"""Kernel Tuner's search strategies and attune's on one recorded space, no device needed: how near the best of N evaluations comes to
the optimum: the optimum over the mean of the best times.
usage: kernel_tuner_replay.py CACHE.json[.gz] [ATTUNE] [EVALS] [REPEATS]   needs kernel_tuner (pip install kernel_tuner)"""
import contextlib
import gzip
import io
import json
import os
import random
import subprocess
import sys
import tempfile

import kernel_tuner
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.abspath(sys.argv[1])
ATTUNE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else os.path.join(ROOT, "build", "attune")
EVALS = int(sys.argv[3]) if len(sys.argv) > 3 else 100
REPEATS = int(sys.argv[4]) if len(sys.argv) > 4 else 20
STRATEGIES = ("genetic_algorithm", "greedy_ils", "diff_evo", "dual_annealing", "pso", "random_sample")


def read():
    with (gzip.open if CACHE.endswith(".gz") else open)(CACHE, "rt") as file:
        return json.load(file)


def best_of(recorded, path, strategy, seed):
    random.seed(seed)
    np.random.seed(seed)
    keys = recorded["tune_params_keys"]
    known = set(recorded["cache"])

    def allowed(p):
        return ",".join(str(p[k]) for k in keys) in known

    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            recorded["kernel_name"], "__global__ void none() {}", recorded["problem_size"], [], recorded["tune_params"],
            restrictions=allowed, strategy=strategy,
            strategy_options={"max_fevals": EVALS}, cache=path, simulation_mode=True, lang="cuda", verbose=False)
    times = [r["time"] for r in results if isinstance(r["time"], (int, float))]
    return min(times) if times else float("inf")


def main():
    recorded = read()
    optimum = min(c["time"] for c in recorded["cache"].values() if isinstance(c["time"], (int, float)))
    print(f"{len(recorded['cache'])} points, {EVALS} evaluations, {REPEATS} repeats; Kernel Tuner {kernel_tuner.__version__}")
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "cache.json")
        for strategy in STRATEGIES:
            found = []
            for seed in range(REPEATS):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(recorded, file)
                found.append(best_of(recorded, path, strategy, seed))
            print(f"Kernel Tuner {strategy}: {100 * optimum / np.mean(found):.1f} % of the optimum", flush=True)
    told = json.loads(subprocess.run([ATTUNE, "replay", CACHE, "--evals", str(EVALS), "--repeats", str(REPEATS), "--json"], check=True,
                                     capture_output=True, text=True).stdout)
    print(f"attune {told.get('strategy', 'portfolio')}: {100 * told['fraction']:.1f} % of the optimum")


main()
