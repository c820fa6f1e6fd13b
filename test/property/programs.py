"""Random kernels: nests of loops around random calls, as a module's text that runs as it is.

The text has ``kernel``, ``inputs()`` and a main that runs both on the target that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from hypothesis import reject
from hypothesis import strategies as st

from test.property.memory import Array, Point, Ways, anywhere, domain, load, store, view
from test.property.merging import merged
from test.property.operations import calls
from test.property.owned import Owned, keep, own
from test.property.samples import sample_tile
from test.property.statements import PRIMES, Axis, Dim, Scope, Unfit, Value, aligned

_SIZES = (7, 5, 12, 3, 9, 17, 1, 4, 8, 11, 6, 2, 13, 1, 5, 0)
_BLOCKS = (4, 8, 2, 16, 1)
#: How often what is innermost in a nest may run: more shows nothing new.
_MOST_CELLS = 24
_HEAD = """\
import sys

import torch
import torch.nn.functional as F

import kopt
import kopt.language as hl


SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-6, -1e-6, 1e4, -1e4, 0.5, 1.0, -1.0]


def ends(dtype):
    # The largest, the smallest normal and the smallest number of a float.
    info = torch.finfo(dtype)
    return [info.max, info.min, info.tiny, info.smallest_normal * info.eps, -info.tiny]


def marked(x, numbers):
    # Special values in some places of some of the arrays.
    if x.dtype == torch.bool or torch.rand((), generator=numbers) < 0.6:
        return x
    # The lowest integer itself, divided by -1, ends torch's process.
    floats = x.dtype.is_floating_point
    odd = SPECIAL + ends(x.dtype) if floats else [torch.iinfo(x.dtype).max, torch.iinfo(x.dtype).min + 1]
    picked = torch.tensor(odd)[torch.randint(len(odd), x.shape, generator=numbers)]
    return torch.where(torch.rand(x.shape, generator=numbers) < 0.15, picked.to(x.dtype), x)


def inputs():
    numbers = torch.Generator().manual_seed({seed})
    return [
{values}    ]


def kernel({names}):
{body}

if __name__ == "__main__":
    print(kopt.kernel(kernel).on(sys.argv[1])(*inputs()))
"""


class Program:
    """A kernel being written."""

    def __init__(self, draw: Callable[[Any], Any], wide: bool):
        self.draw, self.wide = draw, wide
        self.lines: list[str] = []
        self.depth = 1
        self.count: dict[str, int] = {}
        self.spaces = [_SIZES[draw(st.integers(0, len(_SIZES) - 1))] for _ in range(3)]
        self.arrays: list[Array] = []
        self.outputs: list[Array] = []
        self.views: list[Array] = []
        #: What the cells of the loops that are open have for themselves.
        self.owned: list[Owned] = []
        #: Whether all elements of what is stored here are stored, by the loops that are open.
        self.covers = [True]
        #: How often what is written here runs, by the loops that are open.
        self.cells = [1]

    def text(self) -> str:
        """The whole module."""
        scope = self.scope()
        inputs = [self._input(scope) for _ in range(scope.draw(st.integers(1, 3)))]
        self.arrays += inputs
        for _ in range(1 + scope.chance(30)):
            if scope.chance(20):
                self._view(scope)
            self._nest(self.scope(), top=True)
            self.arrays = [*inputs, *self.outputs, *self.views]
        declared = [f"    {array.declaration}" for array in self.outputs]
        results = f"    return ({', '.join(array.name for array in self.outputs)},)\n"
        return _HEAD.format(
            seed=scope.draw(st.integers(0, 9999)),
            values="".join(f"        {array.declaration},\n" for array in inputs),
            names=", ".join(array.name for array in inputs),
            body="\n".join([*declared, *self.lines, results]),
        )

    def scope(self) -> Scope:
        """An empty one."""
        return Scope(self.draw, [], [], self.wide)

    def fresh(self, prefix: str) -> str:
        """A name that nothing has."""
        self.count[prefix] = self.count.get(prefix, 0) + 1
        return f"{prefix}{self.count[prefix] - 1}"

    def line(self, text: str) -> None:
        """One more line of the kernel."""
        self.lines.append("    " * self.depth + text)

    def assign(self, scope: Scope, text: str, name: str = "") -> Value:
        """A statement that names a value."""
        value = scope.value(name or self.fresh("v"), scope.evaluate(text))
        self.line(f"{value.text} = {text}")
        scope.values.append(value)
        return value

    def _input(self, scope: Scope) -> Array:
        shapes = ((0, 1), (0,), (1, 0), (0, 1, 2), (1,), (0, 2), (2, 1), (1, 2))
        spaces = scope.pick(shapes)
        dtypes = (torch.float32, torch.int32, torch.bfloat16, torch.float16, torch.uint8, torch.int8, torch.bool)
        dtype = scope.pick((*dtypes, torch.int64) if self.wide else dtypes)
        name = self.fresh("a")
        sizes = tuple(1 if scope.chance(5) else space for space in spaces)
        sizes = tuple(spaces) if len(sizes) == 1 else sizes
        shape = [self.spaces[space] for space in spaces]
        return Array(name, tuple(spaces), shape, dtype, f"marked({domain(dtype, shape)}, numbers)", name)

    def _view(self, scope: Scope) -> None:
        text, array = view(scope, self.fresh("w"), scope.pick(self.arrays))
        self.line(f"{array.name} = {text}")
        self.views.append(array)
        self.arrays.append(array)

    # loops

    def _nest(self, scope: Scope, top: bool) -> None:
        """A loop over one or two spaces, and what is carried through it."""
        carried = [] if top else [self._carried(scope) for _ in range(scope.pick((1, 0, 2)))]
        inner = Scope(scope.draw, list(scope.values), list(scope.axes), scope.wide, dict(scope.loops))
        owned = len(self.owned)
        self._open(inner, top)
        if top and scope.chance(20):
            self._own(inner)
        self._body(inner, nested=2 if top else len(inner.loops) < 3)
        for value in carried:
            self._combine(inner, value)
        if top or scope.chance(40):
            self._store(inner)
        del self.owned[owned:]
        self.depth -= 1
        self.covers.pop()
        self.cells.pop()

    def _open(self, scope: Scope, top: bool) -> None:
        """The head of a loop."""
        spaces = scope.pick(((0,), (0, 1), (1,), (1, 2), (2,)) if top else ((1,), (0,), (2,)))
        covers = self.covers[-1]
        self.cells.append(self.cells[-1])
        if len(spaces) == 1 and self.spaces[spaces[0]] * self.cells[-1] <= _MOST_CELLS and scope.chance(15):
            name = self.fresh("g")
            self.line(f"for {name} in hl.grid({self.spaces[spaces[0]]}):")
            scope.loops[name] = Point(name, spaces[0])
            self.cells[-1] *= self.spaces[spaces[0]]
        elif len(spaces) == 1:
            bounds, whole = self._bounds(scope, spaces[0])
            block = self._block(scope, spaces[0])
            axis = self._axis(scope, spaces[0], block, whole, bounds)
            self.line(f"for {axis.name} in hl.tile({bounds}, block_size={block}):")
            covers = covers and whole
        else:
            blocks = [self._block(scope, space) for space in spaces]
            axes = [self._axis(scope, space, block, True) for space, block in zip(spaces, blocks, strict=True)]
            sizes = [self.spaces[space] for space in spaces]
            self.line(f"for {', '.join(axis.name for axis in axes)} in hl.tile({sizes}, block_size={blocks}):")
        self.depth += 1
        self.covers.append(covers)

    def _block(self, scope: Scope, space: int) -> int:
        """A block size, large where there are many cells already."""
        extent, outer = self.spaces[space], self.cells[-1]
        few = [block for block in _BLOCKS if -(-extent // block) * outer <= _MOST_CELLS]
        block = scope.pick(few or [max(_BLOCKS)])
        self.cells[-1] *= -(-extent // block)
        return block

    def _axis(self, scope: Scope, space: int, block: int, whole: bool, bounds: str = "") -> Axis:
        extent = self.spaces[space]
        prime = next(prime for prime in PRIMES if all(axis.prime != prime for axis in scope.axes))
        within = next((axis.name for axis in scope.axes if bounds == f"{axis.name}.begin, {axis.name}.end"), "")
        axis = Axis(self.fresh("i"), space, prime, -(-extent // block) if whole else 0, within)
        scope.axes.append(axis)
        scope.loops[axis.name] = sample_tile(prime, block)
        return axis

    def _bounds(self, scope: Scope, space: int) -> tuple[str, bool]:
        """From where to where a loop goes, and whether that is everything."""
        extent = self.spaces[space]
        outer = [axis.name for axis in scope.axes if axis.space == space]
        numbers = [v.text for v in scope.values if not v.dims and v.dtype in (torch.int32, torch.int64)]
        kind = scope.pick(("whole", "whole", "part", "outer", "number"))
        if kind == "part":
            first = scope.draw(st.integers(0, extent))
            return f"{first}, {scope.draw(st.integers(first, extent))}", False
        if kind == "outer" and outer:
            name = scope.pick(outer)
            return scope.pick((f"{name}.begin, {name}.end", f"0, {name}.end", f"{name}.begin, {extent}")), False
        if kind == "number" and numbers:
            return self.assign(scope, f"{scope.pick(numbers)}.clamp(0, {extent})").text, False
        return str(extent), True

    # what loops hold

    def _body(self, scope: Scope, nested: int) -> None:
        """Loads, calls, and constructs among them."""
        for _ in range(scope.draw(st.integers(1, 2))):
            self._try(self._load, scope)
        for _ in range(scope.draw(st.integers(1, 4))):
            self._try(self._call, scope)
        if nested and scope.values and scope.chance(45):
            self._nest(scope, top=False)
            self._try(self._call, scope)
        if self.owned and scope.values and scope.chance(80):
            self._keep(scope)
        if scope.values and scope.chance(20):
            self._try(self._branch, scope)
        if scope.values and scope.chance(10):
            self._try(self._unrolled, scope)

    def _try(self, write: Callable[[Scope], Any], scope: Scope, times: int = 8) -> None:
        """The first of several drawn statements that makes sense."""
        for _ in range(times):
            kept, values, counts = len(self.lines), len(scope.values), dict(self.count)
            try:
                write(scope)
            except Unfit:
                del self.lines[kept:], scope.values[values:]
                self.count = counts
                continue
            return

    def _own(self, scope: Scope) -> None:
        """An array that the nest's cells load from and store to, each the elements that are its own."""
        owned = own(self, scope)
        self.owned += owned
        self.arrays = [array for array in self.arrays if array.base != owned[0].array.base]

    def _keep(self, scope: Scope) -> None:
        """A store to what the cells have, and loads from there before and after it."""
        owned = scope.pick(self.owned)
        self._recall(scope, owned)
        self._try(lambda scope: keep(self, scope, owned), scope)
        self._recall(scope, owned)

    def _recall(self, scope: Scope, owned: Owned) -> None:
        if scope.chance(60):
            self._try(lambda scope: self._take(scope, owned.array, owned.entries(scope, False)), scope)
            self._try(self._call, scope)

    def _load(self, scope: Scope) -> None:
        if self.owned and (not self.arrays or scope.chance(40)):
            owned = scope.pick(self.owned)
            self._take(scope, owned.array, owned.entries(scope, False))
        else:
            array = scope.pick(self.arrays)
            self._take(scope, array, anywhere(scope, array))

    def _take(self, scope: Scope, array: Array, entries: Sequence[Ways]) -> None:
        """A load, by one of the ways to index each dimension."""
        text, sample = load(scope, array, entries)
        value = scope.value(self.fresh("v"), sample)
        self.line(f"{value.text} = {text}")
        scope.values.append(value)

    def _call(self, scope: Scope) -> None:
        if scope.axes and scope.chance(6):
            self.assign(scope, f"{scope.pick(scope.axes).name}.index")
            return
        text, value = merged(scope) if scope.axes and scope.chance(20) else scope.computed()
        self.line(f"{self.fresh('v')} = {text}")
        scope.values.append(Value(f"v{self.count['v'] - 1}", value.dims, value.sample))

    def _store(self, scope: Scope) -> None:
        for value in scope.values[-scope.pick((1, 2)) :] or [None]:
            array, index = store(self, scope, value)
            self.outputs.append(array)
            if index and scope.chance(10):
                self.owned.append(Owned(array, tuple(index)))
                self._keep(scope)

    def _carried(self, scope: Scope) -> Value:
        """A value with a name of its own before a loop."""
        like = scope.pick(scope.values)
        name = self.fresh("c")
        if scope.chance(50):
            return self.assign(scope, like.text, name)
        sizes = ", ".join(dim.name if isinstance(dim, Axis) else str(dim) for dim in like.dims)
        self.line(f"{name} = hl.full([{sizes}], {scope.pick((0, 1))}, dtype={like.dtype})")
        value = Value(name, like.dims, torch.ones_like(like.sample))
        scope.values.append(value)
        return value

    def _combine(self, scope: Scope, carried: Value) -> None:
        """What a visit adds to what it carries."""
        self._try(lambda scope: self._update(scope, carried), scope)

    def _update(self, scope: Scope, carried: Value) -> None:
        self._merge(scope, carried, aligned(self._reduced(scope, carried.dims), carried.dims))

    def _reduced(self, scope: Scope, dims: Sequence[Dim]) -> Value:
        """A value of some of the dimensions."""
        value = scope.pick(scope.values[-3:] if scope.chance(50) else scope.values)
        gone = [n for n, dim in enumerate(value.dims) if dim not in dims]
        if not gone:
            return value
        kinds = ("sum", "amax", "mean") if value.dtype.is_floating_point else ("amax", "amin")
        return self.assign(scope, f"torch.{scope.pick(kinds)}({value.text}, dim={tuple(gone)})")

    def fitted(self, scope: Scope, dims: Sequence[Dim], dtype: torch.dtype) -> str:
        """What may be stored as such dimensions of such a dtype."""
        value = self._reduced(scope, dims)
        text = aligned(value, dims)
        casts = value.dtype != dtype and not (value.dtype.is_floating_point and dtype.is_floating_point)
        return f"{text}.to({dtype})" if casts else text

    def _merge(self, scope: Scope, carried: Value, text: str) -> None:
        """``carried = f(carried, text)`` with the same dimensions and dtype."""
        binary = [c for each in calls().values() for c in each if c.endswith("({x}, {y})") and c.startswith("torch.")]
        call = scope.pick(binary).format(x=carried.text, y=text)
        value = scope.value(carried.text, scope.evaluate(call))
        if value.dims != carried.dims or not scope.fits(value):
            raise Unfit
        cast = "" if value.dtype == carried.dtype else f".to({carried.dtype})"
        self.line(f"{carried.text} = ({call}){cast}" if cast else f"{carried.text} = {call}")

    def _branch(self, scope: Scope) -> None:
        """A choice by a number of the device."""
        scalars = [v.text for v in scope.values if not v.dims]
        tests = [f"{name} > {scope.pick((0, 1, 2))}" for name in scalars] + [
            f"{name} % 2 == 0" if isinstance(loop, Point) else f"{name}.begin > {scope.pick((0, 4))}"
            for name, loop in scope.loops.items()
        ]
        carried = self._carried(scope)
        self.line(f"if {scope.pick(tests)}:")
        self._arm(scope, carried)
        if scope.chance(50):
            self.line("else:")
            self._arm(scope, carried)

    def _arm(self, scope: Scope, carried: Value) -> None:
        """The body of a branch or a loop, whose values end with it."""
        kept = len(scope.values)
        self.depth += 1
        try:
            self._update(scope, carried)
            if self.owned and scope.chance(40):
                self._keep(scope)
        finally:
            self.depth -= 1
            del scope.values[kept:]

    def _unrolled(self, scope: Scope) -> None:
        """A loop of Python."""
        carried = self._carried(scope)
        self.line(f"for {self.fresh('u')} in {scope.pick(('hl.static_range(2)', 'range(3)'))}:")
        self._arm(scope, carried)


@st.composite
def programs(draw: Callable[[Any], Any], wide: bool = True) -> str:
    """The text of a random kernel."""
    try:
        return Program(draw, wide).text()
    except Unfit:
        reject()
