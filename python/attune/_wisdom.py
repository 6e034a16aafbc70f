"""What was measured before, on this machine and others."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator
from dataclasses import astuple, dataclass

from . import _attune
from ._clouds import table_html
from ._engines import borrow, refresh


@dataclass(frozen=True)
class WisdomEntry:
    """A kernel at one shape on one device, and the fastest variant of it."""

    kernel: str
    backend: str
    device: str
    shape: tuple[int, ...]
    measured: int
    right: int
    variant: str
    seconds: float
    default_seconds: float
    when: str
    stale: str
    """why it is not used any more; "" where it is"""


def _entry(line: str) -> WisdomEntry:
    kernel, backend, device, shape, measured, right, variant, seconds, usual, when, stale = line.split("\t")
    sizes = tuple(int(n) for n in shape.split(",") if n)
    return WisdomEntry(
        kernel, backend, device, sizes, int(measured), int(right), variant, float(seconds), float(usual), when, stale
    )


class Wisdom:
    """The database of wisdom: $ATTUNE_WISDOM, or wisdom.sqlite in the cache folder. Kernels look into it by
    themselves."""

    def list(self, kernel: str | None = None, device: str | None = None) -> builtins.list[WisdomEntry]:
        """Entries, of one kernel or device where they are named."""
        with borrow(False) as engine:
            text = _attune.wisdom(engine.c, "list", kernel, device, None)[0]
        return [_entry(line) for line in text.splitlines()]

    def export(self, path: str | os.PathLike[str], kernel: str | None = None, device: str | None = None) -> int:
        """Writes entries as JSON and returns how many."""
        with borrow(False) as engine:
            text, entries, _, _ = _attune.wisdom(engine.c, "export", kernel, device, None)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return entries

    def load(self, path: str | os.PathLike[str]) -> int:
        """Takes in what `export` wrote, all or nothing; returns how much was new."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with borrow(False) as engine:
            taken = _attune.wisdom(engine.c, "import", None, None, text)[3]
        refresh()
        return taken

    def forget(self, kernel: str | None = None, device: str | None = None) -> int:
        """Removes entries, all of them unless a kernel or device is named; returns how many."""
        with borrow(False) as engine:
            entries = _attune.wisdom(engine.c, "forget", kernel, device, None)[1]
        refresh()
        return entries

    def __iter__(self) -> Iterator[WisdomEntry]:
        return iter(self.list())

    def __repr__(self) -> str:
        kernels: dict[str, int] = {}
        for entry in self.list():
            kernels[entry.kernel] = kernels.get(entry.kernel, 0) + 1
        known = ", ".join(f"{name} ({count})" for name, count in kernels.items())
        return f"<attune.wisdom of {known or 'nothing yet'}>"

    def _repr_html_(self) -> str:
        rows = [[str(value) for value in astuple(entry)[:9]] for entry in self.list()]
        return table_html(
            rows, ["kernel", "backend", "device", "shape", "measured", "right", "variant", "seconds", "default"]
        )


wisdom = Wisdom()
