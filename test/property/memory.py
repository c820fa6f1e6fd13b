"""Arrays of generated kernels: how they are made, loaded from and stored to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from hypothesis import strategies as st

from test.property.statements import Axis, Dim, Scope, Unfit, Value, aligned

if TYPE_CHECKING:
    from test.property.programs import Program


#: The ways to index a dimension: text, and the dimensions that it gives.
Ways = list[tuple[str, list[Dim]]]
#: What is added to elements of memory.
ADDED = (torch.int32, torch.float32)
#: How elements of memory are updated in whatever order; floats by the first of them.
UPDATES = ("hl.atomic_add", "hl.atomic_max", "hl.atomic_min", "hl.atomic_and", "hl.atomic_or", "hl.atomic_xor")


@dataclass(frozen=True)
class Point:
    """What ``hl.grid`` gives: a number of a space."""

    name: str
    space: int

    def __mod__(self, other: int) -> int:
        return 1 % other


@dataclass(frozen=True)
class Array:
    """A tensor of the host. ``spaces`` says of each dimension over which space it goes, -1 where it is plain."""

    name: str
    spaces: tuple[int, ...]
    shape: list[int]
    dtype: torch.dtype
    declaration: str
    #: The array whose memory it is: itself, or what it is a view of.
    base: str


def domain(dtype: torch.dtype, shape: list[int]) -> str:
    """Random elements as text, from the generator ``numbers``."""
    size = f"{tuple(shape)}, generator=numbers"
    if dtype == torch.bool:
        return f"torch.randn({size}) > 0"
    if dtype.is_floating_point:
        return f"(torch.randn({size}) * 2).to({dtype})"
    return f"torch.randint({0 if dtype == torch.uint8 else -9}, 10, {size}).to({dtype})"


def view(scope: Scope, name: str, array: Array) -> tuple[str, Array]:
    """Other indices for the memory of an array, or of a part of it: the text that makes the view."""
    n = scope.pick(range(len(array.shape)))
    space, size = array.spaces[n], array.shape[n]
    before, after = (array.spaces[:n], array.shape[:n]), (array.spaces[n + 1 :], array.shape[n + 1 :])
    dots = ":, " * n
    options = [
        (f".transpose(0, {n})", [(space, size)]),
        (f"[{dots}None]", [(-1, 1), (space, size)]),
    ]
    if size > 1:
        first = scope.draw(st.integers(0, size - 1))
        options += [(f"[{dots}{first}]", []), (f"[{dots}{first}:]", [(-1, size - first)])]
    text, made = scope.pick(options)
    spaces = [*before[0], *(space for space, _ in made), *after[0]]
    shape = [*before[1], *(size for _, size in made), *after[1]]
    if text.startswith(".t"):
        for each in (spaces, shape):
            each[0], each[n] = each[n], each[0]
    return f"{array.name}{text}", Array(name, tuple(spaces), shape, array.dtype, "", array.base)


def load(scope: Scope, array: Array, entries: Sequence[Ways]) -> tuple[str, torch.Tensor]:
    """A load's text, and a sample of what it gives."""
    index, dims = chosen(scope, entries)
    shape = [dim.prime if isinstance(dim, Axis) else dim for dim in dims]
    names = {"torch": torch, "numbers": torch.Generator().manual_seed(len(scope.values))}
    sample = eval(domain(array.dtype, shape), names)
    called = scope.chance(10)
    masks = [v.text for v in scope.values if v.dims == tuple(dims) and v.dtype == torch.bool]
    if masks and called:
        return f"hl.load({array.name}, [{listed(index)}], extra_mask={scope.pick(masks)})", sample
    if called:
        return f"hl.load({array.name}, [{listed(index)}])", sample
    return f"{array.name}[{', '.join(index) or '()'}]", sample


def anywhere(scope: Scope, array: Array) -> list[Ways]:
    """The ways to index each dimension of an array that nothing writes meanwhile."""
    return [ways(scope, *dimension) for dimension in zip(array.spaces, array.shape, strict=True)]


def chosen(scope: Scope, entries: Sequence[Ways]) -> tuple[list[str], list[Dim]]:
    """One way for each dimension, and the dimensions that they give: one at most is a tensor of numbers."""
    index: list[str] = []
    dims: list[Dim] = []
    for options in entries:
        gathered = any(text.startswith("(") for text in index)
        text, given = scope.pick([way for way in options if not (gathered and way[0].startswith("("))])
        index.append(text)
        dims += given
    return index, dims


def ways(scope: Scope, space: int, size: int) -> Ways:
    """The ways to index a dimension, likely ones several times."""
    own: Ways = [(axis.name, [axis]) for axis in scope.axes if axis.space == space and space >= 0]
    own += [(n, []) for n, loop in scope.loops.items() if isinstance(loop, Point) and loop.space == space]
    found: Ways = own * 4 + [(":", [size])]
    if size:
        found += [(str(number), []) for number in (0, size - 1)]
        whole = [v for v in scope.values if len(v.dims) <= 1 and v.dtype in (torch.int32, torch.int64, torch.uint8)]
        found += [(f"({v.text} % {size}).long()", list(v.dims)) for v in whole[-1:]]
    return found


def store(program: Program, scope: Scope, value: Value | None) -> tuple[Array, list[str]]:
    """Writes a store to a new array, and where it stores: nowhere if cells add to the same elements."""
    dims = list(value.dims) if value else []
    outer: list[Any] = [axis for axis in scope.axes if axis not in dims]
    points = [loop for loop in scope.loops.values() if isinstance(loop, Point)]
    ended = [dim for dim in dims if isinstance(dim, Axis) and dim not in scope.axes]
    if ended:
        raise Unfit
    added = value is not None and value.dtype in ADDED and scope.chance(20)
    if added:  # in some of the loops around it, to the same elements
        outer, points = ([each for each in loops if scope.chance(30)] for loops in (outer, points))
    numbered = [axis for axis in outer if axis.count and scope.chance(30)]
    wide = [axis for axis in outer if axis not in numbered]
    places = [*points, *numbered, *wide, *dims]
    index, spaces, shape = [], [], []
    for place in places:
        if isinstance(place, Point):
            text, space, size = place.name, place.space, program.spaces[place.space]
        elif isinstance(place, Axis) and place in numbered:
            text, space, size = f"{place.name}.id", -1, place.count
        elif isinstance(place, Axis):
            text, space, size = place.name, place.space, program.spaces[place.space]
        else:
            text, space, size = ":", -1, place
        index.append(text)
        spaces.append(space)
        shape.append(size)
    write = _add if added else _write
    return write(program, scope, value, [*wide, *dims], (index, spaces, shape)), [] if added else index


def _add(program: Program, scope: Scope, value: Value, dims: list[Dim], place: Any) -> Array:
    index, spaces, shape = place
    name = program.fresh("o")
    whole = not value.dtype.is_floating_point
    function = scope.pick(UPDATES if whole else UPDATES[:3]) if scope.chance(40) else "hl.atomic_add"
    text = _spread(scope, value, dims)
    if not whole and function != "hl.atomic_add":
        text = f"({text} + 0.0)"  # which of two zeros is the larger nobody says
    program.line(f"{function}({name}, [{listed(index)}], {text})")
    return Array(name, tuple(spaces), shape, value.dtype, f"{name} = torch.zeros({shape}, dtype={value.dtype})", name)


def _write(program: Program, scope: Scope, value: Value | None, dims: list[Dim], place: Any) -> Array:
    index, spaces, shape = place
    name = program.fresh("o")
    dtype = value.dtype if value else torch.int32
    if dtype.is_floating_point and scope.chance(15):
        dtype = scope.pick((torch.float32, torch.bfloat16, torch.float16))
    if dtype == torch.float64 and not scope.wide:
        raise Unfit
    text = "3" if value is None else _spread(scope, value, dims)
    masked = put(program, scope, name, index, dims, text, called=15)
    covered = program.covers[-1] and not masked and not scope.chance(20)
    make = "torch.empty" if covered else "torch.zeros"
    declaration = f"{name} = {make}({shape}, dtype={dtype})"
    return Array(name, tuple(spaces), shape, dtype, declaration, name)


def put(
    program: Program, scope: Scope, name: str, index: list[str], dims: Sequence[Dim], text: str, called: int
) -> bool:
    """Writes a store, and whether it has a mask; of those without one ``called`` in a hundred are calls."""
    masks = [v.text for v in scope.values if v.dims == tuple(dims) and v.dtype == torch.bool]
    masked = bool(masks) and scope.chance(30)
    if masked:
        program.line(f"hl.store({name}, [{listed(index)}], {text}, extra_mask={scope.pick(masks)})")
    elif scope.chance(called):
        program.line(f"hl.store({name}, [{listed(index)}], {text})")
    else:
        program.line(f"{name}[{', '.join(index) or '()'}] = {text}")
    return masked


def listed(index: list[str]) -> str:
    """Entries as a list has them."""
    slices = [f"slice({entry.replace(':', ', ')})" if ":" in entry[1:] else entry for entry in index]
    return ", ".join("slice(None)" if entry == ":" else entry for entry in slices)


def _spread(scope: Scope, value: Value, dims: list[Dim]) -> str:
    """A value over more dimensions: by ones, where broadcasting does not do it."""
    return value.text if len(dims) == len(value.dims) else aligned(value, dims)
