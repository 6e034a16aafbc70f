"""Engines: a context and an open device each, used by one thread at a time and kept for the next call."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Union

from . import _attune



@dataclass(frozen=True)
class Several:
    """Several devices, by their names with commas between them; the first one is the engine's own."""

    names: str


Key = Union[str, None, tuple[str, int], Several, bool]
"""Which device: a name as ``attune devices`` takes it, None for the best, (backend, ordinal), several, False for none.
"""

_DEAD = ("cancelled", "lost", "internal")


class Engine:
    """An open device with the lock of whoever uses it."""

    def __init__(self, key: Key) -> None:
        self.lock = threading.RLock()
        if isinstance(key, Several):
            self.c = _attune.engine(key.names, None, 0, True)
        elif isinstance(key, tuple):
            self.c = _attune.engine(None, key[0], key[1])
        else:
            self.c = _attune.engine(key)

    @property
    def info(self) -> dict[str, Any]:
        return _attune.info(self.c)

    def revive(self, error: BaseException) -> None:
        """After Ctrl-C: what was asked to stop may go on with the next call."""
        if isinstance(error, KeyboardInterrupt) or getattr(error, "status", "") == "cancelled":
            _attune.resume(self.c)


class _Pool:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.free: dict[Key, list[Engine]] = {}

    def take(self, key: Key) -> Engine:
        with self.lock:
            waiting = self.free.get(key)
            if waiting:
                return waiting.pop()
        return Engine(key)

    def give_back(self, key: Key, engine: Engine) -> None:
        with self.lock:
            self.free.setdefault(key, []).append(engine)


_pool = _Pool()


@contextmanager
def borrow(key: Key) -> Iterator[Engine]:
    """An engine for one call. One that was stopped or lost its device does not come back."""
    pool = _pool
    engine = pool.take(key)
    try:
        with engine.lock:
            yield engine
    except BaseException as error:
        if not isinstance(error, KeyboardInterrupt) and getattr(error, "status", "") not in _DEAD:
            pool.give_back(key, engine)
        raise
    pool.give_back(key, engine)


def refresh() -> None:
    """Lets go of all engines that wait: what was tuned since is seen by new ones."""
    global _pool
    _pool = _Pool()


def device_key(device: object) -> Key:
    """What a caller's ``device=`` means.

    >>> device_key(0), device_key("cuda"), device_key(None)
    ('0', 'cuda', None)
    """
    if device is None or isinstance(device, str):
        return device or None
    if isinstance(device, int) and not isinstance(device, bool):
        return str(device)
    index = getattr(device, "index", None)
    if isinstance(index, int):
        return str(index)
    raise TypeError(f"device takes a name, an index or an entry of attune.devices(), not {type(device).__name__}")


def devices_key(device: object) -> Key:
    """The same where a list of devices may stand as well.

    >>> devices_key(["cuda", 0]), devices_key("host"), devices_key("all")
    (Several(names='cuda,0'), 'host', Several(names='all'))
    """
    if isinstance(device, str) and (device == "all" or "," in device):
        return Several(device)
    if not isinstance(device, (list, tuple)):
        return device_key(device)
    if not device:
        raise ValueError("device: the list of devices is empty")
    return Several(",".join(str(device_key(one) or "") for one in device))


def _after_fork() -> None:
    _attune.after_fork()
    refresh()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_attune.stop_all)


def program() -> str:
    """The program attune that comes with the package; the tuner's worker processes are it, too."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [
        os.path.join(here, "bin", "attune"),
        os.path.join(here, "..", "..", "attune"),
    ]  # installed; in a build tree
    given: str | None = os.environ.get("ATTUNE_PROGRAM")
    for path in [given] if given else beside:
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.abspath(path)
    raise _attune.Error(
        "the program attune, which tunes in processes of its own, is not found; name it in ATTUNE_PROGRAM"
    )
