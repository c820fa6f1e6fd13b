"""Blocks of arrays that stay in HBM, as values. Each is a copy that has no buffer and no semaphore yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import irdl_op_definition
from kopt.dialects.pallas.dma import (
    Overlap,
    overlap_of,
    split_overlap,
    verify_overlap,
)
from kopt.dialects.tile.index_list import Entry, split_entries
from kopt.dialects.tile.memory import (
    Access,
    ReadsMemory,
    WritesMemory,
    ref_block_type,
)
from kopt.dialects.tile.types import RangeType, RefType, TileType, tile_type


class CopyAccess(Access):
    """Base of `fetch` and `send`: an index list into a ref in HBM, and the axis whose other steps may overlap."""

    if TYPE_CHECKING:
        axis: SSAValue | None
        depth: IntegerAttr | None

    @property
    def overlap(self) -> Overlap | None:
        """Which steps may overlap the copy, if any."""
        return overlap_of(self.axis, self.depth)

    def _verify_copy(self, value: Attribute) -> None:
        self._verify_entries()
        verify_overlap(self.axis, self.depth)
        type = self.memory.type
        assert isinstance(type, RefType)
        if type.space.data != "hbm":
            raise VerifyException(f"{self.name} copies a block of a ref in hbm, found {type}")
        if self.gathers:
            raise VerifyException(f"{self.name} copies one block; rows by numbers are for tile.get and tile.put")
        expected = ref_block_type(type, self.entries)
        assert isinstance(value, TileType)
        if (value.shape, value.element_type) != (expected.shape, expected.element_type):
            raise VerifyException(f"the index list addresses {expected}, found {value}")


@irdl_op_definition
class FetchOp(CopyAccess):
    """Copies a block from HBM: its value once it has arrived.

    With ``ahead %k depth 2`` the copy may begin a step of the axis ``%k`` ahead, where what it reads is not written.

        %v = pallas.fetch %x[%i, %k] ahead %k depth 2 : !tile.ref<…, hbm> -> !tile.tile<…>
    """

    name = "pallas.fetch"

    memory = operand_def(RefType)
    indices = var_operand_def()
    axis = opt_operand_def(RangeType)
    layout = prop_def(ArrayAttr)
    depth = opt_prop_def(IntegerAttr)
    result = result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory())

    assembly_format = """
        custom<Indexed>($memory, $indices, type($indices), $layout)
        (`ahead` custom<Known>($axis, type($axis))^ `depth` custom<Int64>($depth))?
        custom<AccessId>($access) attr-dict `:` type($memory) `->` type($result)
    """

    def __init__(self, memory: SSAValue, entries: Iterable[Entry], type: Attribute, overlap: Overlap | None = None):
        operands, layout = split_entries(entries)
        axis, depth = split_overlap(overlap)
        super().__init__(
            operands=[memory, operands, axis],
            properties={"layout": layout, "depth": depth},
            result_types=[type],
        )

    def verify_(self) -> None:
        self._verify_copy(self.result.type)


@irdl_op_definition
class SendOp(CopyAccess):
    """Copies a block to HBM. Lanes where ``mask`` does not hold stay as they are there.

    With ``behind %k depth 2`` the copy may go on until the next step of the axis ``%k`` copies its block.

        pallas.send %v, %x[%rows, :] mask %own behind %k depth 2 : !tile.tile<…>, !tile.ref<…, hbm>
    """

    name = "pallas.send"

    value = operand_def(TileType)
    memory = operand_def(RefType)
    indices = var_operand_def()
    mask = opt_operand_def(TileType)
    axis = opt_operand_def(RangeType)
    layout = prop_def(ArrayAttr)
    depth = opt_prop_def(IntegerAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(WritesMemory())

    assembly_format = """
        $value `,` custom<Indexed>($memory, $indices, type($indices), $layout)
        (`mask` custom<Known>($mask, type($mask))^)?
        (`behind` custom<Known>($axis, type($axis))^ `depth` custom<Int64>($depth))?
        custom<AccessId>($access) attr-dict `:` type($value) `,` type($memory)
    """

    def __init__(
        self,
        value: SSAValue,
        memory: SSAValue,
        entries: Iterable[Entry],
        mask: SSAValue | None = None,
        overlap: Overlap | None = None,
    ):
        operands, layout = split_entries(entries)
        axis, depth = split_overlap(overlap)
        super().__init__(
            operands=[value, memory, operands, mask, axis],
            properties={"layout": layout, "depth": depth},
        )

    def verify_(self) -> None:
        self._verify_copy(self.value.type)
        if self.mask is not None and self.mask.type != (expected := tile_type(self.value).with_element(i1)):
            raise VerifyException(f"the mask must be {expected}, found {self.mask.type}")
