"""The two ends of an asynchronous copy, and the axis along which other steps may overlap it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Block, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.definition.effects import effects
from kopt.dialects.tile.index_list import (
    Entry,
    Indexed,
    join_entries,
    split_entries,
    verify_entries,
    verify_slots,
)
from kopt.dialects.tile.memory import ref_block_type
from kopt.dialects.tile.types import RangeType, RefType


@dataclass(frozen=True)
class Overlap:
    """Steps along ``axis``, a loop's range or one of the grid, may overlap a copy, which has ``depth`` buffers then."""

    axis: SSAValue
    depth: int = 2


def overlap_of(axis: SSAValue | None, depth: IntegerAttr | None) -> Overlap | None:
    """The overlap that an op stores, or None."""
    return None if axis is None or depth is None else Overlap(axis, depth.value.data)


def split_overlap(overlap: Overlap | None) -> tuple[SSAValue | None, IntegerAttr | None]:
    """The inverse of `overlap_of`."""
    return (None, None) if overlap is None else (overlap.axis, IntegerAttr(overlap.depth, 64))


def verify_overlap(axis: SSAValue | None, depth: IntegerAttr | None) -> None:
    """Checks that an axis, bound by a loop or the grid, and a number of buffers stand together: two at least."""
    if (axis is None) != (depth is None):
        raise VerifyException("a copy that overlaps steps of an axis has a depth, and no other has one")
    if axis is not None and not isinstance(axis.owner, Block):
        raise VerifyException("the axis of a copy is a range that a loop or the grid binds, not a shifted one")
    if depth is not None and depth.value.data < 2:
        raise VerifyException(f"a copy that overlaps steps of an axis has 2 buffers at least, found {depth.value.data}")


class DmaOp(Op):
    """Base of the two ends of an asynchronous copy between refs, by index lists of one shape.

    ``along %k depth 2`` says that other steps along that axis may overlap the copy. Where a copy is started and waited
    for at once it says what ``software-pipeline`` may do; of itself it changes nothing.
    """

    source = operand_def(RefType)
    target = operand_def(RefType)
    semaphore = operand_def(RefType)
    source_indices = var_operand_def()
    target_indices = var_operand_def()
    semaphore_indices = var_operand_def()
    axis = opt_operand_def(RangeType)
    depth = opt_prop_def(IntegerAttr)
    source_layout = prop_def(ArrayAttr)
    target_layout = prop_def(ArrayAttr)
    semaphore_layout = prop_def(ArrayAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(effects(read="source", write="target"))

    custom_directives = (Indexed,)
    assembly_format = """
        custom<Indexed>($source, $source_indices, type($source_indices), $source_layout)
        `to` custom<Indexed>($target, $target_indices, type($target_indices), $target_layout)
        `signal` custom<Indexed>($semaphore, $semaphore_indices, type($semaphore_indices), $semaphore_layout)
        (`along` custom<Known>($axis, type($axis))^ `depth` custom<Int64>($depth))? attr-dict
        `:` type($source) `,` type($target) `,` type($semaphore)
    """

    def __init__(
        self,
        source: SSAValue,
        source_entries: Sequence[Entry],
        target: SSAValue,
        target_entries: Sequence[Entry],
        semaphore: SSAValue,
        semaphore_entries: Sequence[Entry],
        overlap: Overlap | None = None,
    ):
        lists = [split_entries(entries) for entries in (source_entries, target_entries, semaphore_entries)]
        names = ("source_layout", "target_layout", "semaphore_layout")
        axis, depth = split_overlap(overlap)
        super().__init__(
            operands=[source, target, semaphore, *(operands for operands, _ in lists), axis],
            properties={name: layout for name, (_, layout) in zip(names, lists, strict=True)} | {"depth": depth},
        )

    @property
    def overlap(self) -> Overlap | None:
        """Which steps may overlap the copy, if any."""
        return overlap_of(self.axis, self.depth)

    @property
    def source_entries(self) -> tuple[Entry, ...]:
        """Where it reads."""
        return join_entries(self.source_indices, self.source_layout)

    @property
    def target_entries(self) -> tuple[Entry, ...]:
        """Where it writes."""
        return join_entries(self.target_indices, self.target_layout)

    @property
    def semaphore_entries(self) -> tuple[Entry, ...]:
        """Which semaphore it signals when done."""
        return join_entries(self.semaphore_indices, self.semaphore_layout)

    def verify_(self) -> None:
        source, target, semaphore = self.source.type, self.target.type, self.semaphore.type
        assert isinstance(source, RefType) and isinstance(target, RefType) and isinstance(semaphore, RefType)
        if semaphore.space.data != "semaphore":
            raise VerifyException(f"a DMA signals a semaphore, found {semaphore}")
        verify_slots(self.name, self.source_indices, self.source_layout)
        verify_slots(self.name, self.target_indices, self.target_layout)
        verify_slots(self.name, self.semaphore_indices, self.semaphore_layout)
        verify_entries(self.source_entries, source.shape)
        verify_entries(self.target_entries, target.shape)
        verify_entries(self.semaphore_entries, semaphore.shape)
        read, written = ref_block_type(source, self.source_entries), ref_block_type(target, self.target_entries)
        if read.shape != written.shape or read.element_type != written.element_type:
            raise VerifyException(f"a DMA copies blocks of one shape, found {read} to {written}")
        verify_overlap(self.axis, self.depth)


@irdl_op_definition
class DmaStartOp(DmaOp):
    """Starts a copy: ``pallas.dma_start %x[%k, :] to %buffer[:, :] signal %sem[0] along %k depth 2 : …``."""

    name = "pallas.dma_start"


@irdl_op_definition
class DmaWaitOp(DmaOp):
    """Waits until a copy of the same places is done."""

    name = "pallas.dma_wait"
