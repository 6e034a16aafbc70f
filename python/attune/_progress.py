"""What ``progress=`` means: a line on standard error, or a function of the caller's."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, Union

from . import _attune
from ._engines import Engine

Watch = Callable[[dict[str, Any]], Any]
Progress = Union[bool, None, Watch]


def part_line(step: dict[str, Any]) -> str:
    """Where work in parts is.

    >>> part_line({"doing": "matching", "done": 2, "count": 8})
    'matching: 2 of 8'
    """
    return f"{step['doing']}: {step['done']} of {step['count']}" if step["count"] else str(step["doing"])


@contextmanager
def told(progress: Progress, what: str, line: Callable[[dict[str, Any]], str]) -> Iterator[Watch | None]:
    """The function to call after each step, or None; `line` says a step in words."""
    if progress is None or progress is False:
        yield None
    elif progress is not True:
        if not callable(progress):
            raise TypeError(f"{what}: progress takes True, False or a function")
        yield progress
    else:
        shown = 0.0

        def show(step: dict[str, Any]) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown > 0.1:
                shown = now
                print(f"\r{line(step):<78}", end="", file=sys.stderr, flush=True)

        try:
            yield show
        finally:
            print(file=sys.stderr)


@contextmanager
def watched(engine: Engine, progress: Progress, what: str) -> Iterator[None]:
    """While it lasts, work of the engine says where it is."""
    with told(progress, what, part_line) as watch:
        if watch is None:
            yield
            return
        _attune.watch(engine.c, watch)
        try:
            yield
        finally:
            _attune.watch(engine.c, None)
