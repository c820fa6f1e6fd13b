"""Coverage: whether a grid writes every element of an array, by the index sets of its stores.

Pure. Only stores that surely happen count: those under a condition or a mask, and those whose indices are known only
when the kernel runs, write nothing as far as this analysis goes. `tile.when` is no such condition: it keeps one
visit, and what that visit writes is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import effects_on_memory
from kopt.analysis.boxes import Boxes, Count, count, joined, times
from kopt.analysis.written import Unsure, Written, WrittenPart, written_by
from kopt.diagnostics import location_of
from kopt.dialects.host import AllocOp
from kopt.dialects.tile import StoreOp, array_type
from kopt.dialects.tile.extents import extent_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import always_full, binding, unshifted, walked_in_place
from kopt.open_extents import is_open
from kopt.walk import walk


class Coverage(Enum):
    """How often a grid writes the elements of an array."""

    ONCE = "exactly once"
    ALL = "at least once"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Verdict:
    """What is known of the coverage; where it is unknown, ``reason`` is a clause, ``blame`` the op that it is about."""

    coverage: Coverage
    reason: str = ""
    blame: Operation | None = None

    def __bool__(self) -> bool:
        """Whether every element is written."""
        return self.coverage is not Coverage.UNKNOWN


def coverage(memory: SSAValue, body: Operation) -> Verdict:
    """Whether a `tile.grid` or a `host.launch` writes every element of a memref that its stores name."""
    return _Judge(memory, body).verdict()


def written_boxes(memory: SSAValue, body: Operation) -> list[Boxes]:
    """The elements of a memref that a grid or launch surely writes, as sets of boxes."""
    judge = _Judge(memory, body)
    if judge.verdict():
        return [Boxes.of(*((0, extent) for extent in judge.shape))]
    sets = [_combined(written, range(len(judge.shape))) for written in judge.known]
    return [boxes for boxes in sets if boxes is not None]


def place_of(op: Operation) -> str:
    """``the store at line 12``."""
    word = op.name.split(".")[-1]
    location = location_of(op)
    return f"the {word} at line {location.line}" if location else f"a {word}"


def writers(memory: SSAValue, body: Operation) -> list[Operation]:
    """The ops inside a grid or launch that write a memref."""
    return [
        op
        for op in walk(body)
        if memory in op.operands and not op.regions
        if any(kind is MemoryEffectKind.WRITE and value is memory for kind, value in effects_on_memory(op))
    ]


@dataclass
class _Judge:
    """What is known of the stores into one memref: ``known`` sets of elements, and stores that are ``unsure``."""

    memory: SSAValue
    body: Operation
    known: list[Written] = field(default_factory=list)
    unsure: list[tuple[Operation, str]] = field(default_factory=list)
    analysis: IndexAnalysis = field(default_factory=IndexAnalysis)

    def __post_init__(self) -> None:
        for op in writers(self.memory, self.body):
            try:
                written = _written(op, self.body, self.analysis)
                if all((part.boxes.lower < part.boxes.upper).all(axis=1).any() for part in written.parts):
                    self.known.append(written)
            except Unsure as reason:
                self.unsure.append((op, str(reason)))

    @property
    def shape(self) -> tuple[int, ...]:
        return array_type(self.memory).get_shape()

    def verdict(self) -> Verdict:
        if 0 in self.shape:
            return Verdict(Coverage.ONCE)
        if not self.known:
            return self._gap(None)
        alone = [self._alone(written) for written in self.known]
        total = alone[0] if len(alone) == 1 else self._together()
        if total is not None and not self.unsure and (total.fewest, total.most) == (1, 1):
            return Verdict(Coverage.ONCE)
        if any(found is not None and found.fewest for found in (total, *alone)):
            return Verdict(Coverage.ALL)
        return self._gap(total)

    def _tally(self, part: WrittenPart) -> Count | None:
        """How often one part writes each element along its dimensions."""
        found = count(part.boxes, [self.shape[dim] for dim in part.dims])
        return replace(found, most=2 * found.most) if found is not None and part.again else found

    def _alone(self, written: Written) -> Count | None:
        """How often one store writes each element: each part's count multiplies."""
        gap = [0] * len(self.shape)
        fewest, most = 1, 2 if written.again else 1
        for part in written.parts:
            found = self._tally(part)
            if found is None:
                return None
            fewest, most = fewest * found.fewest, most * found.most
            for dim, place in zip(part.dims, found.gap, strict=True):
                gap[dim] = place if found.fewest == 0 else 0
        return Count(fewest, most, tuple(gap))

    def _together(self) -> Count | None:
        """How often all stores write each element, over the dimensions that not each of them writes whole, once."""
        rest = [dim for dim in range(len(self.shape)) if not all(self._whole_once(w, dim) for w in self.known)]
        sets = [_combined(written, rest) for written in self.known]
        found = [boxes for boxes in sets if boxes is not None]
        if len(found) < len(sets):
            return None
        total = count(joined(found), [self.shape[dim] for dim in rest])
        if total is None:
            return None
        again = any(written.again or any(part.again for part in written.parts) for written in self.known)
        gap = dict(zip(rest, total.gap, strict=True))
        places = tuple(gap.get(dim, 0) for dim in range(len(self.shape)))
        return Count(total.fewest, 2 * total.most if again else total.most, places)

    def _whole_once(self, written: Written, dim: int) -> bool:
        part = written.part_of(dim)
        found = self._tally(part) if len(part.dims) == 1 else None
        return found is not None and (found.fewest, found.most) == (1, 1)

    def _gap(self, found: Count | None) -> Verdict:
        if self.unsure:
            op, reason = self.unsure[0]
            return Verdict(Coverage.UNKNOWN, f"{place_of(op)} {reason}", op)
        if not self.known:
            return Verdict(Coverage.UNKNOWN, "nothing is stored into it")
        store = self.known[-1].store
        where = f"element {list(found.gap)}" if found is not None else "elements"
        return Verdict(Coverage.UNKNOWN, f"{place_of(store)} leaves out {where}", store)


def _written(op: Operation, body: Operation, analysis: IndexAnalysis) -> Written:
    if not isinstance(op, StoreOp):
        raise Unsure("updates elements that it reads")
    return written_by(op, body, analysis)


def _combined(written: Written, dims: Sequence[int]) -> Boxes | None:
    """What a store writes along some dimensions that are whole parts, as boxes; None if too many."""
    parts = [part for part in written.parts if set(part.dims) <= set(dims)]
    boxes: Boxes | None = Boxes.of()
    for part in parts:
        boxes = times(boxes, part.boxes) if boxes is not None else None
    if boxes is None:
        return None
    columns = [dim for part in parts for dim in part.dims]
    order = [columns.index(dim) for dim in dims]
    return Boxes(boxes.lower[:, order], boxes.upper[:, order])


# What the conversion to windows asks.


def unspecified(value: SSAValue) -> bool:
    """Whether an array's elements have no meaning yet."""
    return isinstance(value.owner, AllocOp) and value.owner.fill is None


def stays_inside(entry: SSAValue, extent: int, analysis: IndexAnalysis) -> bool:
    """Whether lanes of a stored range outside its limit lie beyond the array, so that writing them changes nothing."""
    range = unshifted(entry)
    if always_full(range):
        return True
    offset = analysis.shift(entry).number
    bound = binding(range)
    outer = walked_in_place(bound)
    if outer is not None and binding(outer).size % bound.size == 0:
        bound = binding(outer)
    if not isinstance(bound.upper, int):
        return offset == 0 and is_open(extent) and extent_of(bound.upper) == extent
    return offset is not None and bound.upper + offset >= extent
