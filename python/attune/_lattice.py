"""The local structure of atoms."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _arrays, _attune
from ._clouds import Cloud, cloud_input, read_cloud, table_html
from ._engines import borrow, devices_key
from ._progress import Progress, watched

if TYPE_CHECKING:
    import numpy as np

_NANOMETRES = (".pos", ".epos", ".apt")
_UNITS = {"angstrom": 1.0, "nm": 10.0}


class Atoms:
    """What the neighbourhood of every atom is a piece of; arrays have one element for each atom."""

    structure: np.ndarray[Any, Any]
    """0 other, 1 the first of names, ..."""
    names: list[str]
    """of the structures, "other" first"""
    phase: np.ndarray[Any, Any]
    confidence: np.ndarray[Any, Any]
    """the chance that the structure is right"""
    orientation: np.ndarray[Any, Any]
    """(n, 4) quaternions w x y z, from the crystal to the frame; 1 0 0 0 for other"""
    rmsd: np.ndarray[Any, Any]
    matched: np.ndarray[Any, Any]
    background: np.ndarray[Any, Any]
    value: np.ndarray[Any, Any]
    info: dict[str, Any]
    """what was given or found: constants, cutoff, noise, efficiency, ..."""

    def __init__(self, record: np.ndarray[Any, Any], info: dict[str, Any]) -> None:
        self.names = ["other"]
        for place, name in zip(info["structure"], info["name"]):
            if place == len(self.names):
                self.names.append(name)
        for field in ("structure", "phase", "confidence", "rmsd", "matched", "background", "value"):
            setattr(self, field, record[field].copy())
        self.orientation = record["quaternion"].copy()
        models = info["models"]
        for field in ("structure", "constant", "expected"):
            info[field] = info[field][:models]
        info["share"] = info["share"][: models + 1]
        self.info = info

    @property
    def counts(self) -> dict[str, int]:
        """Atoms of each structure."""
        found = _arrays.numpy().bincount(self.structure, minlength=len(self.names))
        return {name: int(count) for name, count in zip(self.names, found)}

    def __len__(self) -> int:
        return len(self.structure)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {count}" for name, count in self.counts.items())
        return f"<attune.Atoms {len(self)} atoms: {parts}>"

    def _repr_html_(self) -> str:
        all_of_them = max(len(self), 1)
        rows = [[name, str(count), f"{count / all_of_them:.1%}"] for name, count in self.counts.items()]
        return table_html(rows, ["structure", "atoms", "share"])


Model = Union[str, tuple[str, float], tuple[str, Any]]


def _models(models: None | Sequence[Model] | Mapping[str, Any]) -> list[tuple[str, float, Any]]:
    np = _arrays.numpy()
    out: list[tuple[str, float, Any]] = []
    for model in models.items() if isinstance(models, Mapping) else models or ():
        name, given = (model, 0.0) if isinstance(model, str) else model
        if not isinstance(name, str):
            raise TypeError("lattice: a model is a name, or a name with its constant or its points")
        if np.ndim(given) == 0:
            out.append((name, float(given), None))
            continue
        points = _arrays.real(given, f"model {name}", "f8", 2, "(n, 3)")
        if points.shape[1] != 3:
            raise ValueError(
                f"model {name} has the shape {points.shape}; expected (n, 3) around an atom at the origin"
            )
        out.append((name, 0.0, np.ascontiguousarray(points.T)))
    return out


def lattice(
    positions: str | os.PathLike[str] | Cloud | Any,
    *,
    models: None | Sequence[Model] | Mapping[str, Any] = None,
    species: Any = None,
    unit: str | None = None,
    device: Any = None,
    progress: Progress = None,
    cutoff: float | None = None,
    noise: float | None = None,
    depth_noise: float | None = None,
    efficiency: float | None = None,
    background: float | None = None,
    even: bool | None = None,
    exact: bool | None = None,
    sample: int | None = None,
) -> Atoms:
    """Structure, orientation and confidence of every atom.

    positions: (n, 3) in Angstrom (``unit="nm"``: nanometres), an attune.Cloud, or a path; POS, ePOS and APT files are
    in nm.
    models: names ("bcc", "fcc", "hcp", "sc", "diamond", "B2", "L12"), or pairs of a name with its lattice constant, or
    with
        (k, 3) points around an atom at the origin; default: bcc, fcc, hcp. B2 and L12 need species (whole numbers).
    device: a device, or a list of them, which share the atoms in slabs: those at the edges of slabs may differ.
    progress: True for a line on standard error, or a function that gets a dictionary (doing, done, count); one that
        returns False stops the work.
    The other settings are those of atn_lattice_settings; what is not given is found from the atoms.
    """
    np = _arrays.numpy()
    if unit is not None and unit not in _UNITS:
        raise ValueError(f"lattice: unit cannot be {unit!r}; there are angstrom and nm")
    if isinstance(positions, (str, os.PathLike)):
        if unit is None and os.fspath(positions).lower().endswith(_NANOMETRES):
            unit = "nm"
        positions = read_cloud(positions)
    if isinstance(positions, Cloud) and species is None:
        species = positions.species
    points = cloud_input(positions, "positions")[0]
    assert not isinstance(points, int)
    if not np.isfinite(points).all():
        raise ValueError("positions has NaN or infinity")
    if species is not None:
        species = np.ascontiguousarray(_arrays.host(species, "species"), dtype="i4")
        if species.shape != points.shape[:1]:
            raise ValueError(f"species has the shape {species.shape}; expected one for each of {len(points)} atoms")
    given = {
        "cutoff": cutoff,
        "noise": noise,
        "depth_noise": depth_noise,
        "efficiency": efficiency,
        "background": background,
        "has_background": background is not None,
        "even": even,
        "exact": exact,
        "sample": sample,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    layout, size = _attune.lattice_record()
    dtype = np.dtype(
        {
            "names": [n for n, _, _ in layout],
            "formats": [f for _, f, _ in layout],
            "offsets": [o for _, _, o in layout],
            "itemsize": size,
        }
    )
    record = np.zeros(len(points), dtype)
    with borrow(devices_key(device)) as engine, watched(engine, progress, "lattice"):
        raw = record.view("u1").reshape(len(points), size)
        info = _attune.lattice(engine.c, points, species, _UNITS[unit or "angstrom"], settings, _models(models), raw)
    return Atoms(record, info)
