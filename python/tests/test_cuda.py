"""Tensors on a CUDA device, used where they lie. Needs a CUDA device and PyTorch; skipped aloud elsewhere."""

import numpy as np
import pytest

import attune
from conftest import moved, off, pose, surface, wrapped

if not any(device.backend == "cuda" for device in attune.devices()):
    pytest.skip("there is no CUDA device here", allow_module_level=True)
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("PyTorch has no CUDA here", allow_module_level=True)


def test_a_tensor_is_unwrapped_where_it_lies():
    phase, bowl = wrapped((512, 512))
    mask = np.ones(phase.shape, bool)
    mask[10:20, 30:50] = False
    for dtype in (torch.float32, torch.float64):
        frame = torch.tensor(phase, dtype=dtype, device="cuda")
        surface, result = attune.unwrap(frame, mask=torch.tensor(mask, device="cuda"), full_output=True)
        assert surface.transfers == (0, 0), "it went to the host"
        assert result.converged and surface.__dlpack_device__()[0] == 2
        tensor = torch.from_dlpack(surface)
        assert tensor.data_ptr() == surface.__cuda_array_interface__["data"][0] and tensor.dtype == dtype
        assert off(tensor.cpu().numpy(), bowl) < (1e-2 if dtype == torch.float32 else 1e-6)
        assert torch.equal(frame.cpu(), torch.tensor(phase, dtype=dtype)), "the phase is only read"


def test_an_answer_goes_into_the_callers_tensor():
    phase, bowl = wrapped((256, 384))
    frame = torch.tensor(phase, dtype=torch.float32, device="cuda")
    out = torch.empty_like(frame)
    with attune.Unwrapper(shape=phase.shape, device="cuda") as unwrapper:
        for _ in range(3):
            assert unwrapper(frame, out=out, warm=True) is out
    assert off(out.cpu().numpy(), bowl) < 1e-2


def test_work_of_the_callers_stream_is_waited_for():
    phase, bowl = wrapped((1024, 1024))
    frame = torch.zeros(phase.shape, device="cuda")
    right = torch.tensor(phase, dtype=torch.float32, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy = torch.randn(4096, 4096, device="cuda")
        for _ in range(20):
            busy = busy @ busy / 64
        frame.copy_(right)  # far behind
        found = attune.unwrap(frame)
    assert off(found.numpy(), bowl) < 1e-2


def test_kernels_run_on_tensors():
    k = attune.kernel("gemm", device="cuda")
    a, b = torch.randn(2, 96, 96, device="cuda")
    out = k(A=a, B=b)
    assert out.transfers == (0, 0)
    assert torch.allclose(torch.from_dlpack(out), a @ b, atol=1e-2)
    with pytest.raises(TypeError, match="elements of type|copy it to the host"):
        k(A=a, B=np.zeros((96, 96), "f8"))


def test_a_tensor_is_registered():
    target = surface(4000)
    truth = pose()
    source = torch.tensor(moved(target[::2], np.linalg.inv(truth)), device="cuda")
    result = attune.register(source, torch.tensor(target, device="cuda"), device="cuda")
    assert result.trusted and np.allclose(result.transform, truth, atol=1e-3)


def test_many_points_are_registered_where_they_lie(monkeypatch):
    from attune import _register

    used = []
    there = _register._arrays_there
    monkeypatch.setattr(_register, "_arrays_there", lambda *given: used.append(there(*given)) or used[-1])
    target = surface(80000)  # from 32,768 points of the smaller cloud on
    truth = pose()
    for dtype in (torch.float32, torch.float64):
        clouds = [torch.tensor(c, dtype=dtype, device="cuda") for c in (moved(target[::2], np.linalg.inv(truth)), target)]
        result = attune.register(*clouds, device="cuda")
        assert result.trusted and np.allclose(result.transform, truth, atol=1e-3)
        assert [array.transfers() for array in used[-1]] == [(0, 0), (0, 0)], "they went to the host"
        assert "iframe" in result._repr_html_()


def test_points_that_are_no_numbers_are_refused_where_they_lie():
    points = torch.zeros(40000, 3, device="cuda")
    points[123, 1] = float("nan")
    with pytest.raises(attune.InputError, match="1 points of the target have a coordinate that is not finite"):
        attune.register(torch.rand(40000, 3, device="cuda"), points, device="cuda")


def test_transposed_tensors_are_refused_and_rows_may_have_gaps():
    phase, bowl = wrapped((256, 256))
    frame = torch.tensor(phase, dtype=torch.float32, device="cuda")
    with pytest.raises(ValueError, match="transposed"):
        attune.unwrap(frame.T)
    wide = torch.zeros(256, 300, device="cuda")
    wide[:, :256] = frame
    assert off(attune.unwrap(wide[:, :256]).numpy(), bowl) < 1e-2


def test_cupy_and_numba_by_their_interface():
    phase, bowl = wrapped((256, 256))
    frame = torch.tensor(phase, dtype=torch.float32, device="cuda")

    class Interface:  # what has no DLPack
        shape, dtype = tuple(frame.shape), "float32"
        __cuda_array_interface__ = frame.__cuda_array_interface__

    assert off(attune.unwrap(Interface()).numpy(), bowl) < 1e-2


def test_host_and_device_are_not_mixed():
    phase, _ = wrapped((64, 64))
    frame = torch.tensor(phase, dtype=torch.float32, device="cuda")
    with pytest.raises(TypeError, match="does not lie on"):
        attune.unwrap(frame, mask=np.ones((64, 64), bool))
