"""Many pairs of clouds in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _attune
from ._clouds import cloud_input
from ._engines import borrow, devices_key
from ._progress import Progress, part_line, told
from ._register import Registration, _host_copy, _start

if TYPE_CHECKING:
    from ._clouds import Points

Pair = Union["tuple[Points, Points]", "tuple[Points, Points, Any]"]


def _failure(status: str, sentence: str) -> _attune.Error:
    error = _attune.InputError(sentence) if status == "input" else _attune.Error(sentence)
    error.status = status
    return error


class _Clouds:
    """Clouds that several pairs have are handed over once."""

    def __init__(self, drop_invalid: bool) -> None:
        self.inputs: list[Any] = []
        self._drop = drop_invalid
        self._place: dict[int, int] = {}
        self._kept: list[Any] = []

    def place(self, cloud: Any, name: str) -> int:
        known = self._place.get(id(cloud))
        if known is None:
            known = self._place[id(cloud)] = len(self.inputs)
            self._kept.append(cloud)  # its id stays its own
            self.inputs.append(cloud_input(_host_copy(cloud), name, self._drop))
        return known


def register_batch(
    pairs: Iterable[Pair],
    *,
    init: Any = "auto",
    device: Any = None,
    progress: Progress = None,
    drop_invalid: bool = False,
    **settings: Any,
) -> list[Registration | _attune.Error]:
    """Registers many pairs: kernels are planned once, and small pairs run side by side.

    pairs: (source, target) or (source, target, init) each, as attune.register takes them; clouds that several pairs
    share are read once. device: a device, or a list of them ("all", "cuda,host", ["cuda", 0]): each takes pairs as fast
    as it is, and those of a device that is lost go to the others. progress: True for a line on standard error, or a
    function that gets a dictionary (doing, done, count); one that returns False stops the work. The other settings are
    those of atn_register_settings, as in attune.register.

    Returns a Registration for each pair, in order. A pair that fails does not stop the others: in its place is the
    attune.Error, which is not raised.

        >>> import numpy
        >>> points = numpy.random.default_rng(3).normal(size=(400, 3))
        >>> found = register_batch([(points, points + 0.01), (points[:0], points)], init="identity", device="host")
        >>> found[0].trusted, found[1].status
        (True, 'input')
    """
    clouds = _Clouds(drop_invalid)
    rows: list[tuple[int, int, dict[str, Any] | None]] = []
    for k, pair in enumerate(pairs):
        if not isinstance(pair, Sequence) or isinstance(pair, (str, bytes)) or len(pair) not in (2, 3):
            raise TypeError(f"pairs[{k}]: expected (source, target) or (source, target, init)")
        source = clouds.place(pair[0], f"the source of pairs[{k}]")
        target = clouds.place(pair[1], f"the target of pairs[{k}]")
        start = _start(pair[2]) if len(pair) == 3 else {}
        rows.append((source, target, start or None))
    given = {name: value for name, value in settings.items() if value is not None}
    given.update(_start(init))
    with told(progress, "register_batch", part_line) as watch, borrow(devices_key(device)) as engine:
        raw = _attune.register_batch(engine.c, clouds.inputs, rows, given, watch, drop_invalid)
    return [
        _failure(*one) if isinstance(one, tuple) else Registration(one, clouds.inputs[row[0]], clouds.inputs[row[1]])
        for one, row in zip(raw, rows)
    ]
