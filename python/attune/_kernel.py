"""Kernels and programs of one's own, described in a few lines and run on arrays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from . import _arrays, _attune
from ._arrays import TYPES, DeviceArray, Foreign
from ._clouds import table_html
from ._engines import Engine, Key, device_key, program, refresh
from ._progress import Progress, Watch, told

_MOST_KEPT = 8
_RANKS = {1: "a vector", 2: "a matrix", 3: "a volume"}
_OPEN_TYPES = {"f2": "HP", "f4": "SP", "f8": "DP", "c8": "SP2", "c16": "DP2"}


class Tuned(dict[str, Any]):
    """What tuning found: kernel, device, shape, default_s, best_s, variant, tried, failed, ..."""

    def __repr__(self) -> str:
        rows = self.get("results", [self])
        return "\n".join(
            f"<attune.Tuned {r.get('kernel')} {r.get('shape')}: {r.get('default_s')} s -> {r.get('best_s')} s, "
            f"{r.get('variant')}>"
            for r in rows
        )

    def _repr_html_(self) -> str:
        keys = ("kernel", "shape", "default_s", "best_s", "variant", "tried")
        return table_html([[str(r.get(k, "")) for k in keys] for r in self.get("results", [self])], keys)


def _tune_line(step: dict[str, Any]) -> str:
    best = f"{step['best_s']:.4g} s" if step["best_s"] else "none yet"
    return f"{step['doing']}: {step['done']} tried, {step['failed']} failed, best {best}"


def _run_watched(command: list[str], answer: IO[str], watch: Watch | None) -> None:
    """Runs a command that writes lines of JSON where it is to standard error. Whatever ends this call ends it, too."""
    said = ""
    with subprocess.Popen(command, stdout=answer, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr or ():
                if not line.startswith("{"):
                    said = line.strip()
                elif watch and watch(json.loads(line)) is False:
                    stopped = _attune.Error("stopped on request; what was measured is kept")
                    stopped.status = "cancelled"
                    raise stopped
        except BaseException:
            _stop(process)
            raise
    if process.returncode != 0:
        raise _attune.Error(said or "tuning failed")


def _stop(process: subprocess.Popen[str]) -> None:
    """As Ctrl-C does; one that does not listen is killed."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()


class Kernel:
    """A described kernel or program. Call it with its arrays and parameters by name; what it writes comes back.

    What runs is what was tuned on this device at these sizes or near them, else an estimate, at once.
    """

    def __init__(
        self,
        description: str | os.PathLike[str],
        *,
        defines: Mapping[str, str] | None = None,
        device: Any = None,
        reproducible: bool = False,
        tolerance: float = 0.0,
    ) -> None:
        self._text = os.fspath(description)
        self._defines = {str(k): str(v) for k, v in (defines or {}).items()}
        self._key: Key = device_key(device)
        self._options = (bool(reproducible), float(tolerance))
        self._lock = threading.RLock()
        self._engine: Engine | None = None
        self._programs: dict[Any, _attune.Program] = {}  # by element type and sizes; the last used are kept
        self._last: tuple[str, Any, dict[str, tuple[int, ...]], dict[str, complex]] | None = None
        self._open = self._is_open()
        self._names = {row["name"]: row for row in self._program(self._defines.get("USED_FLOAT", "SP")).names()}

    def _is_open(self) -> bool:
        """Is the type of its elements left to whoever calls it?"""
        if "USED_FLOAT" in self._defines:
            return False
        text: str | bytes | None = self._text if "\n" in self._text else _attune.shipped(self._text)
        if text is None:
            try:
                with open(self._text, "rb") as file:
                    text = file.read()
            except OSError:
                return False  # the library says what is wrong with it
        return _attune.needs_type(text.encode() if isinstance(text, str) else text)

    def _parts(self) -> Engine:
        if self._engine is None:
            self._engine = Engine(self._key)
        return self._engine

    def _program(self, kind: str, sizes: Any = ()) -> _attune.Program:
        made = self._programs.pop((kind, sizes), None)
        if made is None:
            defines = [f"{k}={v}".encode() for k, v in self._defines.items()]
            if self._open:
                defines.append(f"USED_FLOAT={kind}".encode())
            made = _attune.Program(self._parts().c, os.fsencode(self._text), defines, *self._options)
        self._programs[kind, sizes] = made
        while len(self._programs) > _MOST_KEPT:
            self._programs.pop(next(iter(self._programs)))
        return made

    def _sizes(self, arrays: dict[str, Any], scalars: dict[str, complex]) -> Any:
        """What a plan depends on: sizes, and whole numbers that may decide sizes."""
        deciding = [(n, v) for n, v in scalars.items() if self._names[n]["type"] in ("INT32", "INDEX")]
        return (tuple(sorted((n, tuple(v.shape)) for n, v in arrays.items())), tuple(deciding))

    @property
    def arrays(self) -> list[str]:
        """Names of its arrays."""
        return [name for name, row in self._names.items() if row["rank"]]

    @property
    def parameters(self) -> list[str]:
        """Names of its parameters."""
        return [name for name, row in self._names.items() if not row["rank"]]

    @property
    def outputs(self) -> list[str]:
        """Names of the arrays that it writes."""
        return [name for name, row in self._names.items() if row["written"]]

    def _choose_kind(self, given: dict[str, Any]) -> str:
        """The open element type: that of the widest array of those that take it."""
        if not self._open:
            return self._defines.get("USED_FLOAT", "SP")
        order = list(_OPEN_TYPES)
        kinds = []
        for name, value in given.items():
            if self._names[name]["type"] not in _OPEN_TYPES.values():
                continue
            short = value.kind if isinstance(value, Foreign) else value.dtype.str[1:]
            kinds.append(short if short in order else "f4")
        return _OPEN_TYPES[max(kinds, key=order.index)] if kinds else "SP"

    def _inputs(self, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, complex]]:
        arrays: dict[str, Any] = {}
        scalars: dict[str, complex] = {}
        engine = self._parts()
        for name, value in given.items():
            row = self._names.get(name)
            if row is None:
                raise TypeError(f"there is no {name!r}; there are {', '.join(self._names)}")
            if not row["rank"]:
                try:
                    scalars[name] = complex(value)
                except (TypeError, ValueError):
                    raise TypeError(f"{name} is a parameter; it takes a number, not {type(value).__name__}") from None
                continue
            if _arrays.cuda_device(value) is not None:
                if engine.info["backend"] != "cuda" or _arrays.cuda_device(value) != engine.info["ordinal"]:
                    raise TypeError(
                        f"{name} lies on a CUDA device, the kernel runs on {engine.info['name']}; make it with that "
                        f"device"
                    )
                arrays[name] = Foreign(engine, value, name)
            else:
                arrays[name] = _arrays.host(value, name)
            if len(arrays[name].shape) != row["rank"]:
                raise ValueError(f"{name} has the shape {tuple(arrays[name].shape)}; it is {_RANKS[row['rank']]}")
        missing = [name for name, row in self._names.items() if row["rank"] and row["read"] and name not in arrays]
        if missing:
            raise TypeError(f"nothing is given for {missing[0]!r}, {_RANKS[self._names[missing[0]]['rank']]}")
        return arrays, scalars

    def _fit(self, value: Any, name: str, kind: str, written: bool) -> Any:
        """The array as the kernel wants it; what it writes must be so already."""
        np = _arrays.numpy()
        if isinstance(value, Foreign):
            if value.kind != kind:
                raise TypeError(f"{name} has elements of type {value.kind}, the kernel takes {kind}")
            return value
        if written:
            if value.dtype.str[1:] != kind or not value.flags.c_contiguous or not value.dtype.isnative:
                raise ValueError(
                    f"{name} is written in place: it takes an array of {np.dtype(kind)} in C order, not {value.dtype}"
                )
            if not value.flags.writeable:
                raise ValueError(f"{name} is written, and the array is read-only")
            return value
        if not np.can_cast(value.dtype, kind, "same_kind"):
            raise TypeError(f"{name} has elements of type {value.dtype}, the kernel takes {np.dtype(kind)}")
        return np.ascontiguousarray(value, dtype=kind)

    def _device_array(self, value: Any) -> _attune.Array:
        engine = self._parts()
        if isinstance(value, Foreign):
            return value.array(engine)
        kind = value.dtype.str[1:]
        if self._shares() and value.size:
            address = value.__array_interface__["data"][0]
            return _attune.Array(engine.c, kind, value.shape, address, value)
        array = _attune.Array(engine.c, kind, value.shape)
        array.put(value)
        return array

    def __call__(self, **given: Any) -> Any:
        """Runs it. Arrays that it only writes and that are not given are made and returned: one as it is, several as a
        dictionary. An array that is given and written is changed in place."""
        with self._lock:
            engine = self._parts()
            try:
                with engine.lock:
                    return self._run(given)
            except BaseException as error:
                engine.revive(error)
                raise

    def _bind(self, made: _attune.Program, kinds: dict[str, str], arrays: dict[str, Any]) -> dict[str, Any]:
        bound = {}
        for name, value in arrays.items():
            arrays[name] = self._fit(value, name, kinds[name], self._names[name]["written"])
            bound[name] = self._device_array(arrays[name])
            made.bind(name, bound[name])
        self._check_apart(arrays)
        return bound

    def _check_apart(self, arrays: dict[str, Any]) -> None:
        np = _arrays.numpy()
        plain = {k: v for k, v in arrays.items() if not isinstance(v, Foreign)}
        for name in plain:
            for other in plain:
                if (
                    name != other
                    and self._names[name]["written"]
                    and np.shares_memory(plain[name], plain[other], max_work=1)
                ):
                    raise ValueError(f"{name} and {other} share elements; a result has its own")

    def _shares(self) -> bool:
        """Does its device work on the host's memory?"""
        return bool(self._parts().info["backend"] == "host")

    def _run(self, given: dict[str, Any]) -> Any:
        np = _arrays.numpy()
        engine = self._parts()
        arrays, scalars = self._inputs(given)
        kind = self._choose_kind(arrays)
        sizes = self._sizes(arrays, scalars)
        made = self._program(kind, sizes)
        kinds = {row["name"]: TYPES.get(row["type"], "") for row in made.names()}
        on_device = any(isinstance(value, Foreign) for value in arrays.values())
        for name, value in scalars.items():
            made.param(name, value.real, value.imag)
        bound = self._bind(made, kinds, arrays)
        results: dict[str, Any] = {}
        wanted = [name for name in self.outputs if name not in arrays]
        if any(row["shape"] is None for row in made.names() if row["name"] in wanted):
            made.size()
        for row in made.names():
            if row["name"] in wanted:
                name, kind_of = row["name"], kinds[row["name"]]
                results[name] = None if on_device or not self._shares() else np.zeros(row["shape"], kind_of)
                own = results[name] is None or not results[name].size
                bound[name] = (
                    _attune.Array(engine.c, kind_of, row["shape"]) if own else self._device_array(results[name])
                )
                made.bind(name, bound[name])
        made.run()
        self._last = (kind, sizes, {row["name"]: row["shape"] for row in made.names() if row["rank"]}, scalars)
        return self._collect(made, arrays, bound, results, on_device)

    def _collect(
        self,
        made: _attune.Program,
        arrays: dict[str, Any],
        bound: dict[str, Any],
        results: dict[str, Any],
        on_device: bool,
    ) -> Any:
        for name, value in arrays.items():
            if self._names[name]["written"] and not isinstance(value, Foreign) and not self._shares():
                bound[name].get(value)
        for row in made.names():
            name = row["name"]
            if name in results and on_device:
                results[name] = DeviceArray(self._parts(), bound[name])
            elif name in results and results[name] is None:
                results[name] = _arrays.numpy().empty(row["shape"], TYPES[row["type"]])
                bound[name].get(results[name])
        if len(results) == 1:
            return next(iter(results.values()))
        return results or None

    def explain(self) -> str:
        """Which variant runs, from where, and how fast it should be; once it was called."""
        with self._lock:
            kind, sizes = self._last[:2] if self._last else (self._defines.get("USED_FLOAT", "SP"), ())
            return self._program(kind, sizes).explain()

    def tune(
        self,
        budget: float = 60,
        *,
        evaluations: int | None = None,
        strategy: str | None = None,
        beside: Sequence[Any] = (),
        progress: Progress = None,
        **sizes: Any,
    ) -> Tuned:
        """Finds the fastest variant by measurement, for the sizes of the last call or those given (A=(1024, 1024)), and
        remembers it: later calls, in this process and others, take it. budget: seconds. beside: further devices, like
        the kernel's own, which try candidates as well, [1, 2]. progress: True for a line on standard error, or a function that gets a dictionary (doing, done, failed, best_s, shape, elapsed_s); one that
        returns False stops the tuning. What was measured until then is kept."""
        with self._lock:
            if not sizes and self._last is None:
                raise ValueError("tune: call it once before, or give the sizes of its arrays: A=(1024, 1024)")
            kind, _, shapes, scalars = self._last or ("SP", (), {}, {})
            shapes = (
                {**shapes, **{name: tuple(shape) for name, shape in sizes.items()}}
                if self._last
                else {n: tuple(s) for n, s in sizes.items()}
            )
            command = [program(), "tune", "FILE", "--json", "--budget", f"{float(budget):g}s"]
            for name, shape in shapes.items():
                if name not in self._names:
                    raise TypeError(f"tune: there is no array {name!r}; there are {', '.join(self.arrays)}")
                command += ["--size", f"{name}={'x'.join(str(int(n)) for n in shape)}"]
            for name, value in scalars.items():
                text = f"{value.real!r}" if not value.imag else f"{value.real!r}{value.imag:+}i"
                command += ["--param", f"{name}={text}"]
            defines = dict(self._defines, **({"USED_FLOAT": kind} if self._open else {}))
            for name, text in defines.items():
                command += ["--define", f"{name}={text}"]
            command += ["--evals", str(int(evaluations))] if evaluations else []
            command += ["--strategy", strategy] if strategy else []
            others = [str(device_key(one)) for one in beside]
            command += ["--device", ",".join([str(self._parts().info["index"]), *others])]
            found = self._tune_aside(command, progress)
            self._programs.clear()  # new ones look at what is known now
            self._engine = None
            refresh()
            return found

    def _tune_aside(self, command: list[str], progress: Progress) -> Tuned:
        with tempfile.TemporaryDirectory() as folder, told(progress, "tune", _tune_line) as watch:
            command[2] = self._text
            if "\n" in self._text:
                command[2] = os.path.join(
                    folder, "description.xml" if self._text.lstrip().startswith("<") else "description.atn"
                )
                with open(command[2], "w", encoding="utf-8") as file:
                    file.write(self._text)
            with open(os.path.join(folder, "answer.json"), "w+", encoding="utf-8") as answer:
                _run_watched([*command, "--progress"], answer, watch)
                answer.seek(0)
                return Tuned(json.load(answer))

    def __repr__(self) -> str:
        inputs = ", ".join(name for name, row in self._names.items() if row["read"] or not row["rank"])
        label = self._text.strip().splitlines()[0] if "\n" in self._text else self._text
        return f"<attune.Kernel {label!r}: ({inputs}) -> {', '.join(self.outputs)}>"


def kernel(
    description: str | os.PathLike[str],
    *,
    defines: Mapping[str, str] | None = None,
    device: Any = None,
    reproducible: bool = False,
    tolerance: float = 0.0,
) -> Kernel:
    """A kernel or program: the path of a description, the name of one that is shipped, or the text itself (with line
    ends).

    >>> import numpy
    >>> double = kernel('''
    ... kernel double(x: vector T) -> y: vector T
    ...     y[i] = 2 * x[i]
    ... ''', device="host")
    >>> double(x=numpy.arange(4.0))
    array([0., 2., 4., 6.])
    """
    return Kernel(description, defines=defines, device=device, reproducible=reproducible, tolerance=tolerance)
