"""Many scans into one frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping

from . import _arrays, _attune
from ._clouds import cloud_input, view_html
from ._engines import borrow, device_key
from ._progress import Progress, told

if TYPE_CHECKING:
    import numpy as np

    from ._clouds import CloudInput, Points

_MOST_SHOWN = 8


class Poses:
    """Where scans lie in one frame, that of the scan `anchor`."""

    transforms: np.ndarray[Any, Any]
    """(n, 4, 4): common frame = transforms[k] @ scan k; identity where it is not placed"""
    placed: np.ndarray[Any, Any]
    """(n,) of bool; reasons say why a scan is not"""
    reasons: list[str]
    covariances: np.ndarray[Any, Any]
    """(n, 6, 6) of the rotation vector (radians), then the translation, left perturbation; zeros of the anchor"""
    edges: list[dict[str, Any]]
    """pairs that were registered, used or not: source, target, verdict, reason, transform, rmse, overlap, chi2, ..."""
    anchor: int
    searched: int
    iterations: int
    spread: float
    seconds: float
    """without building kernels (building_seconds), which a first run on a device does"""
    building_seconds: float
    peak_bytes: int
    device: str

    def __init__(self, raw: dict[str, Any], scans: list[CloudInput]) -> None:
        np = _arrays.numpy()
        rows = raw.pop("scans")
        n = len(rows)
        self.transforms = np.array([row["transform"] for row in rows]).reshape(n, 4, 4)
        self.covariances = np.array([row["covariance"] for row in rows]).reshape(n, 6, 6)
        self.placed = np.array([row["placed"] for row in rows])
        self.reasons = [row["reason"] for row in rows]
        for edge in raw["edges"]:
            edge["transform"] = np.array(edge["transform"]).reshape(4, 4)
            edge["covariance"] = np.array(edge["covariance"]).reshape(6, 6)
        self.__dict__.update(raw)
        self._scans = scans

    def __len__(self) -> int:
        return len(self.transforms)

    def __repr__(self) -> str:
        used = sum(edge["used"] for edge in self.edges)
        lines = [
            f"<attune.Poses {int(self.placed.sum())} of {len(self)} scans placed, {used} pairs used, "
            f"{self.seconds:.3g} s"
        ]
        lines += [f" scan {k}: {reason}" for k, reason in enumerate(self.reasons) if reason]
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        rows = [("placed", f"{int(self.placed.sum())} of {len(self)}"), ("pairs", str(len(self.edges)))]
        shown = [k for k in range(len(self)) if self.placed[k]][:_MOST_SHOWN] or [0]
        return view_html(
            "attune.register_many", rows, [(f"scan {k}", self._scans[k], self.transforms[k]) for k in shown]
        )


def _step_line(step: dict[str, Any]) -> str:
    return f"{step['doing']}: {step['done']} of {step['count']} pairs, {step['joined']} scans joined"


def register_many(
    scans: Iterable[Points],
    *,
    pairs: Mapping[str, Any] | None = None,
    neighbours: int = 0,
    device: Any = None,
    progress: Progress = None,
    drop_invalid: bool = False,
) -> Poses:
    """Registers many scans into one frame: pairs that overlap are found and registered, and their poses made to agree.

    scans: as attune.register takes them, in any order. pairs: settings of the pairs, by the names of
    atn_register_settings, as {"method": "icp"}; default: gicp. neighbours: scans that each one is registered with at
    least, where so many overlap; default 4. progress: True for a line on standard error, or a function that gets a
    dictionary (doing, done, count, joined); one that returns False stops the work.
    """
    clouds = [cloud_input(scan, f"scans[{k}]", drop_invalid) for k, scan in enumerate(scans)]
    with told(progress, "register_many", _step_line) as watch, borrow(device_key(device)) as engine:
        raw = _attune.register_many(
            engine.c, clouds, None if pairs is None else dict(pairs), int(neighbours), watch, drop_invalid
        )
    return Poses(raw, clouds)
