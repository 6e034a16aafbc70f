"""Arrays from everywhere: NumPy's as they are, others by their protocols, tensors on a GPU where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _attune
from ._engines import Engine

if TYPE_CHECKING:
    import numpy as np

_CPU_KINDS = (1, 3, 11)  # DLPack's: host, pinned by CUDA, pinned by ROCm
_CUDA_KINDS = (2, 13)  # a CUDA device's, and managed memory
_NAMES = {
    "f2": "HP",
    "f4": "SP",
    "f8": "DP",
    "c8": "SP2",
    "c16": "DP2",
    "i4": "INT32",
    "u1": "U8",
    "u2": "U16",
    "b1": "B",
}
TYPES = {name: short for short, name in _NAMES.items()}
"""Element types of kernels, as NumPy calls them."""


def numpy() -> Any:
    """NumPy, imported when it is first needed."""
    try:
        import numpy as module
    except ImportError:
        raise _attune.Error("attune's arrays are NumPy's: pip install numpy") from None
    return module


def cuda_device(value: object) -> int | None:
    """The number of the CUDA device that an array lies on, or None for one on the host."""
    kind = getattr(value, "__dlpack_device__", None)
    if kind is not None:
        place, number = kind()
        if int(place) in _CUDA_KINDS:
            return int(number)
        if int(place) in _CPU_KINDS:
            return None
        raise TypeError(
            f"the array lies on a device of kind {int(place)} (DLPack); attune takes arrays on the host and on CUDA"
        )
    if hasattr(value, "__cuda_array_interface__"):
        device = getattr(value, "device", None)  # numba and CuPy say which
        number = getattr(device, "id", 0)
        return int(number) if isinstance(number, int) else 0
    return None


def host(value: Any, name: str) -> np.ndarray[Any, Any]:
    """A NumPy array over the same memory, or a copy of what is none."""
    np = numpy()
    if cuda_device(value) is not None:
        raise TypeError(f"{name} lies on a CUDA device; copy it to the host first, or give all arrays there")
    try:
        array = np.asarray(value)
    except Exception as error:
        raise TypeError(f"{name} is not an array: {error}") from None
    if array.dtype == object:
        raise TypeError(f"{name} is not an array of numbers")
    return array  # type: ignore[no-any-return]


def real(value: Any, name: str, dtype: str, axes: int, shape: str) -> np.ndarray[Any, Any]:
    """Real numbers in C order: copies only where type or order make it necessary."""
    np = numpy()
    array = host(value, name)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has elements of type {array.dtype}; expected real numbers")
    if array.ndim != axes:
        raise ValueError(f"{name} has the shape {array.shape}; expected {shape}")
    return np.ascontiguousarray(array, dtype=dtype)  # type: ignore[no-any-return]


def matrix(value: Any, name: str) -> np.ndarray[Any, Any]:
    """A 4 x 4 transform."""
    array = real(value, name, "f8", 2, "(4, 4)")
    if array.shape != (4, 4):
        raise ValueError(f"{name} has the shape {array.shape}; expected (4, 4)")
    return array


class DeviceArray:
    """An array in a device's memory, for whoever takes DLPack or ``__cuda_array_interface__``.

    ``torch.from_dlpack(array)`` and ``cupy.from_dlpack(array)`` share its memory; ``numpy()`` copies it to the host.
    """

    def __init__(self, engine: Engine, c: _attune.Array) -> None:
        self._engine = engine
        self._c = c
        with engine.lock:
            kind, self._shape, self._address = c.place()
            self._kind = c.dlpack_device()
        self._dtype = numpy().dtype(kind)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype  # type: ignore[no-any-return]

    @property
    def transfers(self) -> tuple[int, int]:
        """How often its elements went to the device, and to the host."""
        return self._c.transfers()

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy on the host."""
        out = numpy().empty(self._shape, self._dtype)
        with self._engine.lock:
            self._c.get(out)
        return out  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __dlpack__(self, *, stream: Any = None, **unused: Any) -> Any:
        with self._engine.lock:
            return self._c.dlpack()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind

    def __getattr__(self, name: str) -> Any:
        if name == "__cuda_array_interface__" and self._kind[0] == 2:
            return {
                "shape": self._shape,
                "typestr": self._dtype.str,
                "data": (self._address, False),
                "version": 3,
                "stream": None,
            }
        raise AttributeError(name)

    def __repr__(self) -> str:
        place = "cuda" if self._kind[0] == 2 else "host"
        return f"<attune.DeviceArray {self._shape} {self._dtype} on {place} {self._kind[1]}>"


class Foreign:
    """A tensor on a CUDA device, as it lies: type, shape, address, and what keeps it."""

    def __init__(self, engine: Engine, value: Any, name: str) -> None:
        if hasattr(value, "__dlpack__"):
            stream = _attune.stream(engine.c)  # the producer lets it wait for its own work
            capsule = value.__dlpack__(stream=stream) if stream else value.__dlpack__()
            _, _, self.kind, self.shape, strides, self.address, self.keeper = _attune.take_dlpack(capsule)
        else:
            says = value.__cuda_array_interface__
            itemsize = numpy().dtype(says["typestr"]).itemsize
            self.kind = says["typestr"][1:]
            self.shape = tuple(says["shape"])
            strides = says.get("strides")
            strides = strides and tuple(s // itemsize for s in strides)
            self.address = says["data"][0]
            self.keeper = value
            if says.get("stream") is not None:
                _attune.follow(engine.c, int(says["stream"]))
        self.pitch = _pitch(self.shape, strides, name)

    def array(self, engine: Engine) -> _attune.Array:
        return _attune.Array(engine.c, self.kind, self.shape, self.address, self.keeper, self.pitch)


def _pitch(shape: tuple[int, ...], strides: tuple[int, ...] | None, name: str) -> int:
    """Elements from row to row; rows may have gaps, elements of a row not.

    >>> _pitch((3, 4), (6, 1), "x"), _pitch((3, 4), None, "x")
    (6, 4)
    """
    columns = shape[-1]
    if strides is None:
        return columns
    pitch = strides[-2] if len(shape) > 1 and shape[-2] > 1 else columns
    wanted = [1, pitch] + ([pitch * shape[-2]] if len(shape) > 2 else [])
    given = list(strides)[::-1]
    for axis, (have, want) in enumerate(zip(given, wanted)):
        if shape[len(shape) - 1 - axis] > 1 and have != want:
            raise ValueError(f"{name} is transposed or strided on its device; make it contiguous there")
    return pitch
