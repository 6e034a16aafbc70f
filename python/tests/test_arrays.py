"""Arrays by their protocols; on the host what PyTorch and CuPy do on a GPU (test_cuda.py)."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import attune
from attune import _arrays, _attune
from attune._engines import Engine


@pytest.fixture
def engine():
    return Engine("host")


def test_an_array_over_memory_of_others_is_not_copied(engine):
    mine = np.arange(12, dtype="f4").reshape(3, 4)
    array = _attune.Array(engine.c, "f4", (3, 4), mine.ctypes.data, mine)
    kind, shape, address = array.place()
    assert (kind, shape, address) == ("f4", (3, 4), mine.ctypes.data) and array.transfers() == (0, 0)
    array.put(np.ones((3, 4), "f4"))
    assert (mine == 1).all()
    out = np.empty((3, 4), "f4")
    array.get(out)
    assert (out == 1).all()


def test_dlpack_shares_memory_both_ways(engine):
    array = _attune.Array(engine.c, "f8", (2, 5))
    array.put(np.arange(10.0).reshape(2, 5))
    shared = attune.DeviceArray(engine, array)
    assert shared.__dlpack_device__() == (1, 0) and shared.shape == (2, 5) and shared.dtype == "f8"
    view = np.from_dlpack(shared)
    assert np.array_equal(view, np.arange(10.0).reshape(2, 5))
    assert np.array_equal(np.asarray(shared), view) and "host" in repr(shared)
    assert not hasattr(shared, "__cuda_array_interface__")
    del array, shared
    gc.collect()
    assert view[1, 4] == 9  # it keeps the memory
    del view
    gc.collect()
    mine = np.ones((2, 5))
    kind, number, name, shape, strides, address, keeper = _attune.take_dlpack(mine.__dlpack__())
    assert (kind, name, shape, address) == (1, "f8", (2, 5), mine.ctypes.data)
    del keeper
    gc.collect()


def test_a_capsule_that_nobody_takes_is_freed(engine):
    array = _attune.Array(engine.c, "i4", (1000,))
    for _ in range(1000):
        array.dlpack()
    with pytest.raises(ValueError):
        _attune.take_dlpack(_attune.take_dlpack(array.dlpack())[6])  # a keeper is no tensor


class FakeTensor:
    """As a tensor on a GPU that is not ours looks."""

    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, stream=None):
        raise AssertionError("nobody asked for a device of this kind")


def test_arrays_on_other_devices_are_refused():
    points = np.zeros((5, 3))
    with pytest.raises(TypeError, match="device of kind 8"):  # Metal's
        attune.register(FakeTensor(8), points, device="host")
    has_cuda = any(d.backend == "cuda" for d in attune.devices())
    if not has_cuda:
        with pytest.raises(attune.Error, match="there is no device cuda 0 here"):
            attune.register(FakeTensor(2), points, device="host")
    with pytest.raises(TypeError, match="lies on a CUDA device"):
        attune.kernel("gemm", device="host")(A=FakeTensor(2), B=points)


def test_wrong_views_are_refused(engine):
    array = _attune.Array(engine.c, "f4", (3, 4))
    with pytest.raises(ValueError):
        array.put(np.zeros((3, 8), "f4")[:, ::2])
    with pytest.raises(TypeError):
        array.put(np.zeros((3, 4)))
    with pytest.raises(ValueError):
        array.put(np.zeros((4, 3), "f4"))
    with pytest.raises(TypeError):
        _attune.Array(engine.c, "u8", (3,))
    with pytest.raises(ValueError):
        _attune.Array(engine.c, "f4", (3, 4, 5, 6))
    with pytest.raises(ValueError):
        _attune.Array(engine.c, "f4", (-3,))
    with pytest.raises(ValueError, match="transposed"):
        _arrays._pitch((3, 4), (1, 3), "x")
    other = Engine("host")
    with pytest.raises(ValueError, match="another device"):
        program = _attune.Program(other.c, b"scale", [b"USED_FLOAT=SP"], False, 0.0)
        program.bind(program.names()[0]["name"], array)


def test_sizes_of_all_ranks(engine):
    for shape in ((5,), (2, 3), (2, 3, 4)):
        for kind in ("f2", "f4", "f8", "c8", "c16", "i4", "u1", "u2", "b1"):
            array = _attune.Array(engine.c, kind, shape)
            some = np.ones(shape, kind)
            array.put(some)
            assert np.array_equal(np.from_dlpack(attune.DeviceArray(engine, array)) if kind not in ("b1",) else some, some)


FAKE = """
import ctypes, sys
ctypes.CDLL(sys.argv[1]).fake_reset()
import numpy as np, attune
from attune import _arrays, _attune
from attune._engines import Engine
from attune._register import _host_copy

assert [d.backend for d in attune.devices()].count("cuda") == 1
ours, theirs = Engine(("cuda", 0)), Engine("cuda")
points = np.arange(30.0).reshape(10, 3)
array = _attune.Array(theirs.c, "f8", points.shape)
array.put(points)
tensor = attune.DeviceArray(theirs, array)
assert tensor.__dlpack_device__() == (2, 0) and "cuda" in repr(tensor) and tensor.transfers == (1, 0)
says = tensor.__cuda_array_interface__
assert says["shape"] == (10, 3) and says["typestr"] == "<f8" and says["data"][0]


class Plain:  # without DLPack, on a stream
    __cuda_array_interface__ = dict(says, stream=_attune.stream(theirs.c))


class Rows:  # with gaps
    __cuda_array_interface__ = dict(says, shape=(10, 2), strides=(24, 8))


for value, want in ((tensor, points), (Plain(), points), (Rows(), points[:, :2])):
    assert _arrays.cuda_device(value) == 0
    there = _arrays.Foreign(ours, value, "x").array(ours)
    out = np.empty(want.shape)
    there.get(out)
    assert np.array_equal(out, want) and there.transfers() == (0, 1)
    assert there.place()[2] == says["data"][0]
    assert np.array_equal(_host_copy(value), want)
try:
    _arrays.Foreign(ours, type("T", (), {"__cuda_array_interface__": dict(says, strides=(8, 80))})(), "x")
except ValueError as error:
    print(error)
"""


def test_tensors_on_a_gpu_that_is_made_of_host_memory():
    fake = os.environ.get("ATTUNE_FAKE_CUDA", "")
    if not os.path.exists(fake):
        pytest.skip("the fake CUDA driver of the C tests is not here")
    env = dict(os.environ, ATTUNE_CUDA_LIB=fake, ATTUNE_NVRTC_LIB=fake)
    done = subprocess.run([sys.executable, "-c", FAKE, fake], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "x is transposed or strided on its device; make it contiguous there"
