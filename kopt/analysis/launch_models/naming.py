"""Names in place of SSA values, so that a model outlives the IR; and what the named values depend on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.launch_models.program_points import ProgramPoint, inner_path
from kopt.cached_property import cached_property
from kopt.dialects.tile import Access, CarryingLoop, GridOp, RangeType, tag_of
from kopt.dialects.tile.bodies import Carrying
from kopt.ir.launch_model import Name, Source
from kopt.ir.ranges import binding
from kopt.walk import walk


class ModelNames:
    """The names of one launch's values. Calling it gives one, as `kopt.ir.from_ssa.IndexAnalysis` asks for them."""

    def __init__(self, grid: GridOp, places: Sequence[ProgramPoint], ids: Mapping[Operation, str]):
        self._grid, self._places, self._ids = grid, places, ids
        self._named: dict[Name, SSAValue] = {}

    def __call__(self, value: SSAValue, fact: str) -> Hashable:
        if fact == "block":
            return tag_of(value)
        name = Name(fact, tag_of(value)) if fact else self._name(value)
        self._named[name] = value
        return name

    def sources(self, names: Iterable[Name]) -> tuple[Source, ...]:
        """What some names that were given depend on."""
        return tuple(self._source(name) for name in sorted(set(names)) if name in self._named)

    def _source(self, name: Name) -> Source:
        value = self._named[name]
        loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
        bounds = loop.operands if loop is not None and isinstance(value.type, RangeType) else ()
        moves, loads = self._dependences([value, *bounds])
        return Source(name, frozenset(moves & {*self._path(value)}), tuple(sorted(loads)))

    def _name(self, value: SSAValue) -> Name:
        owner = value.owner
        if isinstance(owner, Access) and owner in self._ids:
            return Name("loaded", self._ids[owner])
        around = owner.parent_op() if isinstance(owner, Block) else owner
        if isinstance(owner, Block) and around not in self._numbers and around is not self._grid:
            return Name("scalar", value.name_hint or f"argument {value.index}")  # pyright: ignore
        return Name("value", self._place(value, around))

    def _place(self, value: SSAValue, around: Operation | None) -> str:
        """Where a value is made: the number of its operation, and its own among the results or the arguments there."""
        owner = value.owner
        place = f"{self._numbers[around]}" if around in self._numbers else f"before {self._outside(around)}"
        if isinstance(owner, Block):
            return f"{place} argument {value.index}"  # pyright: ignore[reportAttributeAccessIssue]
        return place if len(owner.results) == 1 else f"{place} result {owner.results.index(value)}"  # pyright: ignore

    def _outside(self, op: Operation | None) -> int:
        """The number of an operation outside of the launch, in its own block."""
        assert op is not None and op.parent is not None
        return next(number for number, other in enumerate(op.parent.ops) if other is op)

    @cached_property
    def _numbers(self) -> dict[Operation | None, int]:
        return {place.op: place.number for place in self._places}

    @cached_property
    def _inside(self) -> dict[Operation | None, tuple[str, ...]]:
        return {place.op: inner_path(place.op, place.path, place.number) for place in self._places}

    # Dependences.

    def _path(self, value: SSAValue) -> tuple[str, ...]:
        """The axes of the loops around the place where a value is made."""
        owner = value.owner
        if isinstance(owner, Block):
            loop = owner.parent_op()
            grid = tuple(tag_of(range) for range in self._grid.ranges)
            return grid if loop is self._grid else self._inside.get(loop, ())
        place = self._numbers.get(owner)
        return () if place is None else self._places[place].path

    def _dependences(self, values: Sequence[SSAValue]) -> tuple[set[str], list[str]]:
        """The axes that values move with, and the loads whose numbers they are made of directly."""
        moves, loads = set[str](), dict[Access, None]()
        self._reach(values, moves, loads)
        direct, todo, seen = [self._ids[load] for load in loads], list(loads), {*loads}
        while todo:
            more: dict[Access, None] = {}
            self._reach(todo.pop().operands, moves, more)
            todo += more.keys() - seen
            seen |= more.keys()
        return moves, direct

    def _reach(self, values: Sequence[SSAValue], moves: set[str], loads: dict[Access, None]) -> None:
        """Adds the axes and the loads that values are computed from, back to loads."""
        todo, seen = list(values), set[SSAValue]()
        while todo:
            value = todo.pop()
            if value in seen:
                continue
            seen.add(value)
            owner = value.owner
            if isinstance(owner, Block):
                todo += self._bound(value, owner, moves)
            elif isinstance(owner, Access) and owner in self._ids:
                loads[owner] = None
            else:
                todo += owner.operands
                todo += [operand for region in owner.regions for inner in walk(region) for operand in inner.operands]

    def _bound(self, value: SSAValue, block: Block, moves: set[str]) -> list[SSAValue]:
        """What the argument of a loop depends on besides its axis."""
        loop = block.parent_op()
        if loop is self._grid or isinstance(value.type, RangeType):
            moves.add(tag_of(value))
            lower = binding(value).lower
            return [lower] if isinstance(lower, SSAValue) else []
        if not isinstance(loop, Carrying) or value not in loop.carried:
            return []
        moves.add(self._inside[loop][-1])
        number = loop.carried.index(value)
        bounds = [operand for operand in loop.operands if operand not in loop.inits]
        return [loop.inits[number], loop.yielded[number], *(bounds if isinstance(loop, CarryingLoop) else [])]
