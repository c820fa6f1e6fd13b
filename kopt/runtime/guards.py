"""Guards: the way from a call to the emitted function, where a call like it was admitted before.

A guard is a function whose text is made for one signature. It compares what admission, the cache's key and the checks
of an executable looked at with what they found: the types of arguments, of arrays the dtype, shape, strides, device and
memory, of callables their code and what they read, the state of torch. A call that differs in any of these misses, and
goes the long way, which says what is wrong with it or compiles. The text holds names of constants and nothing else.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from types import CodeType, FunctionType
from typing import Any

from kopt.runtime.admission import arrays_in
from kopt.runtime.cache import Same, names_read, read_key, value_key
from kopt.runtime.devices import environment_target
from kopt.runtime.sharing import sharing, span
from kopt.runtime.users_code import is_users
from kopt.specs import framework_of, stored

#: What a guard gives for a call that it does not know.
MISS = object()

#: Called with a kernel, the arguments and the keyword arguments of a call.
Guard = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
Path = tuple[Any, ...]

#: Guards that a kernel keeps. A call tries them in turn, the one that held last first.
_MOST = 32


def before(guard: Guard, guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """A kernel's guards with one put first; the last one goes where there are too many."""
    return (guard, *(other for other in guards if other is not guard))[:_MOST]


@dataclass
class Launch:
    """What a guard leads to: what was compiled for a call, for whoever has its arrays.

    ``paths`` say where the arrays are in the values of the parameters, ``hidden`` those that follow; ``written`` are
    the numbers of those that change. ``checks`` are values that the import read: ``holds`` of the arrays says whether
    they are the same, ``place`` where a name had it. ``run`` is called with the arrays.
    """

    paths: Sequence[Path]
    hidden: Sequence[Any]
    written: Sequence[int]
    checks: Sequence[Any]
    run: Callable[..., Any]


def make_guard(
    kernel: Any, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], launch: Launch
) -> Guard | None:
    """The guard for calls like one that was admitted and has run; None where no text can tell such calls."""
    text = _Text()
    try:
        text.untraced()
        text.call(signature, args, kwargs)
        text.arrays(launch)
        text.surroundings(kernel, launch)
        text.checks(launch)
    except _NoGuard:
        return None
    probe = text.function("True", launch)
    return text.function("run({})", launch) if probe(kernel, args, kwargs) is True else None


class _NoGuard(Exception):
    """The call has something that only the long way knows."""


#: A condition on ``{x}`` and numbered constants, and the constants' values for an array.
Property = tuple[str, Callable[[Any], tuple[Any, ...]]]

_TYPE: Property = ("type({x}) is {0}", lambda value: (type(value),))
_SHAPE: Property = ("{x}.shape == {0}", lambda array: (array.shape,))
_DTYPE: Property = ("{x}.dtype == {0}", lambda array: (array.dtype,))

#: What guards compare of arrays, by framework; the first rules out most others.
_PROPERTIES: dict[str, tuple[Property, ...]] = {
    "torch": (
        _TYPE,
        _SHAPE,
        _DTYPE,
        ("{x}.stride() == {0}", lambda tensor: (tensor.stride(),)),
        ("{x}.device == {0}", lambda tensor: (tensor.device,)),
        ("{x}.requires_grad is {0}", lambda tensor: (tensor.requires_grad,)),
        ("{x}.layout is {0}", lambda tensor: (tensor.layout,)),
        ("not {x}.is_neg()", lambda tensor: ()),
        (
            "{x}.untyped_storage().nbytes() >= {x}.storage_offset() * {0} + {1}",
            lambda tensor: (tensor.itemsize, _extent(tensor)[1]),
        ),
    ),
    "jax": (
        _TYPE,
        _SHAPE,
        _DTYPE,
        ("{x}.sharding == {0}", lambda array: (array.sharding,)),
        ("not {x}.is_deleted()", lambda array: ()),
    ),
    "numpy": (_TYPE, _SHAPE, _DTYPE, ("{x}.strides == {0}", lambda array: (array.strides,))),
}
#: And of those that are written.
_WRITTEN: dict[str, tuple[Property, ...]] = {
    "torch": (("{x}.is_inference() is {0}", lambda tensor: (tensor.is_inference(),)),),
    "numpy": (("{x}.flags.writeable", lambda array: ()),),
}
#: The classes of arrays of which that says all; others have their elements in ways of their own, or none yet.
_PLAIN = {"torch": r"torch\.(Tensor|nn\.parameter\.Parameter)", "jax": r"jaxlib\..*ArrayImpl", "numpy": r"numpy\.ndarray"}

_ADDRESSES = {"torch": "{x}.data_ptr()", "numpy": "{x}.__array_interface__['data'][0]"}

_SCALARS = (bool, int, str, bytes, complex, type(None))


def _extent(array: Any) -> tuple[int, int]:
    """Where an array's memory begins and ends, in bytes from its first element; `_NoGuard` where it has no address."""
    reach = span(array)
    if reach is None:
        return 0, 0
    start = _address(array)
    return reach[0] - start, reach[1] - start


def _address(array: Any) -> int:
    return array.data_ptr() if framework_of(array) == "torch" else array.__array_interface__["data"][0]


@dataclass
class _Text:
    """A guard's text under way: its lines, the constants that they name, and the arrays by their paths."""

    lines: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=lambda: {"MISS": MISS})
    found: dict[Path, tuple[str, Any]] = field(default_factory=dict)
    given: list[tuple[str, Any]] = field(default_factory=list)
    known: set[Any] = field(default_factory=set)

    def constant(self, value: Any) -> str:
        """A name for a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def require(self, condition: str, *values: Any, x: str = "") -> None:
        """A condition on an expression ``x`` and constants."""
        self.lines.append(f"if not ({condition.format(*map(self.constant, values), x=x)}): return MISS")

    def function(self, result: str, launch: Launch) -> Guard:
        """The guard, with the expression of what it gives."""
        arrays = ", ".join(x for x, _ in self.given[: len(launch.paths)])
        lines = ["def guard(kernel, args, kwargs):", " try:", *(f"  {line}" for line in self.lines)]
        lines += [" except Exception:", "  return MISS", f" return {result.format(arrays)}"]
        names = {**self.names, "run": launch.run}
        exec(_compiled("\n".join(lines)), names)
        return names["guard"]

    def untraced(self) -> None:
        """Conditions that come first: while torch traces, the others would be seen."""
        torch = sys.modules["torch"]
        tracing, stack = torch._C._is_tracing, torch._C._functorch.peek_interpreter_stack
        self.require("not {0}() and not {1}() and not {2}()", tracing, stack, torch._C._len_torch_dispatch_stack)
        self.require("{0}._current_level < 0", torch.autograd.forward_ad)

    # arguments

    def call(self, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Conditions on how many arguments there are, and on each."""
        self.require("len(args) == {0} and len(kwargs) == {1}", len(args), len(kwargs))
        places = [f"x{number}" for number in range(len(args) + len(kwargs))]
        self.lines += [f"{place} = args[{number}]" for number, place in enumerate(places[: len(args)])]
        self.lines += [f"{x} = kwargs[{self.constant(name)}]" for x, name in zip(places[len(args) :], kwargs)]
        bound = signature.bind(*places[: len(args)], **dict(zip(kwargs, places[len(args) :], strict=True)))
        values = signature.bind(*args, **kwargs)
        for name, x in bound.arguments.items():
            self._argument((name,), x, values.arguments[name])
        for name in signature.parameters.keys() - bound.arguments.keys():
            default = signature.parameters[name].default
            if default is not inspect.Parameter.empty and not _is_frozen(default):
                self._argument((name,), self.constant(default), default)

    def _argument(self, path: Path, x: Any, value: Any) -> None:
        if isinstance(x, (tuple, dict)):  # of ``*args`` and ``**kwargs``
            for key in range(len(x)) if isinstance(x, tuple) else x:
                self._argument((*path, key), x[key], value[key])
        elif isinstance(value, (tuple, list)):
            self.require("type({x}) is {0} and len({x}) == {1}", type(value), len(value), x=x)
            for number, item in enumerate(value):
                self._argument((*path, number), f"{x}[{number}]", item)
        elif (framework := framework_of(value)) is not None:
            self._array(x, value, framework)
            self.found[path] = x, value
        elif type(value) in _SCALARS:
            self.require("type({x}) is {0} and {x} == {1}", type(value), value, x=x)
        elif type(value) is float:
            self.require("type({x}) is {0} and {x}.hex() == {1}", float, value.hex(), x=x)
        elif any(arrays_in("", value)):
            raise _NoGuard
        else:
            self.require("{0}({x}) == {1}", value_key, value_key(value), x=x)

    def _array(self, x: str, value: Any, framework: str) -> None:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        if not re.fullmatch(_PLAIN[framework], kind) or stored(value) is not value:
            raise _NoGuard
        for condition, constants in _PROPERTIES[framework]:
            self.require(condition, *constants(value), x=x)

    def arrays(self, launch: Launch) -> None:
        """Conditions on the arrays that the kernel takes: hidden ones, those that it writes, and where they meet."""
        if not all(path in self.found for path in launch.paths):
            raise _NoGuard
        self.given = [self.found[path] for path in launch.paths]
        for value in launch.hidden:
            framework, x = framework_of(value), self.constant(value)
            if framework is not None:
                self._array(x, value, framework)
            self.given.append((x, value))
        for number in launch.written:
            x, value = self.given[number]
            for condition, constants in _WRITTEN.get(framework_of(value) or "", ()):
                self.require(condition, *constants(value), x=x)
        self._overlaps(frozenset(launch.written))

    def _overlaps(self, written: frozenset[int]) -> None:
        """Arrays that shared memory still do, at the same distance; no other one shares any with what is written."""
        values = [value for _, value in self.given]
        shared = {(i, j) for i, j, _ in sharing(values)}
        placed = [number for number, value in enumerate(values) if span(value) is not None]
        pairs = [(i, j) for i, j in combinations(placed, 2) if (i, j) in shared or not written.isdisjoint((i, j))]
        for number in sorted({number for pair in pairs for number in pair}):
            x, value = self.given[number]
            self.lines.append(f"p{number} = {_ADDRESSES[framework_of(value) or ''].format(x=x)}")
        for i, j in pairs:
            if (i, j) in shared:
                self.require(f"p{j} - p{i} == {{0}}", _address(values[j]) - _address(values[i]))
            else:
                (first, end), (start, stop) = _extent(values[i]), _extent(values[j])
                self.require(f"p{i} - p{j} <= {{0}} or p{j} - p{i} <= {{1}}", start - end, first - stop)

    # surroundings

    def surroundings(self, kernel: Any, launch: Launch) -> None:
        """Conditions on the state of torch, on the kernel's target, and on its function."""
        torch = sys.modules["torch"]
        states = [torch.get_float32_matmul_precision]
        if any(framework_of(value) == "torch" and value.requires_grad for _, value in self.given):
            states.append(torch.is_grad_enabled)
        if launch.written:
            states.append(torch.is_inference_mode_enabled)
        for state in states:
            self.require("{0}() == {1}", state, state())
        self.require("kernel.target is {0}", kernel.target)
        if kernel.target is None:
            self.require("{0}() == {1}", environment_target, environment_target())
        self._read("kernel.fn", kernel.fn)

    def _read(self, x: str, value: Any) -> None:
        """Conditions under which a value that functions read is known by the same key."""
        if _is_frozen(value):
            self.require("{x} is {0}", value, x=x)
        elif isinstance(value, FunctionType) and is_users(value):
            self.require("{x} is {0}", value, x=x)
            self._function(value)
        elif isinstance(key := read_key(value), Same):
            self.require("{0}() is {x} is not None", key.value, x=x)
        else:
            self.require("{0}({x}) == {1}", read_key, key, x=x)

    def _function(self, function: FunctionType) -> None:
        """Conditions under which a function still does the same: its code, and all that it reads."""
        if function in self.known:
            return
        self.known.add(function)
        x, names = self.constant(function), names_read(function.__code__)
        self.require(f"{x}.__code__ is {{0}}", function.__code__)
        self._read(f"{x}.__defaults__", function.__defaults__)
        self._read(f"{x}.__kwdefaults__", function.__kwdefaults__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.known.add((id(cell), name))
            self._cell(cell)
        space = function.__globals__
        globals_ = self.constant(space)
        for name in sorted(names & space.keys()):
            self.known.add((id(space), name))
            self._read(f"{globals_}[{self.constant(name)}]", space[name])
        self.require("{0}.isdisjoint({1})", space.keys(), names - space.keys())

    def _cell(self, cell: Any) -> None:
        try:
            value = cell.cell_contents
        except ValueError:
            raise _NoGuard from None
        self._read(f"{self.constant(cell)}.cell_contents", value)

    def checks(self, launch: Launch) -> None:
        """What the import read, where no condition says it already."""
        rest = [check for check in launch.checks if check.place not in self.known]
        if rest:
            arrays = "".join(f"{x}, " for x, _ in self.given[: len(launch.paths)])
            self.require(f"{{0}}(({arrays}))", lambda tensors: all(check.holds(tensors) for check in rest))


def _is_frozen(value: Any) -> bool:
    """Whether a value cannot change, so that it is the same for as long as it is the same object."""
    if type(value) is tuple:
        return all(map(_is_frozen, value))
    return type(value) in (*_SCALARS, float)


@lru_cache(maxsize=1024)
def _compiled(text: str) -> CodeType:
    """The code of a guard; calls of other shapes have the same text."""
    return compile(text, "<kopt guard>", "exec")
