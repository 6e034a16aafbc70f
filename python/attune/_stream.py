"""Frames of a stream on several devices."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from . import _arrays, _attune
from ._engines import borrow, devices_key
from ._unwrap import _OPTIONS, Unwrapped, Unwrapper

_OWN = ("lost", "unsupported")  # failures of a device, which leaves its frames to the others


class _Lane:
    """A device with its solver, which is made for its first frame."""

    def __init__(self, name: str, reserve: bool) -> None:
        self.name, self.reserve = name, reserve
        self.solver: Unwrapper | None = None


class _Lanes:
    """All devices. Whoever has a frame takes one that is free; a host next to a GPU is kept in reserve."""

    def __init__(self, device: Any) -> None:
        with borrow(devices_key(device)) as engine:
            infos = _attune.infos(engine.c)
        gpu = any(not info["cpu"] for info in infos)
        self._changed = threading.Condition()
        self._free = [_Lane(str(info["index"]), gpu and info["cpu"] and info["unified"]) for info in infos]
        self._able = list(self._free)
        self.count = sum(not lane.reserve for lane in self._free)

    def take(self) -> _Lane:
        with self._changed:
            while True:
                if not self._able:
                    raise _attune.Error("unwrap: no device is left for this frame")
                regular = any(not lane.reserve for lane in self._able)
                for lane in self._free:
                    if not (lane.reserve and regular):
                        self._free.remove(lane)
                        return lane
                self._changed.wait()

    def give_back(self, lane: _Lane, lost: bool) -> bool:
        """False: it was the last one."""
        with self._changed:
            (self._able.remove if lost else self._free.append)(lane)
            self._changed.notify_all()
            return bool(self._able)

    def close(self) -> None:
        for lane in self._able:
            if lane.solver is not None:
                lane.solver.close()


def _solve(
    lanes: _Lanes, frame: Any, options: dict[str, Any], settings: dict[str, Any]
) -> tuple[Any, Unwrapped | None]:
    while True:
        lane = lanes.take()
        lost: _attune.Error | None = None
        others = True
        try:
            if lane.solver is None:
                lane.solver = Unwrapper(frame.shape, device=lane.name, **options)
            return lane.solver(frame, **settings), lane.solver.result
        except _attune.Error as error:
            if getattr(error, "status", "") not in _OWN:
                raise
            lost = error
        finally:
            others = lanes.give_back(lane, lost is not None)
        if not others:
            raise lost
        warnings.warn(f"unwrap: {lost}; the other devices continue", RuntimeWarning, stacklevel=2)


def unwrap_stream(
    frames: Iterable[Any],
    *,
    device: Any = None,
    wavelength: float | None = None,
    transmission: bool = False,
    full_output: bool = False,
    **settings: Any,
) -> Iterator[Any]:
    """The surfaces of frames of one shape, one after the other, in their order.

    frames: any iterable of (rows, columns); as many as there are devices are under way at the same time, the next one is
    asked for when a device is free. device: a device, or a list of them ("all", "cuda,host", ["cuda", 0]): whichever is
    free takes the next frame, and the frame of a device that is lost goes to the others, with a warning; next to a GPU
    the host only takes over where all others have failed. full_output: yields (surface, Unwrapped). The other settings
    are those of attune.Unwrapper and of its frames; ``warm=True`` starts from the last frame of the same device.

        >>> import numpy
        >>> ramps = (numpy.linspace(0, k, 80) + numpy.zeros((96, 1)) for k in (10, 20, 30))
        >>> found = unwrap_stream((numpy.angle(numpy.exp(1j * ramp)) for ramp in ramps), device="host")
        >>> [round(float(surface[0, -1] - surface[0, 0])) for surface in found]
        [10, 20, 30]
    """
    options: dict[str, Any] = {name: settings.pop(name) for name in _OPTIONS if name in settings}
    options.update(wavelength=wavelength, transmission=transmission)
    lanes = _Lanes(device)
    pool = ThreadPoolExecutor(lanes.count)
    waiting: deque[Future[tuple[Any, Unwrapped | None]]] = deque()

    def first() -> Any:
        surface, result = waiting.popleft().result()
        return (surface, result) if full_output else surface

    try:
        shape = None
        for number, given in enumerate(frames):
            if _arrays.cuda_device(given) is not None:
                raise TypeError("unwrap_stream takes frames of the host; attune.Unwrapper takes those of a device")
            frame = _arrays.host(given, f"frame {number}")
            if shape is None:
                shape = frame.shape
                options.setdefault("bits", 64 if frame.dtype == "f8" else 32)
            if frame.ndim != 2 or frame.shape != shape:
                raise ValueError(f"frame {number} has the shape {frame.shape}, where frames have {shape}")
            waiting.append(pool.submit(_solve, lanes, frame, options, settings))
            while waiting and (len(waiting) >= lanes.count or waiting[0].done()):
                yield first()
        while waiting:
            yield first()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        lanes.close()
