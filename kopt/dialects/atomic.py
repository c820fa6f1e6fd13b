"""The ``atomic`` dialect: updates of memory that cells of a grid may make at the same time.

Each lane's update is one step: read, combine, write. The lanes of a block update one after the other, in row-major
order, also where several address one element. The cells of a grid update in any order, unless its dimensions are
``ordered``. Memory after ``xchg`` and `cas`, and previous values of any kind, depend on the order. Memory after the
other kinds does not, up to the rounding of floats. Lanes outside their ranges do not touch memory.

Sums into floats of less than 32 bits are formed in f32 and rounded at the end. Until then the target may hold the sum
in more bits than its type has. A term that is cast to the type only to be added may be added without the cast.

    atomic.rmw add %v, %out[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>
    %ticket = atomic.rmw add %one, %count[%bin] : !tile.tile<b0=8 x i32>, memref<16xi32> -> !tile.tile<b0=8 x i32>
    %old = atomic.cas %expected, %new, %lock[0] : !tile.tile<i32>, memref<1xi32>
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import ArrayAttr, MemRefType, StringAttr, i1
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import irdl_op_definition
from kopt.dialects.tile.index_list import Entry, split_entries
from kopt.dialects.tile.memory import Access, ReadsMemory, WritesMemory
from kopt.dialects.tile.planned import verify_via
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import TileType
from kopt.dialects.tile.values import is_float

#: What `rmw` combines the old element and the new value by. ``xchg`` takes the new value.
KINDS = ("add", "max", "min", "and", "or", "xor", "xchg")
#: Whether the kinds give the same memory in any order (floats up to rounding).
COMMUTES = {kind: kind != "xchg" for kind in KINDS}
#: What other accesses are ordered by an update, from nothing to everything.
ORDERINGS = ("relaxed", "acquire", "release", "acq_rel")


def verify_rmw(op: RmwOp) -> None:
    """Kind, element type, ordering and previous value of a read-modify-write."""
    kind, type = op.kind.data, op.value.type
    if kind not in KINDS:
        raise VerifyException(f"{op.name} knows {', '.join(KINDS)}, found '{kind}'")
    assert isinstance(type, TileType)
    if kind in ("and", "or", "xor") and is_float(type.element_type):
        raise VerifyException(f"{op.name} {kind} needs integers, found {type.element_type}")
    if kind in ("add", "max", "min") and type.element_type == i1:
        raise VerifyException(f"{op.name} {kind} needs numbers, found {type.element_type}")
    if len(op.previous) > 1 or any(result.type != type for result in op.previous):
        raise VerifyException(f"{op.name} gives one {type} or nothing")
    _verify_ordering(op)


def verify_cas(op: CasOp) -> None:
    """Types and ordering of a compare-and-swap."""
    types = [value.type for value in (op.expected, op.desired, op.previous)]
    if len(set(types)) > 1:
        raise VerifyException(f"{op.name} compares, swaps and gives one type, found {', '.join(map(str, types))}")
    _verify_ordering(op)


def _verify_ordering(op: RmwOp | CasOp) -> None:
    if op.ordering.data not in ORDERINGS:
        raise VerifyException(f"{op.name} knows the orderings {', '.join(ORDERINGS)}, found {op.ordering}")


@irdl_op_definition
class RmwOp(Access):
    """Combines each element with a value: ``add``, ``max``, ``min``, ``and``, ``or``, ``xor``, ``xchg``.

    ``mask`` names the lanes that update. With a result type it gives each element's previous value; lanes that do not
    update give an undefined one. ``ordering`` is ``relaxed`` where left out.

        %old = atomic.rmw max %v, %out[%i] mask %m ordering acq_rel : !tile.tile<…>, memref<…> -> !tile.tile<…>
    """

    name = "atomic.rmw"

    value = operand_def(TileType)
    memory = operand_def(MemRefType)
    indices = var_operand_def()
    mask = opt_operand_def(TileType)
    kind = prop_def(StringAttr)
    layout = prop_def(ArrayAttr)
    ordering = prop_def(StringAttr, default_value=StringAttr("relaxed"))
    previous = var_result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory(), WritesMemory(), Canonicalized())

    assembly_format = """
        custom<Keyword>($kind) $value `,` custom<Indexed>($memory, $indices, type($indices), $layout)
        (`via` custom<SymbolName>($via)^)? (`mask` custom<Known>($mask, type($mask))^)?
        (`ordering` custom<Keyword>($ordering)^)? custom<AccessId>($access) attr-dict
        `:` type($value) `,` type($memory) (`->` type($previous)^)?
    """

    def __init__(
        self,
        kind: str,
        value: SSAValue | Operation,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        mask: SSAValue | None = None,
        ordering: str = "relaxed",
        returns_previous: bool = False,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        operands, layout = split_entries(entries)
        value = SSAValue.get(value)
        super().__init__(
            operands=[value, memory, operands, mask],
            properties={"kind": StringAttr(kind), "layout": layout, "ordering": StringAttr(ordering)},
            attributes=attributes,
            result_types=[[value.type] if returns_previous else []],
        )

    def verify_(self) -> None:
        self._verify_access(self.value.type)
        verify_rmw(self)
        verify_via(self)

    def with_access(self, entries: Iterable[Entry], mask: SSAValue | None) -> RmwOp:
        """The same update of other elements and lanes."""
        kind, returns = self.kind.data, bool(self.previous)
        return RmwOp(kind, self.value, self.memory, entries, mask, self.ordering.data, returns, self.attributes)


@irdl_op_definition
class CasOp(Access):
    """Compare and swap: an element equal to ``expected`` becomes ``desired``; gives its previous value.

    %old = atomic.cas %expected, %desired, %x[%i] ordering acquire : !tile.tile<b0=8 x i32>, memref<100xi32>
    """

    name = "atomic.cas"

    expected = operand_def(TileType)
    desired = operand_def(TileType)
    memory = operand_def(MemRefType)
    indices = var_operand_def()
    mask = opt_operand_def(TileType)
    layout = prop_def(ArrayAttr)
    ordering = prop_def(StringAttr, default_value=StringAttr("relaxed"))
    previous = result_def(TileType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ReadsMemory(), WritesMemory(), Canonicalized())

    assembly_format = """
        custom<Known>($expected, type($expected)) `,` $desired `,`
        custom<Indexed>($memory, $indices, type($indices), $layout)
        (`via` custom<SymbolName>($via)^)? (`mask` custom<Known>($mask, type($mask))^)?
        (`ordering` custom<Keyword>($ordering)^)? custom<AccessId>($access) attr-dict
        `:` type($desired) `,` type($memory) custom<Same>(type($previous), ref(type($desired)))
    """

    def __init__(
        self,
        expected: SSAValue | Operation,
        desired: SSAValue | Operation,
        memory: SSAValue | Operation,
        entries: Iterable[Entry],
        mask: SSAValue | None = None,
        ordering: str = "relaxed",
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        operands, layout = split_entries(entries)
        desired = SSAValue.get(desired)
        super().__init__(
            operands=[expected, desired, memory, operands, mask],
            properties={"layout": layout, "ordering": StringAttr(ordering)},
            attributes=attributes,
            result_types=[desired.type],
        )

    def verify_(self) -> None:
        self._verify_access(self.desired.type)
        verify_cas(self)
        verify_via(self)

    def with_access(self, entries: Iterable[Entry], mask: SSAValue | None) -> CasOp:
        """The same update of other elements and lanes."""
        ordering = self.ordering.data
        return CasOp(self.expected, self.desired, self.memory, entries, mask, ordering, self.attributes)


Atomic = Dialect("atomic", [RmwOp, CasOp])
