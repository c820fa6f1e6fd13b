"""What a cell computes as vector registers see it: one step after the other, as data, without IR and without sizes.

    %v = tile.load %x[%i, :]   %m = tile.reduce max %v [1]   %d = tile.sub %v, %m   tile.store %d, %o[%i, :]
becomes
    read 0 (i x 512)           combine 1 = 0 (i x 1)         compute 2 = 0, 1       write 2

Values are numbers. What constants give has none, and is in no step; what repeats lanes, or only moves dimensions, has
the number of its operand. Shapes stand apart, so that one list of steps serves every choice of block sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from kopt.ir.polynomial import Coefficient

#: What a step does, of which a trace has a rule for each (`kopt.planning.register_trace`).
Kind = Literal["numbers", "read", "write", "cast", "compute", "combine", "take", "product", "loop", "region"]
#: Values, each by its number; None for a constant.
Values = tuple[int | None, ...]


class RegisterShape(NamedTuple):
    """The lanes of a value, and the bits of an element; those of a mask stand in 32."""

    dims: tuple[Coefficient, ...]
    bits: int = 32


class Visited(NamedTuple):
    """A part of a place: the block of a loop's range, by the range's number; what bounds it has, and its lanes."""

    range: int
    bounds: Hashable
    lanes: int


class Within(NamedTuple):
    """A part of a place that is computed: it may be another at each visit of the loops around it."""

    value: int
    ranges: tuple[int, ...]


@dataclass(frozen=True)
class RegisterStep:
    """One operation. ``shapes`` are numbers of shapes: of the results, then what the kind says.

    | kind | ``shapes`` | ``key`` | ``flag`` |
    |---|---|---|---|
    | ``read`` | the block | its place in memory | |
    | ``cast`` | the result | the element type | |
    | ``compute`` | the results | | it keeps the transcendental unit busy |
    | ``combine`` | what is combined, with one lane where lanes are | | lanes are, not only rows |
    | ``take`` | the result, the lanes that are taken from | | |
    | ``product`` | the result, both factors | | all bits of 32-bit floats count |
    | ``region`` | the results | | |
    """

    kind: Kind
    results: tuple[int, ...] = ()
    operands: Values = ()
    shapes: tuple[int, ...] = ()
    key: tuple[Hashable, ...] = ()
    flag: bool = False
    nest: Nest | None = None


@dataclass(frozen=True)
class Nest:
    """The steps in a loop or under a condition: ``given`` are its arguments, and ``passed`` what it yields.

    ``shapes`` has one number for each argument, none for a scalar.
    Of a loop ``tag`` names the axis, ``range`` is the number of its range; ``unroll`` of its visits are written out,
    where that is known before any plan, and it has ``trips``, where these are.
    """

    steps: tuple[RegisterStep, ...]
    given: tuple[int, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    passed: Values = ()
    tag: str = ""
    range: int = -1
    unroll: int = 1
    trips: int | None = None


@dataclass(frozen=True)
class RegisterCode:
    """The steps of a cell, and the shapes that these name."""

    steps: tuple[RegisterStep, ...] = ()
    shapes: tuple[RegisterShape, ...] = field(default=())

    def sized(self, size: Callable[[Coefficient], Coefficient]) -> RegisterCode:
        """The same with other coefficients for all lanes."""
        return replace(self, shapes=tuple(RegisterShape(tuple(map(size, dims)), bits) for dims, bits in self.shapes))


def nests_of(steps: Iterable[RegisterStep]) -> Iterator[Nest]:
    """All loops and conditions in some steps, outer ones first."""
    for step in steps:
        if step.nest is not None:
            yield step.nest
            yield from nests_of(step.nest.steps)
