"""What is here to compute on."""

from __future__ import annotations

from dataclasses import dataclass, fields

from . import _attune
from ._clouds import table_html
from ._engines import borrow


@dataclass(frozen=True)
class Device:
    """A device as it describes itself; ``device=`` of every function takes one."""

    index: int
    ordinal: int
    backend: str
    name: str
    platform: str
    driver: str
    arch: str
    cores: int
    simd: int
    memory_bytes: int
    max_alloc_bytes: int
    local_bytes: int
    cache_bytes: int
    max_group: int
    max_items: tuple[int, int, int]
    clock_mhz: int
    fp64: bool
    fp16: bool
    subgroups: bool
    unified: bool
    cpu: bool
    bf16: int

    def peaks(self) -> dict[str, float]:
        """Measured peaks: fp16, fp32, fp64 in FLOP/s, bandwidth in B/s. The first time takes about a second."""
        with borrow(str(self.index)) as engine:
            return _attune.peaks(engine.c)


class Devices(list[Device]):
    """All devices, the host's CPU first; ``notes`` say why a backend has none."""

    def __init__(self, found: list[Device], notes: list[str]) -> None:
        super().__init__(found)
        self.notes = notes

    def __repr__(self) -> str:
        rows = [f"{d.index} {d.backend} {d.name}, {d.cores} cores, {d.memory_bytes / 1e9:.3g} GB" for d in self]
        return "\n".join(rows + self.notes)

    def _repr_html_(self) -> str:
        rows = [[str(d.index), d.backend, d.name, str(d.cores), f"{d.memory_bytes / 1e9:.3g} GB"] for d in self]
        return table_html(rows, ["index", "backend", "name", "cores", "memory"])


def devices() -> Devices:
    """All devices that are ready.

    >>> devices()[0].backend
    'host'
    """
    with borrow(False) as engine:
        rows, notes = _attune.devices(engine.c)
    known = [f.name for f in fields(Device)]
    found = []
    for row in rows:
        row["max_items"] = tuple(row["max_items"])
        found.append(Device(**{name: row[name] for name in known}))
    return Devices(found, notes)
