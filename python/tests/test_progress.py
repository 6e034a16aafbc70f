"""Where long calls are: a line, a function, and how that one stops them."""

import numpy as np
import pytest

import attune
from conftest import needs_compiler, off, wrapped

FCC = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])


def crystal(n=5):
    cells = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    return 4.05 * (cells + FCC).reshape(-1, 3) + np.random.default_rng(0).normal(size=(4 * n**3, 3)) * 0.05


def noisy_phase():
    _, bowl = wrapped()
    return np.angle(np.exp(1j * (bowl + np.random.default_rng(0).normal(size=bowl.shape) * 0.8)))


CALLS = {
    "unwrap": lambda data, **more: attune.unwrap(noisy_phase(), device="host", **more),
    "lattice": lambda data, **more: attune.lattice(crystal(), models={"fcc": 4.05}, device="host", **more),
    "needle": lambda data, **more: attune.needle(data / "model.stl", data / "scan", device="host", **more),
}


def fail(step):
    raise KeyError("mine")


@pytest.mark.parametrize("name", CALLS)
def test_progress_is_called_and_may_stop_it(name, needle_folder):
    call, steps = CALLS[name], []
    call(needle_folder, progress=steps.append)
    assert len(steps) > 1 and all(set(s) == {"doing", "done", "count"} for s in steps)
    assert all(0 <= s["done"] <= s["count"] or not s["count"] for s in steps)
    with pytest.raises(attune.Error) as raised:
        call(needle_folder, progress=lambda step: False)
    assert raised.value.status == "cancelled"
    with pytest.raises(KeyError, match="mine"):
        call(needle_folder, progress=fail)
    with pytest.raises(TypeError, match=f"{name}: progress takes"):
        call(needle_folder, progress=3)


def test_a_line_on_standard_error(capfd):
    steps = []
    CALLS["unwrap"](None, progress=steps.append)
    before = len(steps)
    CALLS["unwrap"](None, progress=True)
    assert steps[0]["doing"] in capfd.readouterr().err and len(steps) == before, "the last one is not called any more"


def test_an_unwrapper_goes_on_after_a_stop():
    phase, bowl = wrapped()
    with attune.Unwrapper(phase.shape, device="host", bits=64) as unwrapper:
        with pytest.raises(attune.Error):
            unwrapper(phase, progress=lambda step: False)
        assert off(unwrapper(phase), bowl) < 1e-6


@needs_compiler
def test_tuning_says_where_it_is(capfd):
    k = attune.kernel("transpose", device="host")
    steps = []
    found = k.tune(budget=20, evaluations=3, A=(125, 64), progress=steps.append)
    assert found["tried"] >= 1 and steps[-1]["done"] >= 1 and steps[-1]["best_s"] > 0
    with pytest.raises(attune.Error) as raised:
        k.tune(budget=60, A=(150, 64), progress=lambda step: step["done"] < 2)
    assert raised.value.status == "cancelled"
    with pytest.raises(KeyError, match="mine"):
        k.tune(budget=60, A=(175, 64), progress=fail)
    k.tune(budget=20, evaluations=2, A=(125, 64), progress=True)
    assert "tried" in capfd.readouterr().err
