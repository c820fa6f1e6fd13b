"""Reading and writing: `load` and `store` move blocks of memrefs, `get` and `put` blocks of on-chip refs.

    %v = tile.load %x[%i, :] : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32>

Lanes outside their range are undefined when loaded, and are not written when stored. ``access "x#1"`` names an access
for plans and reports. It is printed only if the name is not the usual one: the operand's name, and from the second
access on a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, MemRefType, StringAttr, UnitAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import irdl_op_definition, segment_sizes
from kopt.dialects.tile.access_ids import AccessId, Identified
from kopt.dialects.tile.index_list import (
    AllAttr,
    Entry,
    Indexed,
    block_axes,
    block_dims,
    is_gather,
    join_entries,
    split_entries,
    verify_entries,
    verify_slots,
)
from kopt.dialects.tile.planned import verify_via
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import RefType, TileType
from kopt.dialects.tile.values import Literal, Typed


class ReadsMemory(MemoryEffect):
    """The op reads its ``memory`` operand."""

    @classmethod
    def get_effects(cls, op: Any):
        return {EffectInstance(MemoryEffectKind.READ, op.memory)}


class WritesMemory(MemoryEffect):
    """The op writes its ``memory`` operand."""

    @classmethod
    def get_effects(cls, op: Any):
        return {EffectInstance(MemoryEffectKind.WRITE, op.memory)}


def memory_shape(type: Attribute) -> tuple[int, ...]:
    """The shape of a memref or a ref."""
    assert isinstance(type, MemRefType | RefType)
    return type.get_shape() if isinstance(type, MemRefType) else type.shape


def block_type(memory: Attribute, entries: Sequence[Entry]) -> TileType:
    """The type of the block that an index list addresses in a memref or ref."""
    assert isinstance(memory, MemRefType | RefType)
    return TileType(block_dims(entries, memory_shape(memory)), memory.element_type)


class Access(Identified):
    """Base of the four: an index list into ``memory``.

    An access of a memref may name the buffer of its grid's plan that serves it: ``via @x``.
    """

    via = opt_attr_def(StringAttr)

    custom_directives = (Indexed, AccessId, Literal, Typed)

    if TYPE_CHECKING:
        indices: Sequence[SSAValue]
        layout: ArrayAttr[Attribute]
        mask: SSAValue | None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The index list: joined once, as long as operands and layout are the same."""
        operands, layout, kept = self._operands, self.layout, vars(self)
        known = kept.get("_entries")
        if known is None or known[0] is not operands or known[1] is not layout:
            known = kept["_entries"] = (operands, layout, join_entries(self.indices, layout))
        return known[2]

    @property
    def gathers(self) -> bool:
        """Whether a tile is among its indices."""
        return any(map(is_gather, self.entries))

    def masked(self, mask: SSAValue) -> Self:
        """The access (one that may have a mask) with another mask; ``other`` of a load stays."""
        operands = [*self.operands[: len(self.operands) - int(self.mask is not None)], mask]
        sizes = self.properties["operandSegmentSizes"]
        assert isinstance(sizes, DenseArrayBase)
        return type(self).create(
            operands=operands,
            properties=self.properties | _segments([*sizes.get_values()[:-1], 1]),
            attributes=self.attributes,
            result_types=self.result_types,
        )

    def _verify_entries(self) -> None:
        verify_slots(self.name, self.indices, self.layout)
        verify_entries(self.entries, memory_shape(self.memory.type))

    def _verify_access(self, value: Attribute) -> None:
        self._verify_entries()
        expected = block_type(self.memory.type, self.entries)
        if value != expected:
            raise VerifyException(f"the index list addresses {expected}, found {value}")
        if self.mask is not None and self.mask.type != expected.with_element(i1):
            raise VerifyException(f"the mask must be {expected.with_element(i1)}, found {self.mask.type}")


#: What caches may be told of a load: that its lines go before others, or after them.
EVICTIONS = ("evict_first", "evict_last")


@irdl_op_definition
class LoadOp(Access):
    """Reads a block of a memref.

    ``mask %m`` (an i1 tile of the block) names the lanes to read; the others take ``other`` (0 when left out).
    ``pad c`` is what lanes outside their range take; without it they are undefined. ``eviction`` is a hint to caches.
    With ``descriptor`` a tensor descriptor brings the block: `triton.launch` has one.

        %v = tile.load %x[%i, :] mask %m other 0.0 pad 1.0 : memref<…> -> !tile.tile<…>
    """

    name = "tile.load"

    memory = operand_def(MemRefType)
    indices = var_operand_def()
    mask = opt_operand_def(TileType)
    layout = prop_def(ArrayAttr)
    other = opt_prop_def(Attribute)
    pad = opt_prop_def(Attribute)
    eviction = opt_attr_def(StringAttr)
    descriptor = opt_attr_def(UnitAttr)
    result = result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory(), Canonicalized())

    assembly_format = """
        custom<Indexed>($memory, $indices, type($indices), $layout)
        (`via` custom<SymbolName>($via)^)? (`mask` custom<Known>($mask, type($mask))^)?
        (`other` custom<Literal>($other)^)? (`pad` custom<Literal>($pad)^)? custom<AccessId>($access)
        attr-dict `:` type($memory) `->` type($result) custom<Typed>(ref(type($memory)))
    """

    def __init__(
        self,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        mask: SSAValue | None = None,
        other: Attribute | None = None,
        pad: Attribute | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        entries = tuple(entries)
        operands, layout = split_entries(entries)
        memory = SSAValue.get(memory)
        super().__init__(
            operands=[memory, operands, mask],
            properties={"layout": layout, "other": other, "pad": pad},
            attributes=attributes,
            result_types=[block_type(memory.type, entries)],
        )

    def with_access(self, entries: Iterable[Entry], mask: SSAValue | None) -> LoadOp:
        """The same load of other elements and lanes; without a mask no lane takes ``other``."""
        return LoadOp(self.memory, entries, mask, self.other if mask is not None else None, self.pad, self.attributes)

    def verify_(self) -> None:
        self._verify_access(self.result.type)
        verify_via(self)
        if self.other is not None and self.mask is None:
            raise VerifyException("'other' needs a mask")
        if self.eviction is not None and self.eviction.data not in EVICTIONS:
            raise VerifyException(f"eviction is one of {', '.join(EVICTIONS)}, found '{self.eviction.data}'")


def _segments(sizes: Sequence[int]) -> dict[str, Attribute]:
    return {"operandSegmentSizes": segment_sizes(tuple(sizes))}


@irdl_op_definition
class StoreOp(Access):
    """Writes a block of a memref. Lanes outside their range, and lanes where ``mask`` does not hold, are kept.

    ``descriptor`` as for `tile.load`.

    tile.store %v, %out[%i, 3] mask %m : !tile.tile<b0=128 x f32>, memref<1000x64xf32>
    """

    name = "tile.store"

    value = operand_def(TileType)
    memory = operand_def(MemRefType)
    indices = var_operand_def()
    mask = opt_operand_def(TileType)
    layout = prop_def(ArrayAttr)
    descriptor = opt_attr_def(UnitAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(WritesMemory(), Canonicalized())

    assembly_format = """
        $value `,` custom<Indexed>($memory, $indices, type($indices), $layout)
        (`via` custom<SymbolName>($via)^)? (`mask` custom<Known>($mask, type($mask))^)?
        custom<AccessId>($access) attr-dict `:` type($value) `,` type($memory)
    """

    def __init__(
        self,
        value: SSAValue | Operation,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        mask: SSAValue | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        operands, layout = split_entries(entries)
        super().__init__(operands=[value, memory, operands, mask], properties={"layout": layout}, attributes=attributes)

    def with_access(self, entries: Iterable[Entry], mask: SSAValue | None) -> StoreOp:
        """The same store to other elements and lanes."""
        return StoreOp(self.value, self.memory, entries, mask, self.attributes)

    def verify_(self) -> None:
        self._verify_access(self.value.type)
        verify_via(self)


@irdl_op_definition
class GetOp(Access):
    """Reads a block of an on-chip ref: ``%v = tile.get %ref[%k, :] : !tile.ref<…> -> !tile.tile<…>``."""

    name = "tile.get"

    memory = operand_def(RefType)
    indices = var_operand_def()
    layout = prop_def(ArrayAttr)
    result = result_def(TileType)

    traits = traits_def(ReadsMemory())

    assembly_format = """
        custom<Indexed>($memory, $indices, type($indices), $layout)
        custom<AccessId>($access) attr-dict `:` type($memory) `->` type($result)
    """

    def __init__(
        self,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        result_type: TileType | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        entries = tuple(entries)
        operands, layout = split_entries(entries)
        memory = SSAValue.get(memory)
        super().__init__(
            operands=[memory, operands],
            properties={"layout": layout},
            attributes=attributes,
            result_types=[result_type or ref_block_type(memory.type, entries)],
        )

    def verify_(self) -> None:
        _verify_ref_access(self, self.result.type)


@irdl_op_definition
class PutOp(Access):
    """Writes a block of an on-chip ref: ``tile.put %v, %ref[%k, :] : !tile.tile<…>, !tile.ref<…>``.

    A tile of numbers in the index list writes rows of a ref in HBM. No two numbers are equal, except negative ones,
    which write nothing.
    """

    name = "tile.put"

    value = operand_def(TileType)
    memory = operand_def(RefType)
    indices = var_operand_def()
    layout = prop_def(ArrayAttr)

    traits = traits_def(WritesMemory())

    assembly_format = """
        $value `,` custom<Indexed>($memory, $indices, type($indices), $layout)
        custom<AccessId>($access) attr-dict `:` type($value) `,` type($memory)
    """

    def __init__(
        self,
        value: SSAValue | Operation,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        operands, layout = split_entries(entries)
        super().__init__(operands=[value, memory, operands], properties={"layout": layout}, attributes=attributes)

    def verify_(self) -> None:
        _verify_ref_access(self, self.value.type)


def ref_block_type(memory: Attribute, entries: Sequence[Entry]) -> TileType:
    """The block that an index list addresses in a ref: a ``:`` keeps the tag that the ref's dimension has.

    A ref that outlives the loops has no tags; the block of a ``:`` may then be given the tag that its lanes walk.
    """
    assert isinstance(memory, RefType)
    dims = []
    for axis in block_axes(entries, memory.shape):
        whole = isinstance(entries[axis.position], AllAttr)
        dims.append(memory.dims.data[axis.position] if whole else axis.dim)
    return TileType(dims, memory.element_type)


def _verify_ref_access(op: GetOp | PutOp, value: Attribute) -> None:
    op._verify_entries()
    expected = ref_block_type(op.memory.type, op.entries)
    if not _tags_plain_dims(op, expected, value):
        raise VerifyException(f"the index list addresses {expected}, found {value}")


def _tags_plain_dims(op: GetOp | PutOp, expected: TileType, value: Attribute) -> bool:
    """Whether ``value`` is the expected block but for tags of dimensions that a ``:`` takes from an untagged ref."""
    if not isinstance(value, TileType) or value.shape != expected.shape or value.element_type != expected.element_type:
        return False
    axes = block_axes(op.entries, memory_shape(op.memory.type))
    pairs = zip(axes, expected.tags, value.tags, strict=True)
    return all(had == has or (not had and isinstance(op.entries[a.position], AllAttr)) for a, had, has in pairs)


OPS = (LoadOp, StoreOp, GetOp, PutOp)
