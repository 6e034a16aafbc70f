"""What the tests share: a cache and a wisdom of their own, and things to register."""

import os
import shutil
import subprocess
import tempfile

import pytest

# Before attune is imported: what one run of tests builds, its other processes find; nothing of the user's is touched.
_folder = os.environ.get("ATTUNE_PYTHON_TESTS")
_mine = _folder is None
if _mine:
    _folder = os.environ["ATTUNE_PYTHON_TESTS"] = tempfile.mkdtemp(prefix="attune-python-")
os.environ["XDG_CACHE_HOME"] = _folder
os.environ["ATTUNE_WISDOM"] = os.path.join(_folder, "wisdom.sqlite")
os.environ["ATTUNE_HOST_FLAGS"] = "-O1"  # quicker to build

import numpy as np  # noqa: E402

_compiler = os.environ.get("ATTUNE_CC")
needs_compiler = pytest.mark.skipif(
    not (shutil.which(_compiler) if _compiler else any(map(shutil.which, ("gcc", "clang", "cc")))),
    reason="there is no compiler: only what is compiled in runs fast, and nothing is tuned",
)


def pytest_terminal_summary(terminalreporter):
    """As tools/run-tests counts."""
    if "ATTUNE_COUNT" not in os.environ:
        return
    for label, kinds in (("  PASSED  ", ["passed"]), ("  SKIPPED ", ["skipped"]), ("  FAILED  ", ["failed", "error"])):
        count = sum(len(terminalreporter.stats.get(kind, [])) for kind in kinds)
        if count:
            terminalreporter.write_line(f"[{label}] {count} test(s).")


def pytest_sessionfinish(session):
    if _mine:
        shutil.rmtree(_folder, ignore_errors=True)


def surface(n=4000, seed=0, noise=0.002):
    """A surface without symmetry, as a cloud."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(-3, 3, (2, n))
    z = np.sin(u) * np.cos(1.3 * v) + 0.3 * np.sin(2 * u + v)
    return np.c_[u, v, z] + rng.normal(size=(n, 3)) * noise


def pose(angle=0.7, shift=(1.0, 2.0, 3.0)):
    c, s = np.cos(angle), np.sin(angle)
    t = np.eye(4)
    t[:2, :2] = [[c, -s], [s, c]]
    t[:3, 3] = shift
    return t


def moved(points, t):
    return points @ t[:3, :3].T + t[:3, 3]


@pytest.fixture
def pair():
    """(source, target, truth): target = truth @ source."""
    target = surface()
    truth = pose()
    return moved(target[::2], np.linalg.inv(truth)), target, truth


@pytest.fixture(scope="session")
def needle_folder(tmp_path_factory):
    """A needle (model.stl), its scans (scan) and truth.json, as the program makes them."""
    from attune._engines import program

    folder = tmp_path_factory.mktemp("needle")
    subprocess.run([program(), "sample", "needle", "-o", str(folder)], check=True, capture_output=True)
    return folder


def wrapped(shape=(96, 80)):
    """(phase, surface): a bowl of some turns."""
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
    steep = min(0.004, 1.2 / max(shape))  # below half a turn from pixel to pixel
    bowl = steep * ((x - 30) ** 2 + (y - 50) ** 2)
    return np.angle(np.exp(1j * bowl)), bowl


def off(found, truth):
    """How far two surfaces are apart, but for a piston."""
    d = (found - truth)[np.isfinite(found)]
    return np.abs(d - np.median(d)).max()
