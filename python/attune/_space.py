"""Search spaces, and the tuner's strategies over objectives of one's own."""

from __future__ import annotations

import builtins
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

from . import _attune
from ._clouds import table_html
from ._engines import Engine

Point = dict[str, Any]
_MANY = 1_000_000


class Space:
    """Parameters with their values, and constraints that rule points out. attune.space() makes one."""

    def __init__(
        self, name: str, text: bytes, t1: bool, given: builtins.list[tuple[str, str, Any]], device: Any = False
    ) -> None:
        self.name = name
        self._engine = Engine(device)
        self._c = _attune.Space(self._engine.c, os.fsencode(name), text, t1, given)
        self.parameters: dict[str, list[Any]] = dict(self._c.parameters())
        """all values of each, anywhere in the space"""
        self.constraints: list[str] = self._c.constraints()

    @property
    def count(self) -> int:
        """Allowed points."""
        with self._engine.lock:
            return self._c.count()

    @property
    def product(self) -> int:
        """Points without constraints."""
        with self._engine.lock:
            return self._c.product()

    def _point(self, levels: Sequence[int]) -> Point:
        return {name: values[level] for (name, values), level in zip(self.parameters.items(), levels)}

    def _levels(self, point: Mapping[str, Any]) -> tuple[int, ...]:
        unknown = set(point) - set(self.parameters)
        if unknown:
            raise ValueError(f"{self.name}: there is no parameter {sorted(unknown)[0]!r}")
        levels = []
        for name, values in self.parameters.items():
            if name not in point:
                raise ValueError(f"{self.name}: {name} has no value")
            if point[name] not in values:
                raise ValueError(f"{self.name}: {name} cannot be {point[name]!r}")
            levels.append(values.index(point[name]))
        return tuple(levels)

    def sample(self, count: int, *, seed: int = 1) -> builtins.list[Point]:
        """So many allowed points, each equally likely."""
        with self._engine.lock:
            return [self._point(levels) for levels in self._c.sample(count, seed)]

    def list(self, most: int = _MANY) -> builtins.list[Point]:
        """Allowed points in order, at most so many."""
        with self._engine.lock:
            return [self._point(levels) for levels in self._c.list(most)]

    def why(self, point: Mapping[str, Any]) -> str | None:
        """The constraint that excludes a point, or None for one that is allowed."""
        with self._engine.lock:
            return self._c.why(self._levels(point))

    def __contains__(self, point: object) -> bool:
        try:
            return isinstance(point, Mapping) and self.why(point) is None
        except ValueError:
            return False

    def __iter__(self) -> Iterator[Point]:
        return iter(self.list())

    def __repr__(self) -> str:
        return f"<attune.Space {self.name}: {len(self.parameters)} parameters, {len(self.constraints)} constraints>"

    def _repr_html_(self) -> str:
        rows = [
            [name, str(len(values)), ", ".join(map(str, values[:12])) + (" ..." if len(values) > 12 else "")]
            for name, values in self.parameters.items()
        ]
        return table_html(rows, ["parameter", "values", ""])


def space(source: str | os.PathLike[str], *, given: Mapping[str, Any] | None = None, device: Any = None) -> Space:
    """A space: the path of a LANAI or T1 JSON file, the name of one that is shipped, or the text itself (with line
    ends).

    given: values for what a space imports, as {"kernel.points": 2}; `import device` takes the host, or `device`.

        >>> space("x = range(1, 9)\\ny = pow2(1, 8)\\n").count
        32
    """
    from ._engines import device_key

    name = os.fspath(source)
    text = _attune.shipped_space(name) if not os.path.exists(name) else None
    if text is None and "\n" in name:
        name, text = "space", name
    if text is None:
        try:
            with open(name, "rb") as file:
                raw = file.read()
        except OSError as error:
            raise _attune.Error(f"{name}: {error.strerror}; it is not a space that is shipped either") from None
    else:
        raw = text.encode()
    pairs = []
    for key, value in (given or {}).items():
        module, dot, rest = key.partition(".")
        if not dot:
            raise ValueError(f"given takes names as 'kernel.points', not {key!r}")
        pairs.append((module, rest, value.encode() if isinstance(value, str) else value))
    t1 = not name.endswith(".lanai") and (name.endswith(".json") or raw.lstrip().startswith(b"{"))
    return Space(name, raw, t1, pairs, False if device is None else device_key(device))


def _space_of(restrictions: Any, parameters: Mapping[str, Sequence[Any]]) -> tuple[Space, list[Callable[[Point], Any]]]:
    if restrictions is None:
        restrictions = []
    elif isinstance(restrictions, str) or callable(restrictions):
        restrictions = [restrictions]
    texts = [r for r in restrictions if isinstance(r, str)]
    functions = [r for r in restrictions if not isinstance(r, str)]
    for function in functions:
        if not callable(function):
            raise TypeError(f"a restriction is an expression or a function, not {type(function).__name__}")
    rows = []
    for name, values in parameters.items():
        plain = [v.item() if hasattr(v, "item") else v for v in values]
        rows.append({"Name": name, "Values": plain})
    try:
        text = json.dumps(
            {"ConfigurationSpace": {"TuningParameters": rows, "Conditions": [{"Expression": t} for t in texts]}}
        )
    except TypeError:
        raise TypeError("values of parameters are numbers, booleans or texts") from None
    return Space("space", text.encode(), True, []), functions


@dataclass
class SpaceTuned:
    """What a search over a space found."""

    best: Point | None = None
    """the fastest point, or None where none ran"""
    seconds: float = math.inf
    """what the objective said of it"""
    history: list[tuple[Point, float, str]] = field(default_factory=list)
    """points in the order they were tried, with the objective's answer and what became of them: right, wrong, crash,
    hang"""
    strategy: str = ""

    @property
    def tried(self) -> int:
        return len(self.history)

    @property
    def failed(self) -> int:
        return sum(outcome != "right" for _, _, outcome in self.history)

    def __repr__(self) -> str:
        return f"<attune.SpaceTuned {self.seconds:.6g} at {self.best}, {self.tried} tried, {self.failed} failed>"


def _measure(objective: Callable[[Point], Any], point: Point) -> tuple[float, str]:
    try:
        value = objective(dict(point))
    except TimeoutError:
        return math.inf, "hang"
    except MemoryError:
        return math.inf, "memory"
    except Exception:
        return math.inf, "crash"
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"the objective returned {value!r}; it returns the time of a run, above 0, or inf for a failure"
        ) from None
    return (seconds, "right") if 0 < seconds < math.inf else (math.inf, "wrong")


def tune_space(
    restrictions: Any,
    parameters: Space | Mapping[str, Sequence[Any]],
    objective: Callable[[Point], Any],
    *,
    evaluations: int | None = None,
    budget: float | None = None,
    strategy: str | None = None,
    seed: int = 0,
    progress: bool | None | Callable[[SpaceTuned], Any] = None,
) -> SpaceTuned:
    """Searches a space for the point with the least objective, with attune's strategies: for kernels of one's own.

    restrictions: expressions in the words of Python ("block_x * block_y <= 1024"), functions of a point, or None.
    parameters: {name: values}, or an attune.Space. objective: takes a point as a dictionary and returns seconds, or
    whatever is the less the better and above 0; inf, NaN or 0 is a wrong answer, an exception a failure, TimeoutError a
    hang: the search goes on and learns to keep away. evaluations, budget (seconds): when to stop, 200 evaluations
    unless one is given. strategy: portfolio (default), model, local, evolutionary, annealing, random or exhaustive.
    progress: True, or a function that gets the SpaceTuned so far and stops the search by returning False.

        >>> sizes = {"x": range(1, 17), "y": [1, 2, 4, 8]}
        >>> found = tune_space(["x * y <= 32"], sizes, lambda p: abs(p["x"] - 4) + 9 - p["y"])
        >>> found.best
        {'x': 4, 'y': 8}
    """
    if isinstance(parameters, Space):
        where = parameters
        functions = [
            r
            for r in (
                [] if restrictions is None else restrictions if isinstance(restrictions, list) else [restrictions]
            )
        ]
        if any(isinstance(r, str) or not callable(r) for r in functions):
            raise TypeError("a Space has its constraints; further restrictions are functions")
    else:
        where, functions = _space_of(restrictions, parameters)
    if evaluations is None and budget is None:
        evaluations = 200
    if evaluations is not None and evaluations < 1:
        raise ValueError("evaluations is 1 or more")
    with where._engine.lock:
        search = _attune.Search(where._c, strategy, seed, evaluations or 0)
        return _search(where, search, functions, objective, evaluations, budget, progress, strategy)


def _search(
    where: Space,
    search: _attune.Search,
    functions: list[Callable[[Point], Any]],
    objective: Callable[[Point], Any],
    evaluations: int | None,
    budget: float | None,
    progress: Any,
    strategy: str | None,
) -> SpaceTuned:
    result = SpaceTuned(strategy=strategy or "portfolio")
    end = math.inf if budget is None else time.monotonic() + budget
    while time.monotonic() < end and (evaluations is None or result.tried < evaluations):
        levels = search.ask()
        if levels is None:
            break
        point = where._point(levels)
        if not all(function(point) for function in functions):
            search.tell(levels, math.inf, "build")
            continue
        seconds, outcome = _measure(objective, point)
        search.tell(levels, seconds, outcome)
        result.history.append((point, seconds, outcome))
        if outcome == "right" and seconds < result.seconds:
            result.best, result.seconds = point, seconds
        if progress is True:
            print(
                f"\r{result.tried} tried, {result.failed} failed, best {result.seconds:.6g}",
                end="",
                file=sys.stderr,
                flush=True,
            )
        elif callable(progress) and progress(result) is False:
            break
    if progress is True:
        print(file=sys.stderr)
    return result
