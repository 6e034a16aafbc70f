"""Phase unwrapping."""

from __future__ import annotations

import math
import os
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _arrays, _attune
from ._arrays import DeviceArray, Foreign
from ._engines import Engine, Key, device_key
from ._progress import Progress, watched

if TYPE_CHECKING:
    import numpy as np

_OPTIONS = ("bits", "method", "cycle", "smoother", "before", "after", "coarsest", "no_fuse")


@dataclass(frozen=True)
class Unwrapped:
    """What became of a frame, beside its surface."""

    converged: bool
    reason: str
    """why it did not, or what to be careful about; "" for nothing"""
    valid: int
    """pixels that are neither masked nor NaN nor infinite"""
    residues: int
    islands: int
    cut_length: int
    shortest: bool
    smeared: bool
    residual: float
    residual_rms: float
    congruence_max: float
    weighted: bool
    cycles: int
    solutions: int
    seconds: float
    setup_seconds: float
    solve_seconds: float
    finish_seconds: float


def _image(value: Any, name: str, dtype: str, shape: tuple[int, int]) -> np.ndarray[Any, Any]:
    array = _arrays.real(value, name, dtype, 2, str(shape))
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, where frames have {shape}")
    return array


class Unwrapper:
    """A solver for frames of one shape, made once: for live frames.

    shape: (rows, columns). bits: 32 or 64, of phase and answer. wavelength: of the light in metres; then answers are
    heights in metres, phase x wavelength / 4 pi (2 pi with ``transmission``). The other options are those of
    atn_unwrap_settings. May be called by several threads, one after the other.

        >>> import numpy
        >>> y, x = numpy.mgrid[0:96, 0:80]
        >>> surface = 0.004 * ((x - 40) ** 2 + (y - 50) ** 2)
        >>> with Unwrapper(shape=(96, 80), device="host") as unwrapper:
        ...     found = unwrapper(numpy.angle(numpy.exp(1j * surface)), remove="piston")
        >>> bool(abs(found - (surface - surface.mean())).max() < 1e-2)
        True
    """

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        device: Any = None,
        wavelength: float | None = None,
        transmission: bool = False,
        bits: int | None = None,
        method: str | None = None,
        cycle: str | None = None,
        smoother: str | None = None,
        before: int | None = None,
        after: int | None = None,
        coarsest: int | None = None,
        no_fuse: bool | None = None,
    ) -> None:
        given = dict(zip(_OPTIONS, (bits, method, cycle, smoother, before, after, coarsest, no_fuse)))
        self._open(
            shape, device_key(device), wavelength, transmission, {k: v for k, v in given.items() if v is not None}
        )

    def _open(
        self, shape: Any, key: Key, wavelength: float | None, transmission: bool, options: dict[str, Any]
    ) -> None:
        try:
            rows, columns = (int(n) for n in shape)
        except (TypeError, ValueError):
            raise TypeError("unwrap: shape takes (rows, columns)") from None
        if wavelength is not None and not 0 < float(wavelength) < 1:
            raise ValueError(f"unwrap: wavelength cannot be {wavelength}; it is in metres, as 632.8e-9")
        self.shape = (rows, columns)
        self.result: Unwrapped | None = None
        """of the last frame"""
        self._scale = float(wavelength) / ((2 if transmission else 4) * math.pi) if wavelength else 1.0
        self._dtype = "f8" if options.get("bits") == 64 else "f4"
        self._lock = threading.Lock()
        self._engine: Engine | None = Engine(key)
        self._solver: _attune.Unwrapper | None = _attune.Unwrapper(self._engine.c, columns, rows, options)

    def close(self) -> None:
        """Gives memory and device back; any call after that fails."""
        with self._lock:
            self._solver = None
            self._engine = None

    def __enter__(self) -> Unwrapper:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def explain(self) -> str:
        """Grids, knobs, and where they are from."""
        with self._lock:
            return self._parts()[1].explain()

    def _parts(self) -> tuple[Engine, _attune.Unwrapper]:
        if self._engine is None or self._solver is None:
            raise _attune.InputError("the unwrapper is closed")
        return self._engine, self._solver

    def _host(self, phase: Any, mask: Any, quality: Any, out: Any, settings: dict[str, Any]) -> Any:
        np = _arrays.numpy()
        engine, solver = self._parts()
        frame = _image(phase, "phase", self._dtype, self.shape)
        if mask is not None:
            mask = _arrays.host(mask, "mask")
            mask = _image(mask if mask.dtype.kind in "bu" else mask != 0, "mask", "u1", self.shape)
        if quality is not None:
            quality = _image(quality, "quality", "f4", self.shape)
        answer = np.empty(self.shape, self._dtype) if out is None else self._check_out(out)
        target = answer if answer.flags.c_contiguous else np.empty(self.shape, self._dtype)
        raw = solver.solve(frame, target, mask, quality, settings)
        if self._scale != 1:
            target *= np.asarray(self._scale, self._dtype)
        if target is not answer:
            answer[...] = target
        self.result = Unwrapped(**raw)
        return answer

    def _check_out(self, out: Any) -> Any:
        if not hasattr(out, "__array_interface__"):
            raise TypeError("out takes a NumPy array")
        if out.shape != self.shape or out.dtype != self._dtype:
            raise ValueError(
                f"out is {out.shape} of {out.dtype}, where answers are {self.shape} of "
                f"{_arrays.numpy().dtype(self._dtype)}"
            )
        if not out.flags.writeable:
            raise ValueError("out is read-only")
        return out

    def _device(self, phase: Any, mask: Any, quality: Any, out: Any, settings: dict[str, Any]) -> Any:
        engine, solver = self._parts()
        if self._scale != 1:
            raise ValueError("unwrap: heights of frames on a device are the caller's: phase x wavelength / 4 pi")
        arrays = []
        for value, name, kind in (
            (phase, "phase", self._dtype),
            (out, "out", self._dtype),
            (mask, "mask", "u1"),
            (quality, "quality", self._dtype),
        ):
            if value is None:
                arrays.append(_attune.Array(engine.c, kind, self.shape) if name == "out" else None)
                continue
            if _arrays.cuda_device(value) != engine.info["ordinal"] or engine.info["backend"] != "cuda":
                raise TypeError(f"{name} does not lie on {engine.info['name']}, where frames are unwrapped")
            tensor = Foreign(engine, value, name)
            if tensor.kind not in (kind, "b1" if kind == "u1" else kind) or tensor.shape != self.shape:
                raise ValueError(f"{name} is {tensor.shape} of {tensor.kind}, expected {self.shape} of {kind}")
            tensor.kind = kind
            arrays.append(tensor.array(engine))
        raw = solver.solve_arrays(arrays[0], arrays[1], arrays[2], arrays[3], settings)
        self.result = Unwrapped(**raw)
        return DeviceArray(engine, arrays[1]) if out is None else out  # type: ignore[arg-type]

    def __call__(
        self,
        phase: Any,
        *,
        mask: Any = None,
        quality: Any = None,
        out: Any = None,
        progress: Progress = None,
        weights: str | None = None,
        remove: str | None = None,
        congruent: bool | None = None,
        unwrapped: bool | None = None,
        warm: bool | None = None,
        tolerance: float | None = None,
        most_cycles: int | None = None,
    ) -> Any:
        """The surface of a frame; ``result`` says more of it. NaN where it is masked or not finite.

        phase, mask, quality: arrays of the shape; a mask is 0 where a pixel is not valid, quality a weight >= 0. Frames
        on a CUDA device (PyTorch, CuPy) are read where they lie, and the answer is a DeviceArray there. out: an array
        for the answer. progress: True for a line on standard error, or a function that gets a dictionary (doing, done,
        count); one that returns False stops the work. The other settings are those of atn_unwrap_solve_settings.
        """
        given = {
            "weights": weights,
            "remove": remove,
            "congruent": congruent,
            "unwrapped": unwrapped,
            "warm": warm,
            "tolerance": tolerance,
            "most_cycles": most_cycles,
        }
        settings = {name: value for name, value in given.items() if value is not None}
        on_device = _arrays.cuda_device(phase) is not None
        with self._lock:
            engine = self._parts()[0]
            try:
                with engine.lock, watched(engine, progress, "unwrap"):
                    return (self._device if on_device else self._host)(phase, mask, quality, out, settings)
            except BaseException as error:
                engine.revive(error)
                raise


_kept: dict[Any, Unwrapper] = {}
_kept_lock = threading.Lock()
_MOST_KEPT = 4


def _forget() -> None:
    global _kept_lock
    _kept_lock = threading.Lock()
    _kept.clear()


os.register_at_fork(after_in_child=_forget)


def unwrap(
    phase: Any,
    *,
    mask: Any = None,
    quality: Any = None,
    wavelength: float | None = None,
    transmission: bool = False,
    device: Any = None,
    out: Any = None,
    full_output: bool = False,
    progress: Progress = None,
    weights: str | None = None,
    remove: str | None = None,
    congruent: bool | None = None,
    unwrapped: bool | None = None,
    tolerance: float | None = None,
    most_cycles: int | None = None,
    bits: int | None = None,
    method: str | None = None,
    cycle: str | None = None,
    smoother: str | None = None,
    before: int | None = None,
    after: int | None = None,
    coarsest: int | None = None,
    no_fuse: bool | None = None,
) -> Any:
    """The surface behind a wrapped phase (radians), or its heights in metres where a wavelength is given.

    phase: (rows, columns); float64 is unwrapped in double precision, other types in single. mask: 0 where a pixel is
    not valid; pixels that are NaN or infinite are holes, too. quality: a weight for each pixel. full_output: returns
    (surface, Unwrapped). Solvers of the last shapes are kept. attune.Unwrapper says what the others mean.

        >>> import numpy
        >>> ramp = numpy.linspace(0, 20, 80) + numpy.zeros((96, 1))
        >>> surface = unwrap(numpy.angle(numpy.exp(1j * ramp)), device="host")
        >>> round(float(surface[0, -1] - surface[0, 0]), 3)
        20.0
    """
    number = _arrays.cuda_device(phase)
    key: Key | tuple[str, int] = device_key(device)
    if number is None:
        frame = _arrays.host(phase, "phase")
        shape, double = frame.shape, frame.dtype == "f8"
    else:
        frame, shape, key = phase, tuple(phase.shape), ("cuda", number)
        double = "64" in str(phase.dtype)
    if len(shape) != 2:
        raise ValueError(f"phase has the shape {shape}; expected (rows, columns)")
    given = dict(
        zip(_OPTIONS, (bits or (64 if double else 32), method, cycle, smoother, before, after, coarsest, no_fuse))
    )
    options = {k: v for k, v in given.items() if v is not None}
    name = (shape, key, wavelength, transmission, tuple(sorted(options.items(), key=lambda pair: pair[0])))
    with _kept_lock:
        solver = _kept.pop(name, None)
    if solver is None:
        solver = Unwrapper.__new__(Unwrapper)
        solver._open(shape, key, wavelength, transmission, options)
    answer = solver(
        frame,
        mask=mask,
        quality=quality,
        out=out,
        progress=progress,
        weights=weights,
        remove=remove,
        congruent=congruent,
        unwrapped=unwrapped,
        tolerance=tolerance,
        most_cycles=most_cycles,
    )
    result = solver.result
    with _kept_lock:
        _kept[name] = solver
        while len(_kept) > _MOST_KEPT:
            _kept.pop(next(iter(_kept)))
    return (answer, result) if full_output else answer
