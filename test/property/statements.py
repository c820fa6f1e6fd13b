"""Single statements: a call of the tables on values that are in scope, and what comes of it.

What shape and dtype a call gives is asked of torch: the sample of a value is a tensor in which a loop's dimension has a
size that no other has, so that dimensions are recognised in results.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from hypothesis import strategies as st

from kopt import language
from kopt.frontend.ops import joining, shapes, slicing
from test.property.operations import calls, parts
from test.property.samples import Refused, evaluated

#: Sizes of loops' dimensions in samples: no sum of a few plain dimensions.
PRIMES = (67, 71, 73, 79, 83, 89)
#: What is larger is no size of a plain dimension: loops' dimensions have been joined.
LARGEST = 22
NUMBERS = (0, 1, 2, 3, -1, 0.5, -2.5)
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.uint8, torch.int8, torch.bool, torch.int64)
_LIMIT = 1e4
#: What takes lanes by their number: a block may have fewer of them than the sample.
_PLACED = frozenset((*shapes.TABLE, *slicing.TABLE, *joining.TABLE))


class Unfit(Exception):
    """A drawn statement that makes no sense here: another is drawn."""


@dataclass(frozen=True)
class Axis:
    """A loop's dimension: its variable, the space that it walks, its size in samples."""

    name: str
    space: int
    prime: int
    #: The number of its blocks where they are all of the space's.
    count: int = 0
    #: The loop whose block it divides, if it is one.
    within: str = ""


Dim = Axis | int


@dataclass(frozen=True, eq=False)
class Value:
    """What a name or an expression stands for."""

    text: str
    dims: tuple[Dim, ...]
    sample: torch.Tensor

    @property
    def dtype(self) -> torch.dtype:
        """Its elements' type."""
        return self.sample.dtype


@dataclass
class Scope:
    """What statements may use."""

    draw: Callable[[Any], Any]
    values: list[Value]
    axes: list[Axis]
    #: Whether 64-bit integers and floats may be computed.
    wide: bool
    #: Loops' variables and what stands for them in samples.
    loops: dict[str, Any] = field(default_factory=dict)

    def pick(self, options: Sequence[Any]) -> Any:
        """One of several."""
        if not options:
            raise Unfit
        return options[self.draw(st.integers(0, len(options) - 1))] if len(options) > 1 else options[0]

    def chance(self, percent: int) -> bool:
        """Whether something less usual happens."""
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def evaluate(self, text: str) -> Any:
        """What torch makes of an expression on the samples. Raises `Unfit` where it refuses."""
        samples = {value.text: value.sample for value in self.values}
        names = {"torch": torch, "F": torch.nn.functional, "hl": language, **self.loops, **samples}
        try:
            return evaluated(text, names)
        except Refused as error:
            raise Unfit from error

    def value(self, text: str, sample: torch.Tensor) -> Value:
        """A value whose dimensions are recognised by their sizes."""
        if not isinstance(sample, torch.Tensor):
            raise Unfit
        axes = {axis.prime: axis for axis in self.axes}
        dims = tuple(axes.get(size, size) for size in sample.shape)
        named = [dim for dim in dims if isinstance(dim, Axis)]
        if len(set(named)) < len(named) or any(isinstance(dim, int) and dim > LARGEST for dim in dims) or len(dims) > 4:
            raise Unfit
        return Value(text, dims, sample)

    def computed(self) -> tuple[str, Value]:
        """A call of the tables: its text, and the value."""
        name = self.pick(tuple(calls()))
        text, given = _filled(self, self.pick(calls()[name]))
        result = self.evaluate(text)
        of = parts(result)
        if isinstance(result, tuple | list):
            number = self.pick(range(len(of)))
            text, of = f"{text}[{number}]", of[number : number + 1]
        value = self.value(text, of[0])
        if not given.sample.numel() and not given.dtype.is_floating_point:
            raise Unfit  # torch looks at the dtype only where there are elements
        if name == "squeeze" and any(isinstance(dim, Axis) for dim in given.dims):
            raise Unfit  # a block of one lane loses its dimension, which no sample has
        lost = set(given.dims) - set(value.dims)
        if not self.fits(value) or (name in _PLACED and any(isinstance(dim, Axis) for dim in lost)):
            raise Unfit
        return text, value

    def fits(self, value: Value) -> bool:
        """Whether its numbers are worth computing with, and of a type that may be used."""
        if value.dtype in (torch.float64, torch.int64) and not self.wide or value.dtype.itemsize > 8:
            return False
        if not value.dtype.is_floating_point:
            return True
        numbers = value.sample.double()
        return bool((numbers.abs() <= _LIMIT).double().mean() > 0.5) or not numbers.numel()


def aligned(value: Value, dims: Sequence[Dim]) -> str:
    """A value's text with ones where ``dims`` has more. Raises `Unfit` where its own are not among them in order."""
    index, left = [], list(value.dims)
    for dim in dims:
        if left and (left[0] == dim or left[0] == 1):
            index.append(":")
            left.pop(0)
        else:
            index.append("None")
    if left:
        raise Unfit
    return value.text if "None" not in index else f"{value.text}[{', '.join(index)}]"


def fitting(scope: Scope, dims: Sequence[Dim]) -> list[str]:
    """The values that broadcast to dimensions, as texts."""
    texts = []
    for value in scope.values:
        try:
            texts.append(aligned(value, dims))
        except Unfit:
            continue
    return texts


def _filled(scope: Scope, pattern: str) -> tuple[str, Value]:
    """A call with its gaps filled, and the first value in it."""
    gaps = {name for _, name, _, _ in string.Formatter().parse(pattern) if name}
    if not gaps & {"x", "plain", "k", "sizes", "tile"}:
        raise Unfit
    x = scope.pick(scope.values[-3:] if scope.chance(60) else scope.values)
    return pattern.format(**{gap: _GAPS[gap](scope, x) for gap in sorted(gaps)}), x


def _dim(scope: Scope, x: Value) -> str:
    return str(scope.draw(st.integers(-len(x.dims), max(len(x.dims) - 1, 0))))


def _plain(x: Value) -> list[int]:
    return [n for n, dim in enumerate(x.dims) if isinstance(dim, int)]


def _number(scope: Scope, x: Value) -> str:
    """A constant, or a number that a loop has."""
    if scope.axes and scope.chance(10):
        return f"{scope.pick(scope.axes).name}.{scope.pick(('begin', 'end', 'id', 'block_size'))}"
    return str(scope.pick(NUMBERS))


def _grouped(scope: Scope, x: Value) -> str:
    """Another shape with the same elements in the same order."""
    sizes = [f"{x.text}.size({n})" if isinstance(dim, Axis) else str(dim) for n, dim in enumerate(x.dims)]
    plain = _plain(x)
    at = scope.pick(plain)
    if at + 1 in plain and scope.chance(50):
        return _tuple([*sizes[:at], str(int(x.dims[at]) * int(x.dims[at + 1])), *sizes[at + 2 :]])
    return _tuple([*sizes[:at], *_divided(scope, int(x.dims[at])), *sizes[at + 1 :]])


def _divided(scope: Scope, size: int) -> list[str]:
    factor = scope.pick([n for n in range(1, size + 1) if size % n == 0])
    return [str(factor), str(size // factor)]


def _widened(scope: Scope, x: Value) -> str:
    sizes = [f"{x.text}.size({n})" if isinstance(d, Axis) else "3" if d == 1 else str(d) for n, d in enumerate(x.dims)]
    return _tuple(["2"] * scope.chance(30) + sizes)


def _tuple(sizes: Sequence[str]) -> str:
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"


def _parts(scope: Scope, x: Value) -> str:
    size = max((int(x.dims[n]) for n in _plain(x)[:1]), default=0)  # pyright: ignore
    first = scope.draw(st.integers(0, size))
    return f"[{first}, {size - first}]"


def _order(scope: Scope, x: Value) -> str:
    return str(scope.draw(st.permutations(list(range(len(x.dims))))))


def _places(scope: Scope, x: Value) -> str:
    """Numbers of lanes: an integer value of its shape."""
    size = min((int(x.dims[n]) for n in _plain(x)), default=0)  # pyright: ignore
    if not size:
        raise Unfit
    like = [v for v in scope.values if v.dims == x.dims]
    whole = [v.text for v in like if not v.dtype.is_floating_point and v.dtype != torch.bool]
    return f"({scope.pick([*whole, f'({x.text} > 0).int()'])} % {size}).long()"


_GAPS: dict[str, Callable[[Scope, Value], str]] = {
    "x": lambda scope, x: x.text,
    "y": lambda scope, x: scope.pick(fitting(scope, x.dims)),
    "z": lambda scope, x: scope.pick(fitting(scope, x.dims)),
    "b": lambda scope, x: f"({scope.pick(fitting(scope, x.dims))} > {scope.pick((0, 1))})",
    "c": _number,
    "d": _dim,
    "e": _dim,
    "p": lambda scope, x: str(scope.pick(_plain(x))),
    "k": lambda scope, x: str(scope.pick((1, 2, 3))),
    "dtype": lambda scope, x: str(scope.pick(DTYPES)),
    "last": lambda scope, x: str(scope.pick([d for d in x.dims[-1:] if isinstance(d, int)])),
    "grouped": _grouped,
    "widened": _widened,
    "times": lambda scope, x: str([1 if isinstance(dim, Axis) else scope.pick((1, 2)) for dim in x.dims]),
    "order": _order,
    "pads": lambda scope, x: f"({scope.pick((0, 1))}, {scope.pick((0, 2))})",
    "parts": _parts,
    "factors": lambda scope, x: f"({', '.join(_divided(scope, int(scope.pick([x.dims[n] for n in _plain(x)]))))})",
    "plain": lambda scope, x: f"({x.text}.size(0), 3)" if x.dims else "(3,)",
    "places": _places,
    "tile": lambda scope, x: scope.pick(scope.axes).name,
    "sizes": lambda scope, x: f"[{', '.join(dim.name if isinstance(dim, Axis) else str(dim) for dim in x.dims)}]",
}
