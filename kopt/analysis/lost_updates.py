"""Values that cross cells of a `pallas.call`: in which order of visits their updates would be lost.

Pure. Mosaic compiles all of these without a word, and gives wrong numbers:

| found | what is lost |
|---|---|
| an output's block is left and come back to | what was updated before it was left |
| an output's block is read before a visit has written it | what memory held: an output block is never fetched |
| a visit stores into a revisited block without what was there | all but the last visit's update, or value |
| scratch is carried along dimensions that are not the innermost | blocks of the inner dimensions are mixed |
| a revisited or carried dimension is ``parallel`` | what another core updates |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import bf16, f16
from xdsl.ir import Operation, SSAValue

from kopt.analysis.kept import only_kept
from kopt.analysis.revisit_order import LOOPS, Cell, CellVisits, VisitGuard, bindings, sources
from kopt.dialects.pallas import CallOp, DmaOp, WindowAttr
from kopt.dialects.tile import ALL, GetOp, PutOp, RefType
from kopt.walk import walk


@dataclass(frozen=True)
class LostUpdate:
    """What is wrong at an op, and what to do; ``fatal`` unless the result is only less exact."""

    op: Operation
    message: str
    note: str
    fatal: bool = True


def problems(call: CallOp) -> Iterator[LostUpdate]:
    """Every way in which a call would lose updates, in the order of the table above."""
    checker = _Checker(call)
    outputs = list(zip(call.output_refs, call.windows.data[len(call.inputs) :], strict=True))
    for ref, window in outputs:
        if window.space.data == "vmem":
            yield from checker.comes_back(ref, window)
            yield from checker.reads_unwritten(ref, window)
            yield from checker.restarts(ref, window)
            yield from checker.parallel_output(ref, window)
    for ref in call.scratch:
        yield from checker.scratch(ref)
    for ref in (*call.output_refs, *call.scratch):
        yield from checker.narrow(ref)


class _Checker:
    def __init__(self, call: CallOp):
        self.call = call
        self.visits = CellVisits.of(call)
        self.order = {op: number for number, op in enumerate(walk(self.visits.grid))}

    # Names.

    def dim(self, number: int) -> str:
        """``d2 (%k)``."""
        hint = self.visits.grid.ranges[number].name_hint if self.visits.grid.ranges else None
        return f"d{number} (%{hint})" if hint else f"d{number}"

    def dims(self, numbers: Iterator[int] | list[int] | frozenset[int]) -> str:
        return " and ".join(self.dim(number) for number in sorted(numbers))

    # Accesses of a ref.

    def gets(self, ref: SSAValue) -> list[GetOp]:
        return sorted((u.operation for u in ref.uses if isinstance(u.operation, GetOp)), key=self.order.__getitem__)

    def puts(self, ref: SSAValue) -> list[PutOp]:
        found = [u.operation for u in ref.uses if isinstance(u.operation, PutOp) and u.operation.memory is ref]
        return sorted(found, key=self.order.__getitem__)

    def runs_before(self, put: PutOp, get: GetOp) -> bool:
        """Whether a visit that reads has made the write before, as far as can be told.

        The write, or a loop around it, stands earlier in a block around the read; what conditions on anything but
        first and last visits guard is not judged.
        """
        if any(not guard.exact for guard in self.visits.guards(put)):
            return self.order[put] < self.order[get]
        write: Operation | None = put
        while write is not None:
            reader: Operation | None = get
            while reader is not None and reader.parent is not write.parent:
                reader = reader.parent_op()
            if reader is not None:
                return self.order[write] < self.order[reader]
            write = write.parent_op() if isinstance(write.parent_op(), LOOPS) else None
        return False

    # Outputs.

    def reads_unwritten(self, ref: SSAValue, window: WindowAttr) -> Iterator[LostUpdate]:
        shared = self.visits.shared(window)
        for get in self.gets(ref):
            if only_kept(get) or any(self._populates(put, get, shared) for put in self.puts(ref)):
                continue
            yield LostUpdate(
                get,
                f"{_name(ref)} is read before a visit has written it: the block of an output never holds what memory "
                "held, aliased or not",
                "put the block of the input, or a constant, on the first visit",
            )
            return

    def _populates(self, put: PutOp, get: GetOp, shared: frozenset[int]) -> bool:
        """Whether a write is sure to be made before a read, on this visit or the first one of the block."""
        if self.runs_before(put, get):
            return True
        if any(entry != ALL for entry in put.entries) and put.entries != get.entries:
            return False
        guards = self.visits.guards(put)
        first = all(guard.visit == "first" and guard.exact and guard.dims <= shared for guard in guards)
        return first and (self.order[put] < self.order[get])

    def restarts(self, ref: SSAValue, window: WindowAttr) -> Iterator[LostUpdate]:
        shared = self.visits.shared(window) - set(self.visits.grid.ordered_dims)
        for put in self.puts(ref):
            again = shared - _settled(self.visits.guards(put))
            moving = self._moving_with(put, again) if again else frozenset()
            if not moving:
                continue
            dim = max(moving)
            if not self._starts_from_input(put, ref):
                yield self._overwritten(put, ref, dim)
                return
            yield LostUpdate(
                put,
                f"each visit along {self.dim(dim)} stores into {_name(ref)} without what the visits before it stored: "
                f"{self._lost(dim)}",
                f"accumulate in scratch memory, filled on the first visit of {self.dim(dim)} and stored on its last",
            )
            return

    def _starts_from_input(self, put: PutOp, ref: SSAValue) -> bool:
        """Whether the stored value is an update of what memory held before the call."""
        source = self.call.aliased[self.call.output_refs.index(ref)]
        ops, _ = sources(put.value)
        return source >= 0 and any(isinstance(op, GetOp) and op.memory is self.call.input_refs[source] for op in ops)

    def _overwritten(self, put: PutOp, ref: SSAValue, dim: int) -> LostUpdate:
        before, after = self._cells(dim)
        return LostUpdate(
            put,
            f"all cells along {self.dim(dim)} store into one block of {_name(ref)}: what visit {before} stored is "
            f"overwritten by visit {after}, and which cell is the last one is not said",
            f"index {_name(ref)} by what {self.dim(dim)} walks, or combine the values by an atomic update",
        )

    def _cells(self, dim: int) -> tuple[Cell, Cell]:
        """The first two cells along a dimension."""
        first, second = (tuple(step if n == dim else 0 for n in range(len(self.visits.trips))) for step in (0, 1))
        return first, second

    def _moving_with(self, put: PutOp, dims: frozenset[int]) -> frozenset[int]:
        """The dimensions that the stored value changes with; none where it holds what was carried or goes elsewhere."""
        numbered = {op for index in put.indices for op in sources(index)[0]}
        if self._dims_of(numbered, bindings(put.indices)) & dims:
            return frozenset()
        ops, bound = sources(put.value)
        carried = {put.memory, *self.call.scratch}
        if any(isinstance(op, GetOp) and op.memory in carried for op in ops):
            return frozenset()
        return self._dims_of(ops, bound) & dims

    def _dims_of(self, ops: set[Operation], bound: set[SSAValue]) -> frozenset[int]:
        """The grid dimensions that ops and bindings depend on, by the windows that they read and the ranges."""
        found = {self.visits.dimension(value) for value in bound if value in self.visits.grid.ranges}
        windows = dict(zip(self.call.input_refs, self.call.windows.data, strict=False))
        for op in ops:
            if isinstance(op, GetOp) and op.memory in windows:
                found |= windows[op.memory].grid_dims
        return frozenset(number for number in found if number is not None) & set(self.visits.moving)

    def _lost(self, dim: int) -> str:
        return f"visits {_path(*self._cells(dim))} → … lose the updates of d{dim} = 0"

    def comes_back(self, ref: SSAValue, window: WindowAttr) -> Iterator[LostUpdate]:
        found = self.visits.come_back(window)
        if found is None or not self.puts(ref):
            return
        outer, moves = found.outer, window.index.data.used_dims()
        yield LostUpdate(
            self.puts(ref)[0],
            f"the block of {_name(ref)} at {self.dims(frozenset(moves))} is left and come back to when "
            f"{self.dim(outer)} moves outside: visits {_path(found.before, found.left)} → … → {found.again} lose "
            f"the updates of d{outer} = {found.before[outer]}",
            f"make {self.dim(outer)} the innermost dimension of the grid",
        )

    def parallel_output(self, ref: SSAValue, window: WindowAttr) -> Iterator[LostUpdate]:
        wrong = [dim for dim in self.visits.shared(window) if self._parallel(dim)]
        if wrong and self.puts(ref):
            yield self._is_parallel(self.puts(ref)[0], f"the visits along it share one block of {_name(ref)}", wrong)

    def _parallel(self, dim: int) -> bool:
        return self.call.semantics.data[dim].data == "parallel"

    def _is_parallel(self, op: Operation, why: str, dims: list[int]) -> LostUpdate:
        dim = min(dims)
        first, second = self._cells(dim)
        return LostUpdate(
            op,
            f"{self.dim(dim)} is marked parallel, but {why}: visits {first} and {second} may run on two cores, "
            "each of which loses the other's updates",
            f"mark {self.dim(dim)} arbitrary",
        )

    # Scratch.

    def scratch(self, ref: SSAValue) -> Iterator[LostUpdate]:
        """Scratch that a visit reads without having written it carries a value along the dimensions of its reset."""
        if not isinstance(ref.type, RefType) or ref.type.space.data == "semaphore" or _is_copied(ref):
            return
        puts = self.puts(ref)
        carried = [get for get in self.gets(ref) if not any(self.runs_before(put, get) for put in puts)]
        if not carried:
            return
        guards = [guard for put in puts if len(found := self.visits.guards(put)) == 1 for guard in found]
        resets = [guard for guard in guards if guard.visit == "first" and guard.exact]
        if not resets:
            yield from [self._never_filled(get, ref) for get in carried if not only_kept(get)][:1]
            return
        dims = resets[0].dims
        yield from self._not_innermost(carried[0], ref, dims)
        wrong = [dim for dim in dims if self._parallel(dim)]
        if wrong:
            yield self._is_parallel(carried[0], f"{_name(ref)} is carried along it", wrong)
        yield from self._late_commits(ref, dims)

    def _never_filled(self, get: GetOp, ref: SSAValue) -> LostUpdate:
        return LostUpdate(
            get,
            f"{_name(ref)} is read before a visit has written it: scratch memory holds nothing at first",
            "fill it on the first visit of the dimensions that it is carried along",
        )

    def _not_innermost(self, get: GetOp, ref: SSAValue, dims: frozenset[int]) -> Iterator[LostUpdate]:
        inner = [number for number in self.visits.moving if dims and number > min(dims) and number not in dims]
        if not inner:
            return
        outer, moved = min(dims), inner[-1]
        trips = self.visits.trips
        start: Cell = tuple(0 for _ in trips)
        following = tuple(1 if n == moved else 0 for n in range(len(trips)))
        again = tuple(1 if n == outer else 0 for n in range(len(trips)))
        yield LostUpdate(
            get,
            f"{_name(ref)} is carried along {self.dims(dims)}, around {self.dims(inner)}: visits "
            f"{_path(start, following)} → … → {again} mix the blocks of d{moved}, and lose the updates of d{outer} = 0",
            f"make {self.dims(dims)} the innermost of the grid",
        )

    def _late_commits(self, ref: SSAValue, dims: frozenset[int]) -> Iterator[LostUpdate]:
        """A commit on the last visit of more dimensions than the reset's comes too late for most blocks."""
        for get in self.gets(ref):
            for guard in self.visits.guards(get):
                if guard.visit == "last" and guard.dims - dims:
                    late = self.dims(guard.dims - dims)
                    yield LostUpdate(
                        get,
                        f"{_name(ref)} is filled anew at each first visit of {self.dims(dims)}, but committed only at "
                        f"the last one of {late}: the updates before it are lost",
                        "commit on the last visit of the dimensions on whose first visit it is filled",
                    )
                    return

    # Exactness.

    def narrow(self, ref: SSAValue) -> Iterator[LostUpdate]:
        assert isinstance(ref.type, RefType)
        if ref.type.element_type not in (bf16, f16):
            return
        for put in self.puts(ref):
            ops, _ = sources(put.value)
            again = [op for op in ops if isinstance(op, GetOp) and op.memory is ref and not only_kept(op)]
            if again:
                type = ref.type.element_type
                message = f"{_name(ref)} accumulates in {type}, which rounds on every visit"
                yield LostUpdate(put, message, "accumulate in f32 scratch memory", fatal=False)
                return


def _settled(guards: tuple[VisitGuard, ...]) -> frozenset[int]:
    """The dimensions along which a guarded op runs once."""
    return frozenset().union(*(guard.dims for guard in guards))


def _is_copied(ref: SSAValue) -> bool:
    """Whether DMAs fill a ref."""
    return any(isinstance(use.operation, DmaOp) for use in ref.uses)


def _name(ref: SSAValue) -> str:
    return f"'{ref.name_hint}'" if ref.name_hint else "a block"


def _path(*cells: Cell) -> str:
    return " → ".join(map(str, cells))
