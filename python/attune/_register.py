"""Point set registration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _arrays, _attune
from ._clouds import cloud_input, view_html
from ._engines import Engine, borrow, devices_key
from ._progress import Progress, told

if TYPE_CHECKING:
    import numpy as np

    from ._clouds import CloudInput, Points


class Registration:
    """Where a source cloud belongs on a target cloud, and how sure that is. Lengths are in the target's unit."""

    transform: np.ndarray[Any, Any]
    """(4, 4): target = transform @ source"""
    verdict: str
    """"trusted", "doubtful" or "refused" """
    reason: str
    """why the verdict is what it is"""
    rmse: float
    """of inlier pairs: a source point and the nearest target point within inlier_distance"""
    overlap: float
    """share of the source points that have one"""
    covariance: np.ndarray[Any, Any] | None
    """(6, 6) of the rotation vector (radians), then the translation, left perturbation; None: covariance_reason says
    why"""
    covariance_reason: str
    alternatives: np.ndarray[Any, Any]
    """(k, 4, 4): poses that fit as well"""
    sliding: np.ndarray[Any, Any]
    """(k, 6): directions in which the fit does not hold"""
    scale: float
    converged: bool
    inlier_distance: float
    overlap_source: float
    overlap_target: float
    agreement: float
    runner_up: float
    iterations: int
    pairs: float
    evaluated_pairs: float
    seconds: float
    """without building kernels (building_seconds), which a first run on a device does"""
    building_seconds: float
    gpts: float
    error_bound: float
    peak_bytes: int
    """the most that was allocated, host and device"""
    sigma_end: float
    device: str
    variant: str
    profile: list[dict[str, Any]]
    """with profile=True: name, calls and seconds of each kernel"""

    def __init__(self, raw: dict[str, Any], source: CloudInput | Any, target: CloudInput | Any) -> None:
        np = _arrays.numpy()
        many, sliding = raw.pop("n_alternatives"), raw.pop("n_sliding")
        covariance = np.array(raw.pop("covariance")).reshape(6, 6) if raw.pop("has_covariance") else None
        raw["covariance"] = covariance
        raw["transform"] = np.array(raw["transform"]).reshape(4, 4)
        raw["alternatives"] = np.array(raw["alternatives"]).reshape(-1, 4, 4)[:many]
        raw["sliding"] = np.array(raw["sliding"]).reshape(6, 6)[:sliding]
        self.__dict__.update(raw)
        self._clouds = (source, target)

    @property
    def trusted(self) -> bool:
        return self.verdict == "trusted"

    def apply(self, points: Any) -> np.ndarray[Any, Any]:
        """Points (n, 3), moved as the source is."""
        array = _arrays.real(points, "points", "f8", 2, "(n, 3)")
        return array @ self.transform[:3, :3].T + self.transform[:3, 3]  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return (
            f"<attune.Registration {self.verdict}: {self.reason}\n"
            f" rmse {self.rmse:.6g}, overlap {self.overlap:.1%}, {self.iterations} iterations, {self.seconds:.3g} s "
            f"on {self.device}\n"
            f" {str(self.transform).replace(chr(10), chr(10) + ' ')}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("verdict", f"{self.verdict}: {self.reason}"),
            ("rmse", f"{self.rmse:.6g}, of points with a partner within {self.inlier_distance:.4g}"),
            ("overlap", f"{self.overlap:.1%} of the source"),
            ("time", f"{self.seconds:.3g} s, {self.iterations} iterations on {self.device}"),
        ]
        eye = _arrays.numpy().eye(4)
        source, target = (_shown(c) for c in self._clouds)
        return view_html("attune.register", rows, [("source", source, self.transform), ("target", target, eye)])


def _shown(cloud: CloudInput | Any) -> CloudInput:
    """What was registered, for the host: a tensor on a device is copied when it is looked at."""
    if isinstance(cloud, bytes):
        return cloud
    if isinstance(cloud, tuple):
        return cloud[0], cloud[1]
    return cloud_input(_host_copy(cloud), "points")


def _step_line(step: dict[str, Any]) -> str:
    return f"iteration {step['iteration']}, rmse {step['rmse']:.4g}, {step['source']} and {step['target']} points"


def _start(init: Any) -> dict[str, Any]:
    if init is None:
        return {}
    if isinstance(init, str):
        if init not in ("auto", "identity"):
            raise ValueError(f"register: init cannot be {init!r}; there are auto, identity, and a (4, 4) matrix")
        return {"init": init}
    return {"init": "given", "start": [float(v) for v in _arrays.matrix(init, "init").ravel()]}


def _host_copy(value: Any) -> Any:
    """Points of a CUDA device for the host; anything else as it is."""
    number = _arrays.cuda_device(value)
    if number is None:
        return value
    with borrow(("cuda", number)) as engine:
        array = _arrays.Foreign(engine, value, "points").array(engine)
        kind, shape, _ = array.place()
        out = _arrays.numpy().empty(shape, kind)
        array.get(out)
    return out


def _arrays_there(engine: Engine, clouds: Sequence[Any]) -> tuple[_attune.Array, _attune.Array] | None:
    """Both clouds where they lie, if that is the engine's device and they are (n, 3) floats; None: the host takes them."""
    if engine.info["backend"] != "cuda":
        return None
    if any(_arrays.cuda_device(c) != engine.info["ordinal"] for c in clouds):
        return None
    foreign = [_arrays.Foreign(engine, c, "points") for c in clouds]
    if any(f.kind not in ("f4", "f8") or len(f.shape) != 2 or f.shape[1] != 3 for f in foreign):
        return None
    return foreign[0].array(engine), foreign[1].array(engine)


def register(
    source: Points,
    target: Points,
    *,
    init: Any = "auto",
    method: str | None = None,
    transform: str | None = None,
    device: Any = None,
    progress: Progress = None,
    drop_invalid: bool = False,
    compat: bool | None = None,
    precision: int | None = None,
    reproducible: bool | None = None,
    sigma_start: float | None = None,
    sigma_end: float | None = None,
    sigma_factor: float | None = None,
    outlier_distance: float | None = None,
    error_bound: float | None = None,
    dense: bool | None = None,
    no_acceleration: bool | None = None,
    no_polish: bool | None = None,
    most_iterations: int | None = None,
    trim: float | None = None,
    robust: str | None = None,
    robust_scale: float | None = None,
    match_species: bool | None = None,
    most_bytes: int | None = None,
    profile: bool | None = None,
    no_covariance: bool | None = None,
) -> Registration:
    """The transform that moves `source` onto `target`: settings in, result out.

    source, target: (n, 3) arrays of any real type and order, paths of files, attune.Cloud, or Open3D clouds.
    init: "auto" (any pose, partial overlap), "identity" (they lie near each other) or a (4, 4) matrix.
    method: "em-icp" (default), "icp", "icp-plane", "softassign", "cpd" or "gicp".
    transform: "rigid" (default), "similarity" or "affine".
    device: a name or index of attune.devices(), or a list of them, of which the first has the clouds and the others take
        rows of long steps; default: the best that is ready.
    progress: True for a line on standard error, or a function that gets a dictionary after each iteration (iteration,
        sigma, rmse, motion, pairs, source, target); one that returns False stops the work.
    drop_invalid: leaves out points with NaN or infinity instead of refusing them.

    The other settings are those of atn_register_settings (include/attune/register.h); None takes the default. Clouds
    that do not fit each other are no exception: the result's verdict says "refused", with its reason.

        >>> import numpy
        >>> points = numpy.random.default_rng(3).normal(size=(400, 3))
        >>> register(points, points + 0.01, init="identity", device="host").trusted
        True
    """
    given = {
        "method": method,
        "transform": transform,
        "compat": compat,
        "precision": precision,
        "reproducible": reproducible,
        "sigma_start": sigma_start,
        "sigma_end": sigma_end,
        "sigma_factor": sigma_factor,
        "outlier_distance": outlier_distance,
        "error_bound": error_bound,
        "dense": dense,
        "no_acceleration": no_acceleration,
        "no_polish": no_polish,
        "most_iterations": most_iterations,
        "trim": trim,
        "robust": robust,
        "robust_scale": robust_scale,
        "match_species": match_species,
        "most_bytes": most_bytes,
        "profile": profile,
        "no_covariance": no_covariance,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    settings.update(_start(None if init == "auto" and compat else init) if isinstance(init, str) else _start(init))
    key = devices_key(device)
    with told(progress, "register", _step_line) as watch:
        if not drop_invalid and all(_arrays.cuda_device(c) is not None for c in (source, target)):
            with borrow(key) as engine:
                there = _arrays_there(engine, (source, target))
                if there:
                    raw = _attune.register_arrays(engine.c, there[0], there[1], settings, watch)
                    return Registration(raw, source, target)
        clouds = [cloud_input(_host_copy(c), n, drop_invalid) for c, n in ((source, "source"), (target, "target"))]
        with borrow(key) as engine:
            raw = _attune.register(engine.c, clouds[0], clouds[1], settings, watch, drop_invalid)
    return Registration(raw, clouds[0], clouds[1])
