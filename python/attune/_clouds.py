"""Point clouds: arrays, files, and what other libraries call a cloud."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from . import _arrays, _attune
from ._engines import borrow

if TYPE_CHECKING:
    import numpy as np

    Points = Union[str, "os.PathLike[str]", "Cloud", Any]
    CloudInput = Union[bytes, tuple[Any, Any]]


class Cloud(NamedTuple):
    """Points with what a file says beside them; any function that takes points takes a Cloud."""

    points: np.ndarray[Any, Any]
    """(n, 3), float64"""
    normals: np.ndarray[Any, Any] | None = None
    """(n, 3), float32; zeros where not known"""
    masses: np.ndarray[Any, Any] | None = None
    """mass-to-charge ratios of ions"""
    species: np.ndarray[Any, Any] | None = None
    """atomic numbers, or the file's own"""
    format: str = ""


def read_cloud(path: str | os.PathLike[str], *, drop_invalid: bool = False) -> Cloud:
    """Reads PLY, LAS, XYZ, POS and more (docs/formats.md). ``drop_invalid`` leaves out points with NaN or infinity."""
    np = _arrays.numpy()
    with borrow(False) as engine:
        raw = _attune.cloud(engine.c, os.fsencode(path), drop_invalid)

    def column(name: str) -> Any:
        return np.frombuffer(raw[name][0], raw[name][1]) if name in raw else None

    def columns(*names: str) -> Any:
        return np.stack([column(name) for name in names], axis=1) if names[0] in raw else None

    points = columns("x", "y", "z")
    if points is None:
        points = np.empty((0, 3))
    return Cloud(points, columns("nx", "ny", "nz"), column("mass"), column("species"), raw["format"])


def _array(value: Any, name: str) -> np.ndarray[Any, Any]:
    array = _arrays.real(value, name, "f8", 2, "(n, 3)")
    if array.shape[1] != 3:
        raise ValueError(f"{name} has the shape {array.shape}; expected (n, 3)")
    return array


def cloud_input(value: Points, name: str, drop_invalid: bool = False) -> CloudInput:
    """A path as bytes, or positions and normals in the layout that C reads."""
    np = _arrays.numpy()
    if isinstance(value, (str, os.PathLike)):
        return os.fsencode(value)
    normals: Any = None
    given: Any = value
    if isinstance(value, Cloud):
        given, normals = value.points, value.normals
    elif hasattr(value, "points") and not hasattr(value, "__array_interface__"):  # Open3D's
        if getattr(value, "has_normals", bool)():
            normals = np.asarray(value.normals)
        given = np.asarray(value.points)
    points = _array(given, name)
    if normals is not None:
        normals = np.ascontiguousarray(normals, dtype="f4")
    if drop_invalid:
        good = np.isfinite(points).all(axis=1)
        if not good.all():
            points = np.ascontiguousarray(points[good])
            normals = None if normals is None else np.ascontiguousarray(normals[good])
    return points, normals


def view_html(title: str, rows: Sequence[tuple[str, str]], clouds: list[tuple[str, CloudInput, Any]]) -> str:
    """The report's 3D view, for notebooks: (name, cloud, transform) each, before and after."""
    table = "what\tvalue\t\n" + "".join(f"{name}\t{value}\t\n" for name, value in rows)
    with borrow(False) as engine:
        page = _attune.view(engine.c, title, table, [(n, c, [float(v) for v in m.ravel()]) for n, c, m in clouds])
    return f'<iframe srcdoc="{html.escape(page)}" width="100%" height="720" style="border:0"></iframe>'


def table_html(rows: Sequence[Sequence[str]], head: Sequence[str]) -> str:
    """A plain table.

    >>> table_html([["a", "1"]], ["name", "value"])
    '<table><tr><th>name</th><th>value</th></tr><tr><td>a</td><td>1</td></tr></table>'
    """
    text = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><tr>{text}</tr>{body}</table>"
