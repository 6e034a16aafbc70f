"""Lists of devices: what several find together is what one finds alone; frames and pairs come in their order."""

import os
import warnings

import numpy as np
import pytest

import attune
from attune import _engines, _stream
from conftest import moved, off, pose, surface

# Building for OpenCL takes long.
BOTH = "host,opencl" if "ATTUNE_TEST_ALL" in os.environ and any(d.backend == "opencl" for d in attune.devices()) else "host"


def frames(count=9, shape=(40, 48)):
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
    bowls = [0.02 * k * x + 5 * np.exp(-((x - 20 - k) ** 2 + (y - 20) ** 2) / 90) for k in range(count)]
    return [np.angle(np.exp(1j * bowl)).astype("f4") for bowl in bowls], bowls


def test_what_a_list_is():
    several = _engines.Several
    assert _engines.devices_key("all") == several("all") and _engines.devices_key("cuda,host") == several("cuda,host")
    assert _engines.devices_key(["cuda", 0]) == several("cuda,0")
    with pytest.raises(attune.InputError, match="comma-separated"):
        attune.register_batch([(surface(50), surface(50))], device="host,")


def test_a_stream_on_several_devices_is_that_of_one():
    wrapped, bowls = frames()
    one = list(attune.unwrap_stream(wrapped, device="host"))
    both = list(attune.unwrap_stream(iter(wrapped), device=BOTH, full_output=True))
    assert len(one) == len(both) == len(bowls)
    for alone, (together, result), bowl in zip(one, both, bowls):
        assert off(alone, bowl) < 1e-3 and np.allclose(alone, together, atol=1e-4) and result.converged
    assert list(attune.unwrap_stream([], device="host")) == []


def test_a_device_that_is_lost_leaves_its_frames_to_the_others(monkeypatch):
    wrapped, bowls = frames()
    solved = {"0": 0, "1": 0}

    class Failing(attune.Unwrapper):
        def __init__(self, shape, *, device, **options):
            super().__init__(shape, device="host", **options)
            self.number = device

        def __call__(self, frame, **settings):
            if self.number in lost and solved[self.number] >= 2:
                error = attune.Error("unplugged")
                error.status = "lost"
                raise error
            solved[self.number] += 1
            return super().__call__(frame, **settings)

    monkeypatch.setattr(_stream, "Unwrapper", Failing)
    infos = [dict(index=k, cpu=True, unified=True) for k in range(2)]
    monkeypatch.setattr(_stream._attune, "infos", lambda engine: infos)
    lost = ("1",)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(attune.unwrap_stream(wrapped, device="host"))
    assert len(found) == len(bowls) and all(off(f, bowl) < 1e-3 for f, bowl in zip(found, bowls))
    assert solved["0"] >= len(bowls) - 2 >= solved["1"]
    lost, solved = ("0", "1"), {"0": 0, "1": 0}
    some = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(attune.Error, match="unplugged|no device is left"):
            some.extend(attune.unwrap_stream(wrapped, device="host"))
    infos[0] = dict(index=0, cpu=False, unified=False)  # a GPU: the host takes over where it has failed
    lost, solved = ("0",), {"0": 0, "1": 0}
    with pytest.warns(RuntimeWarning, match="unplugged; the other devices continue"):
        assert len(list(attune.unwrap_stream(wrapped, device="host"))) == len(bowls)
    assert solved == {"0": 2, "1": len(bowls) - 2}


def test_a_stream_is_asked_for_frames_one_by_one_and_may_be_left():
    wrapped, _ = frames()
    asked = []

    def camera():
        for k, frame in enumerate(wrapped):
            asked.append(k)
            yield frame

    found = attune.unwrap_stream(camera(), device="host")
    next(found)
    assert asked == [0]
    found.close()
    with pytest.raises(ValueError, match="frame 1 has the shape"):
        list(attune.unwrap_stream([wrapped[0], wrapped[0][1:]], device="host"))
    with pytest.raises(ZeroDivisionError):
        list(attune.unwrap_stream((1 / 0 for _ in range(2)), device="host"))
    with pytest.raises(TypeError):
        list(attune.unwrap_stream(wrapped, device="host", colour="red"))


def test_a_batch_on_several_devices_is_that_of_one(tmp_path):
    target = surface(1500)
    truths = [pose(0.02 * k, (0.01 * k, 0, 0)) for k in range(5)]
    pairs = [(moved(target[::2], np.linalg.inv(t)), target) for t in truths]
    pairs[2] += (truths[2],)
    pairs.append((target[:0], target))
    pairs.append((tmp_path / "nothing.ply", target))
    told = []
    for device in ("host", BOTH):
        found = attune.register_batch(
            pairs, init="identity", device=device, no_covariance=True, progress=lambda step: told.append(step["done"])
        )
        assert len(found) == len(pairs)
        for result, truth in zip(found, truths):
            assert result.trusted and np.allclose(result.transform, truth, atol=2e-3)
        assert isinstance(found[5], attune.InputError) and found[5].status == "input"
        assert isinstance(found[6], attune.Error) and "nothing.ply" in str(found[6])
    assert told == 2 * list(range(1, 7))


def test_a_batch_can_be_stopped_and_refuses_what_is_none():
    target = surface(400)
    pairs = [(target, target)] * 4
    with pytest.raises(attune.Error) as raised:
        attune.register_batch(pairs, device="host", init="identity", progress=lambda step: False)
    assert raised.value.status == "cancelled"
    with pytest.raises(ZeroDivisionError):
        attune.register_batch(pairs, device="host", init="identity", progress=lambda step: 1 / 0)
    assert len(attune.register_batch(pairs, device="host", init="identity")) == 4
    assert attune.register_batch([], device="host") == []
    with pytest.raises(TypeError, match="expected \\(source, target\\)"):
        attune.register_batch([target], device="host")
    with pytest.raises((TypeError, ValueError)):
        attune.register_batch(pairs, device="host", colour="red")


def test_tuning_refuses_a_device_twice():
    k = attune.kernel("kernel scale(x: vector T) -> y: vector T\n    y[i] = 2 * x[i]\n", device="host")
    with pytest.raises(attune.Error, match="twice"):
        k.tune(budget=1, beside=["host"], x=(64,))
