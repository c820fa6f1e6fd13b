"""Memory that a cell of a nest has for itself: it loads what it has stored there, in any order and by any index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from hypothesis import strategies as st

from test.property.memory import ADDED, UPDATES, Array, Point, Ways, chosen, listed, put, ways
from test.property.statements import Scope

if TYPE_CHECKING:
    from test.property.programs import Program

#: Sizes of dimensions that a cell has all of.
_PLAIN = (3, 1, 5, 2)


@dataclass(frozen=True)
class Owned:
    """Elements of an array that no other cell accesses. ``index`` says which: ``:`` where the cell has all."""

    array: Array
    index: tuple[str, ...]

    def entries(self, scope: Scope, stores: bool) -> list[Ways]:
        """The ways to index each dimension inside of what the cell has."""
        dimensions = zip(self.index, self.array.spaces, self.array.shape, strict=True)
        return [
            _all(scope, space, size, stores) if entry == ":" else _own(scope, entry)
            for entry, space, size in dimensions
        ]


def own(program: Program, scope: Scope) -> list[Owned]:
    """An array for the cells of the outermost loop that is open: one that there is, or a new one.

    Of one that there is, other views may follow: they have the same dimension for each loop.
    """
    loops = [(name, loop.space) for name, loop in scope.loops.items() if isinstance(loop, Point)]
    loops += [(axis.name, axis.space) for axis in scope.axes]
    kept = [Owned(array, index) for array in program.arrays if (index := _index(array, loops))]
    if not kept or scope.chance(40):
        return [_new(program, scope)]
    first = scope.pick(kept)
    views = [each for each in kept if each.array.base == first.array.base] if scope.chance(20) else [first]
    alike = all(each.array.spaces.count(space) == 1 for each in views for _, space in loops)
    return views if alike else [first]


def keep(program: Program, scope: Scope, owned: Owned) -> None:
    """Writes a store, or an update, of elements that the cell has."""
    index, dims = chosen(scope, owned.entries(scope, True))
    name, dtype = owned.array.name, owned.array.dtype
    text = program.fitted(scope, dims, dtype)
    if dtype in ADDED and scope.chance(15):
        function = "hl.atomic_add" if dtype.is_floating_point else scope.pick(UPDATES)
        program.line(f"{function}({name}, [{listed(index)}], {text})")
    else:
        put(program, scope, name, index, dims, text, called=10)


def _index(array: Array, loops: list[tuple[str, int]]) -> tuple[str, ...]:
    """Which elements of an array are a cell's own: nothing if cells would share some."""
    index = [":"] * len(array.spaces)
    for name, space in loops:
        free = [n for n, of in enumerate(array.spaces) if of == space and index[n] == ":"]
        if not free:
            return ()
        index[free[0]] = name
    return tuple(index)


def _new(program: Program, scope: Scope) -> Owned:
    """A new array, of zeros, or filled by a store."""
    places: list[tuple[str, int, int]] = []
    for name, loop in scope.loops.items():
        axis = next((axis for axis in scope.axes if axis.name == name), None)
        if axis and axis.count and scope.chance(30):
            places.append((f"{name}.id", -1, axis.count))
        else:
            space = axis.space if axis else loop.space
            places.append((name, space, program.spaces[space]))
    for _ in range(scope.pick((1, 2, 0))):
        space = scope.pick((0, 1, 2, -1, -1))
        places.append((":", space, program.spaces[space] if space >= 0 else scope.pick(_PLAIN)))
    if scope.chance(20):
        places.reverse()
    index, spaces, shape = [name for name, _, _ in places], [space for _, space, _ in places], [n for _, _, n in places]
    dtype = scope.pick((torch.float32, torch.int32, torch.bfloat16, torch.float32, torch.int8))
    name = program.fresh("o")
    filled = scope.chance(40)
    make = "torch.empty" if filled and program.covers[-1] else scope.pick(("torch.zeros", "torch.ones"))
    array = Array(name, tuple(spaces), shape, dtype, f"{name} = {make}({shape}, dtype={dtype})", name)
    if filled:
        program.line(f"{name}[{', '.join(index)}] = {scope.pick((1, 0, 3))}")
    program.outputs.append(array)
    return Owned(array, tuple(index))


def _own(scope: Scope, entry: str) -> Ways:
    """The ways to name what a loop's variable names, or a part of it."""
    axis = next((axis for axis in scope.axes if axis.name == entry), None)
    if axis is None:
        return [(entry, [])]
    inside: Ways = [(inner.name, [inner]) for inner in scope.axes if inner.within == entry]
    return [(entry, [axis])] * 4 + inside * 4 + [(f"({entry}.index)", [axis])]


def _all(scope: Scope, space: int, size: int, stores: bool) -> Ways:
    """The ways to index a dimension that the cell has all of. A store's name no element twice: any may be the last."""
    found = [way for way in ways(scope, space, size) if not (stores and way[1] and way[0].startswith("("))]
    found += [(f"({name} + 1) % {size}", []) for name, dims in found if name in scope.loops and not dims]
    if size > 1:
        first = scope.draw(st.integers(0, size - 1))
        last = scope.draw(st.integers(first + 1, size))
        lanes = f"torch.arange({first}, {last})"
        found += [(text, [last - first]) for text in (f"{first}:{last}",) * 2 + (f"({lanes})", f"({lanes}.flip(0))")]
    return found
