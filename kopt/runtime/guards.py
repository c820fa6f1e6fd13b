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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from types import FunctionType
from typing import Any

from kopt.open_extents import OpenExtent
from kopt.runtime.admission import arrays_in
from kopt.runtime.cache import Identity, names_read, read_key, value_key
from kopt.runtime.devices import environment_target
from kopt.runtime.open_guards import open_conditions
from kopt.runtime.run_time_scalars import Path, ScalarArgument
from kopt.runtime.sharing import sharing, span
from kopt.runtime.users_code import is_users
from kopt.specs import TensorSpec, framework_of, stored

#: What a guard gives for a call that it does not know.
MISS = object()

#: Called with a kernel, the arguments and the keyword arguments of a call.
Guard = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

#: Guards that a kernel keeps. A call tries them in turn, the one that held last first.
_MOST = 32


def before(guard: Guard, guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """A kernel's guards with one put first; the last one goes where there are too many."""
    return (guard, *(other for other in guards if other is not guard))[:_MOST]


@dataclass
class Compiled:
    """What a guard leads to: what was compiled for a call, for whoever has its arrays.

    ``paths`` say where the arrays are in the values of the parameters, ``hidden`` those that follow; ``written`` are
    the numbers of those that change. ``checks`` are values that the import read: ``holds`` of the arrays says whether
    they are the same, ``place`` where a name had it. ``numbers`` are the paths of those that any call may give, and
    ``open`` the specs of the arrays that have extents which any call may give.
    ``run`` is called with the arrays.
    """

    paths: Sequence[Path | ScalarArgument]
    hidden: Sequence[Any]
    written: Sequence[int]
    checks: Sequence[Any]
    numbers: frozenset[Path]
    run: Callable[..., Any]
    open: Mapping[Path, TensorSpec] = field(default_factory=dict)


def make_guard(
    kernel: Any, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], compiled: Compiled
) -> Guard | None:
    """The guard for calls like one that was admitted and has run; None where no text can tell such calls."""
    text = _Text(compiled.numbers, compiled.open)
    try:
        text.untraced()
        text.call(signature, args, kwargs)
        text.arrays(compiled)
        text.surroundings(kernel, compiled)
        text.checks(compiled)
    except _NoGuard:
        return None
    make = text.maker(len(compiled.paths))
    holds = make(lambda *arrays: True)(kernel, args, kwargs)
    return None if holds is MISS else make(compiled.run)


class _NoGuard(Exception):
    """The call has something that only the long way knows."""


#: What of an array a guard compares: a condition on ``{x}`` and numbered constants, and these for an array like one.
Property = Callable[[Any], tuple[Any, ...]]


def _type(value: Any) -> tuple[Any, ...]:
    return "type({x}) is {0}", type(value)


def _shape(array: Any) -> tuple[Any, ...]:
    return "{x}.shape == {0}", array.shape


def _memory(tensor: Any) -> tuple[Any, ...]:
    """The tensor's storage is there and reaches as far as the tensor; sparse ones and others that have none raise."""
    if span(tensor) is None:
        raise _NoGuard
    condition = "(s := {x}.untyped_storage()).data_ptr() and s.nbytes() >= {x}.storage_offset() * {0} + {1}"
    return condition, tensor.itemsize, _extent(tensor)[1]


#: By framework; the first rules out most others. The rest of torch's is compared by torch, all tensors at once.
_PROPERTIES: dict[str, tuple[Property, ...]] = {
    "torch": (_type, lambda tensor: ("not {x}.is_nested",)),  # torch's guards abort at nested ones
    "jax": (
        _type,
        # The type of an array in JAX, of which there mostly is one: shape and dtype, and is faster to ask for.
        lambda array: ("({x}.aval is {0} or {x}.aval == {0})", array.aval),
        lambda array: ("({x}.sharding is {0} or {x}.sharding == {0})", array.sharding),
        lambda array: ("not {x}.is_deleted()",),
    ),
    "numpy": (
        _type,
        _shape,
        lambda array: ("{x}.dtype == {0}", array.dtype),
        lambda array: ("{x}.strides == {0}", array.strides),
    ),
}
#: And of those that are written.
_WRITTEN: dict[str, tuple[Property, ...]] = {
    "torch": (lambda tensor: ("{x}.is_inference() is {0}", tensor.is_inference()),),
    "numpy": (lambda array: ("{x}.flags.writeable",),),
}
#: The classes of arrays of which that says all; others have their elements in ways of their own, or none yet.
_PLAIN = {
    "torch": r"torch\.(Tensor|nn\.parameter\.Parameter)",
    "jax": r"jaxlib\..*ArrayImpl",
    "numpy": r"numpy\.ndarray",
}

_ADDRESSES = {"torch": "{x}.data_ptr()", "numpy": "{x}.__array_interface__['data'][0]"}

_SCALARS = (bool, int, str, bytes, complex, type(None))


def _extent(array: Any) -> tuple[int, int]:
    """Where an array's memory begins and ends, in bytes from its first element."""
    first, end = span(array) or (0, 0)
    return first - _address(array), end - _address(array)


def _address(array: Any) -> int:
    return array.data_ptr() if framework_of(array) == "torch" else array.__array_interface__["data"][0]


@dataclass
class _Text:
    """A guard's text under way: its lines, the constants that they name, and the arrays by their paths."""

    numbers: frozenset[Path] = frozenset()
    open: Mapping[Path, TensorSpec] = field(default_factory=dict)
    extents: dict[OpenExtent, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=lambda: {"MISS": MISS})
    found: dict[Path, tuple[str, Any]] = field(default_factory=dict)
    given: list[tuple[str, Any]] = field(default_factory=list)
    known: set[Any] = field(default_factory=set)
    tensors: list[tuple[str, Any, TensorSpec | None]] = field(default_factory=list)

    def constant(self, value: Any) -> str:
        """A name for a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def require(self, condition: str, *values: Any, x: str = "") -> None:
        """A condition on an expression ``x`` and constants."""
        self.lines.append(f"if not ({condition.format(*map(self.constant, values), x=x)}): return MISS")

    def maker(self, count: int) -> Callable[[Callable[..., Any]], Guard]:
        """Makes the guard that calls a function with the first ``count`` arrays."""
        arrays = ", ".join(x for x, _ in self.given[:count])
        lines = [f"def make(run, {', '.join(self.names)}):", " def guard(kernel, args, kwargs):", "  try:"]
        lines += [f"   {line}" for line in self.lines]
        lines += ["  except Exception:", "   return MISS", f"  return run({arrays})", " return guard"]
        make = _defined("\n".join(lines))
        return lambda run: make(run, *self.names.values())

    def untraced(self) -> None:
        """Conditions that come first: while torch traces, the others would be seen."""
        torch = sys.modules["torch"]
        tracing, stack = torch._C._is_tracing, torch._C._functorch.peek_interpreter_stack
        self.require("not {0}() and not {1}() and not {2}()", tracing, stack, torch._C._len_torch_dispatch_stack)
        self.require("{0}._current_level < 0", torch.autograd.forward_ad)

    # arguments

    def call(self, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Conditions on how many arguments there are, and on each."""
        self.require(f"len(args) == {len(args)}")
        self.require(f"len(kwargs) == {len(kwargs)}" if kwargs else "not kwargs")
        places = [f"x{number}" for number in range(len(args))]
        named = {name: f"x{number}" for number, name in enumerate(kwargs, len(args))}
        self.lines += [f"{', '.join(places)}, = args"] if args else []
        self.lines += [f"{x} = kwargs[{self.constant(name)}]" for name, x in named.items()]
        found, values = signature.bind(*places, **named).arguments, signature.bind(*args, **kwargs).arguments
        for name, x in found.items():
            self._argument((name,), x, values[name])
        for name, parameter in signature.parameters.items():
            default = parameter.default
            if name not in found and default is not inspect.Parameter.empty and not _is_frozen(default):
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
            self._array(x, value, framework, self.open.get(path))
            self.found[path] = x, value
        elif path in self.numbers:
            self.require("type({x}) is {0}", type(value), x=x)
            self.found[path] = x, value
        elif type(value) in _SCALARS:
            self.require("type({x}) is {0} and {x} == {1}", type(value), value, x=x)
        elif type(value) is float:
            self.require("type({x}) is {0} and {x}.hex() == {1}", float, value.hex(), x=x)
        elif any(arrays_in("", value)):
            raise _NoGuard
        else:
            self.require("{0}({x}) == {1}", value_key, value_key(value), x=x)

    def _array(self, x: str, value: Any, framework: str, open: TensorSpec | None = None) -> None:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        if not re.fullmatch(_PLAIN[framework], kind) or stored(value) is not value:
            raise _NoGuard
        if framework == "torch":
            self.tensors.append((x, value, open))
        elif open is not None:
            raise _NoGuard
        for compared in _PROPERTIES[framework]:
            self.require(*compared(value), x=x)

    def arrays(self, compiled: Compiled) -> None:
        """Conditions on the arrays that the kernel takes: hidden ones, those that it writes, and where they meet."""
        if compiled.open and compiled.written:
            raise _NoGuard  # where arrays begin and end differs from call to call
        tensors = [self.found.get(path) for path in compiled.paths if isinstance(path, tuple)]
        if None in tensors:
            raise _NoGuard
        hidden = [(self.constant(value), value) for value in compiled.hidden]
        for x, value in hidden:
            if (framework := framework_of(value)) is not None:
                self._array(x, value, framework)
        self._tensors()
        like = tensors[0] if tensors else None
        self.given = [
            self._scalar(path, like) if isinstance(path, ScalarArgument) else self.found[path]
            for path in compiled.paths
        ]
        self.given += hidden
        for number in compiled.written:
            x, value = self.given[number]
            for compared in _WRITTEN.get(framework_of(value) or "", ()):
                self.require(*compared(value), x=x)
        self._overlaps(frozenset(compiled.written))

    def _tensors(self) -> None:
        """Conditions on tensors of torch. Its own guards compare shapes, strides, dtypes, devices, whether grad is
        required, and dispatch keys, which say whether a tensor is negated when read; memory is looked at here."""
        if not self.tensors:
            return
        first: dict[int, str] = {}
        for x, value, _ in self.tensors:
            if first.setdefault(id(value), x) != x:  # torch's guards take each tensor once
                self.require(f"{{x}} is {first[id(value)]}", x=x)
        memory = [
            [_memory(value)] if open is None else [*open_conditions(value, open.shape, self.extents)]
            for _, value, open in self.tensors
        ]
        own = [one for one in self.tensors if one[0] in first.values()]
        shapes = [[*value.shape] if open is None else [*map(_fixed, open.shape)] for _, value, open in own]
        strides = [[*value.stride()] if open is None else [None] * value.dim() for _, value, open in own]
        of_torch = sys.modules["torch"]._C._dynamo.guards.TensorGuards
        guards = of_torch(*(value for _, value, _ in own), dynamic_dims_sizes=shapes, dynamic_dims_strides=strides)
        self.require(f"{{0}}({', '.join(x for x, _, _ in own)})", guards.check)
        for (x, _, _), conditions in zip(self.tensors, memory, strict=True):
            for condition in conditions:
                self.require(*condition, x=x)

    def _scalar(self, argument: ScalarArgument, like: tuple[str, Any] | None) -> tuple[str, Any]:
        """An argument that is computed of numbers: the text of it, and no array that shares memory with others."""
        paths = list(argument.paths)
        if not all(path in self.found for path in paths):
            raise _NoGuard
        make = argument.maker(paths, None if like is None else like[1])
        x = f"s{len(self.lines)}"
        self.lines.append(f"{x} = {self.constant(make)}({', '.join(self.found[path][0] for path in paths)})")
        return x, None

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

    def surroundings(self, kernel: Any, compiled: Compiled) -> None:
        """Conditions on the state of torch, on the kernel's target, and on its function."""
        torch = sys.modules["torch"]
        casts = torch._C._is_any_autocast_enabled
        states = [torch._C._get_float32_matmul_precision, torch.get_default_dtype, casts]
        if any(framework_of(value) == "torch" and value.requires_grad for _, value in self.given):
            states.append(torch.is_grad_enabled)
        if compiled.written:
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
        elif isinstance(key := read_key(value), Identity):
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
        if absent := names - space.keys():
            self.require("{0}.isdisjoint({1})", space.keys(), absent)

    def _cell(self, cell: Any) -> None:
        try:
            value = cell.cell_contents
        except ValueError:
            raise _NoGuard from None
        self._read(f"{self.constant(cell)}.cell_contents", value)

    def checks(self, compiled: Compiled) -> None:
        """What the import read, where no condition says it already."""
        rest = [check for check in compiled.checks if check.place not in self.known]
        if rest:
            arrays = "".join(f"{x}, " for x, _ in self.given[: len(compiled.paths)])
            self.require(f"{{0}}(({arrays}))", lambda tensors: all(check.holds(tensors) for check in rest))


def _fixed(extent: int) -> int | None:
    """An extent as torch's guards take it: None where it is open."""
    return None if isinstance(extent, OpenExtent) else extent


def _is_frozen(value: Any) -> bool:
    """Whether a value cannot change, so that it is the same for as long as it is the same object."""
    if type(value) is tuple:
        return all(map(_is_frozen, value))
    return type(value) in (*_SCALARS, float)


@lru_cache(maxsize=1024)
def _defined(text: str) -> Callable[..., Guard]:
    """The function that a text defines, of the constants to a guard; calls of other shapes have the same text."""
    names: dict[str, Any] = {}
    exec(compile(text, "<kopt guard>", "exec"), names)
    return names["make"]
