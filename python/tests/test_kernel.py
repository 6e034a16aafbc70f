import numpy as np
import pytest

import attune
from conftest import needs_compiler

CONVOLVE = """
kernel convolve(A, w: matrix T) -> B: matrix T
    B[y, x] = sum(j, i) A[y + j - 1, x + i - 1] * w[j, i]  with A clamped
"""
SCALE = """
kernel scale(x: vector T, s: T = 2) -> y: vector T
    y[i] = s * x[i]
"""


def convolved(a, w):
    p, (n, m) = np.pad(a, 1, "edge"), a.shape
    return sum(w[j, i] * p[j : j + n, i : i + m] for j in range(3) for i in range(3))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
def test_a_kernel_of_ones_own(dtype):
    rng = np.random.default_rng(0)
    k = attune.kernel(CONVOLVE, device="host")
    for shape in ((40, 50), (31, 7), (40, 50)):
        a, w = rng.normal(size=shape).astype(dtype), rng.normal(size=(3, 3)).astype(dtype)
        out = k(A=a, w=w)
        assert out.dtype == dtype and np.allclose(out, convolved(a, w), atol=1e-4)
    assert k.arrays == ["A", "w", "B"] and k.outputs == ["B"] and "convolve" in k.explain()
    assert "(A, w) -> B" in repr(k)


def test_parameters_orders_and_outputs_of_ones_own(tmp_path):
    path = tmp_path / "scale.atn"
    path.write_text(SCALE)
    k = attune.kernel(path, device="host")
    x = np.arange(12.0)
    assert np.array_equal(k(x=x), 2 * x) and np.array_equal(k(x=x, s=3), 3 * x)
    assert np.array_equal(k(x=x[::3], s=3), 3 * x[::3]) and k.parameters == ["s"]
    out = np.zeros(12)
    assert k(x=x, y=out, s=5) is None and np.array_equal(out, 5 * x)
    assert k(x=np.zeros(0)).shape == (0,)
    assert np.array_equal(k(x=np.arange(4), s=2), [0, 2, 4, 6])  # whole numbers become T


def test_shipped_kernels_and_defines():
    a, b = np.random.default_rng(1).normal(size=(2, 20, 20))
    assert np.allclose(attune.kernel("gemm", device="host")(A=a, B=b), a @ b)
    single = attune.kernel("gemm", defines={"USED_FLOAT": "SP"}, device="host")
    assert single(A=a.astype("f4"), B=b.astype("f4")).dtype == "f4"


def test_programs_run_too():
    text = """
kernel twice(x: vector T) -> y: vector T
    y[i] = 2 * x[i]

program fourfold(x: vector T) -> z: vector T
    y = twice(x)
    z = twice(y)
"""
    x = np.arange(5.0)
    assert np.array_equal(attune.kernel(text, device="host")(x=x), 4 * x)


def test_other_devices():
    x = np.arange(100, dtype="f4")
    for device in attune.devices():
        assert np.array_equal(attune.kernel(SCALE, device=device)(x=x), 2 * x), device


def test_wrong_calls_are_refused():
    k = attune.kernel(SCALE, device="host")
    x = np.arange(4.0)
    read_only, fortran = np.zeros(4), np.zeros((2, 8))[:, ::2][0]
    read_only.flags.writeable = False
    for given, kind, says in [
        (dict(), TypeError, "nothing is given for 'x', a vector"),
        (dict(x=x, q=x), TypeError, "there is no 'q'; there are x, y, s"),
        (dict(x=x, s=x), TypeError, "s is a parameter"),
        (dict(x=np.zeros((2, 2))), ValueError, "it is a vector"),
        (dict(x=np.array(["a"])), TypeError, "elements of type"),
        (dict(x=x, y=read_only), ValueError, "read-only"),
        (dict(x=x, y=np.zeros(4, "f4")), ValueError, "written in place"),
        (dict(x=x, y=fortran), ValueError, "in C order"),
        (dict(x=x, y=x), ValueError, "share elements"),
        (dict(x=x, y=np.zeros(3)), ValueError, None),
    ]:
        with pytest.raises(kind, match=says):
            k(**given)
    assert np.array_equal(k(x=x), 2 * x)  # it works on after all of that
    with pytest.raises(ValueError, match="there is no kernel|expected|:"):
        attune.kernel("kernel broken(\n", device="host")
    with pytest.raises(attune.Error, match="no shipped kernel"):
        attune.kernel("nowhere.atn", device="host")
    with pytest.raises(ValueError, match="call it once before"):
        attune.kernel(SCALE, device="host").tune()
    with pytest.raises(attune.Error):
        k.tune(budget=1, strategy="guess")


@needs_compiler
def test_tuning_is_remembered():
    k = attune.kernel(CONVOLVE, device="host")
    a, w = np.ones((64, 64), "f4"), np.ones((3, 3), "f4")
    before = k(A=a, w=w)
    found = k.tune(budget=20, evaluations=3)
    assert found["best_s"] > 0 and found["tried"] >= 1 and "convolve" in repr(found)
    assert np.array_equal(k(A=a, w=w), before) and "at exactly this size" in k.explain()
    entries = attune.wisdom.list("convolve")
    assert len(entries) == 1 and entries[0].seconds > 0 and "convolve" in repr(attune.wisdom)
    assert "convolve" in attune.wisdom._repr_html_()


def test_wisdom_travels(tmp_path):
    path = tmp_path / "wisdom.json"
    count = attune.wisdom.export(path)
    assert attune.wisdom.forget() == count and attune.wisdom.list() == []
    attune.wisdom.load(path)
    assert len(attune.wisdom.list()) == count
    path.write_text("{")
    with pytest.raises(ValueError):
        attune.wisdom.load(path)
