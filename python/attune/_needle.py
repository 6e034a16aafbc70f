"""A needle's pose in scans of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _arrays, _attune
from ._clouds import Cloud, cloud_input, table_html
from ._engines import borrow, device_key
from ._progress import Progress, watched

if TYPE_CHECKING:
    import numpy as np

    from ._clouds import Points

_VOLUMES = (".tif", ".tiff")


class NeedlePose:
    """Where a model lies in a scan."""

    found: bool
    reason: str
    """why it was not found, or what to be careful about; "" for nothing"""
    transform: np.ndarray[Any, Any]
    """(4, 4): scan = transform @ model"""
    covariance: np.ndarray[Any, Any] | None
    """(6, 6) of the rotation vector (radians), then the translation; None where there is none"""
    tip: np.ndarray[Any, Any]
    """where the model's tip is in the scan"""
    roll_deg: float
    shift: float
    roll_observable: bool
    matches: int
    runner_up: int
    scan_points: int
    model_points: int
    at_end: bool
    rmse: float
    free_share: float
    level: int
    surface: int
    centres: int
    seconds: float
    segment_seconds: float
    axis_seconds: float
    match_seconds: float

    def __init__(self, raw: dict[str, Any]) -> None:
        np = _arrays.numpy()
        covariance = np.array(raw.pop("covariance")).reshape(6, 6)
        raw["covariance"] = covariance if raw.pop("has_covariance") else None
        raw["transform"] = np.array(raw["transform"]).reshape(4, 4)
        raw["tip"] = np.array(raw["tip"])
        self.__dict__.update(raw)

    def __repr__(self) -> str:
        state = "found" if self.found else "not found"
        text = f"<attune.NeedlePose {state}{': ' + self.reason if self.reason else ''}, tip {self.tip}"
        return f"{text}, roll {self.roll_deg:.4g} degrees>"

    def _repr_html_(self) -> str:
        rows = [
            ["found", f"{self.found} {self.reason}"],
            ["tip", str(self.tip)],
            ["roll", f"{self.roll_deg:.6g} degrees"],
            ["transform", str(self.transform)],
        ]
        return table_html(rows, ["what", "value"])


def _scan(volume: Any, shape: tuple[int, int, int] | None) -> tuple[Any, ...]:
    if isinstance(volume, (str, os.PathLike)):
        if shape is not None or os.path.isdir(volume) or os.fspath(volume).lower().endswith(_VOLUMES):
            return ("file", os.fsencode(volume), None if shape is None else tuple(int(n) for n in shape))
        return ("cloud", os.fsencode(volume))
    if isinstance(volume, Cloud) or (hasattr(volume, "points") and not hasattr(volume, "__array_interface__")):
        return ("cloud", cloud_input(volume, "volume"))
    array = _arrays.host(volume, "volume")
    if array.ndim == 2:
        return ("cloud", cloud_input(array, "volume"))
    if array.ndim != 3:
        raise ValueError(f"volume has the shape {array.shape}; expected (scans, rows, columns), or (n, 3) points")
    if array.dtype not in ("u1", "u2"):
        raise TypeError(f"volume has elements of type {array.dtype}; expected uint8 or uint16")
    return ("volume", _arrays.numpy().ascontiguousarray(array))


def needle(
    model: Points,
    volume: Any,
    *,
    spacing: Sequence[float] | None = None,
    init: Any = None,
    shape: tuple[int, int, int] | None = None,
    device: Any = None,
    progress: Progress = None,
    threshold: float | None = None,
    edge: float | None = None,
    brute: bool | None = None,
    count: str | None = None,
    axis: Sequence[float] | None = None,
    roll_deg: Sequence[float] | None = None,
    shift: Sequence[float] | None = None,
    rounds: int | None = None,
    marginal: bool | None = None,
    track: bool | None = None,
    no_refine: bool | None = None,
    least: float | None = None,
    most_combinations: int | None = None,
    level: float | None = None,
    least_pixels: int | None = None,
    least_columns: int | None = None,
) -> NeedlePose:
    """The pose of a needle in a volume of B-scans, or in a cloud of its surface.

    model: a mesh (path), or points as attune.register takes them, z along the needle. volume: (scans, rows, columns) of
    uint8 or uint16, the path of a folder of images, of a TIFF or of raw pixels (with ``shape``), or points. spacing:
    between columns, rows and scans, in the model's unit. init: a (4, 4) matrix to start from, as the last frame's pose.
    roll_deg and shift are (low, high, step). progress: True for a line on standard error, or a function that gets a
    dictionary (doing, done, count); one that returns False stops the work. The others are fields of atn_needle_settings, atn_needle_match_settings and
    atn_needle_view.
    """
    options = {"threshold": threshold, "edge": edge, "brute": brute, "count": count}
    settings: dict[str, Any] = {
        "axis": axis,
        "roll_deg": roll_deg,
        "shift": shift,
        "rounds": rounds,
        "marginal": marginal,
        "track": track,
        "no_refine": no_refine,
        "least": least,
        "most_combinations": most_combinations,
    }
    view = {"level": level, "spacing": spacing, "least_pixels": least_pixels, "least_columns": least_columns}
    if init is not None:
        settings["has_start"] = True
        settings["start"] = [float(v) for v in _arrays.matrix(init, "init").ravel()]
    scan = _scan(volume, shape)
    given = cloud_input(model, "model")
    with borrow(device_key(device)) as engine, watched(engine, progress, "needle"):
        raw = _attune.needle(
            engine.c, given, scan, *({k: v for k, v in d.items() if v is not None} for d in (options, settings, view))
        )
    return NeedlePose(raw)
