"""Host tensors of which extents differ from call to call, as the kernel's Python and torch see them.

In torch's own books such an extent is a number that no array has, its stand-in. The kernel sees an `OpenExtent` in its
place; operators of torch that would compute with the number are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import torch
from xdsl.dialects.builtin import IntAttr, MemRefType, UnknownLoc
from xdsl.ir import BlockArgument, Operation, SSAValue

from kopt.building import types
from kopt.dialects import tile
from kopt.dialects.builder import as_hint
from kopt.dialects.tile.extents import DimOp
from kopt.frontend.block_size import Shape
from kopt.frontend.dtypes import element_type
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, Index
from kopt.open_extents import LEAST, OpenExtent, is_open, open_extents, plain_name

#: Operators that keep shapes as they are, or make arrays of shapes that they are given.
_KEEPING = frozenset(
    """empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones
    full full_like new_full clone _to_copy copy_ fill_ zero_ alias detach lift_fresh lift positive""".split()
)


class OpenTensor(torch.Tensor):
    """A meta tensor with open extents. Operators give plain tensors, which `Host.track` makes such again."""

    own: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # pyright: ignore

    @property
    def shape(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Shape(map(as_extent, torch.Tensor.size(self)))

    def size(self, dim: int | None = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Its shape, or one extent."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> Any:
        """Needs every extent."""
        return self.shape.numel()

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Strides, where no open extent is in them."""
        found = torch.Tensor.stride(self) if dim is None else (torch.Tensor.stride(self, dim),)
        for stride in found:
            if stride >= LEAST:
                open_extents(self.shape)[0].needed()
        return found if dim is None else found[0]

    def __len__(self) -> int:
        return int(self.shape[0])


def as_extent(number: int) -> int:
    """A number of torch's as an extent: what it stands for, where it stands for one."""
    if number < LEAST or not (known := current().open_extents):
        return number
    if (found := known.get(number)) is None:
        next(iter(known.values()))[0].needed()
    return found[0]


def bind(memory: SSAValue, shape: Iterable[int]) -> None:
    """Has the open extents of an argument's shape as values of the kernel: the first array that has one gives it."""
    tracer = current()
    for dim, extent in enumerate(shape):
        if isinstance(extent, OpenExtent) and extent.stand_in not in tracer.open_extents:
            op = DimOp(memory, dim)
            op.result.name_hint = as_hint(plain_name(extent))
            tracer.host.emit(op)
            op.location = UnknownLoc()
            tracer.open_extents[extent.stand_in] = extent, op.result
        elif tracer.open_extents and not isinstance(extent, OpenExtent) and extent >= LEAST:
            unsupported(f"an array of {extent} elements in a dimension is not compiled together with open extents")


def stand_ins(shape: Sequence[int]) -> tuple[int, ...]:
    """A shape as torch has it. Refuses one of more elements than torch counts."""
    found = tuple(extent.stand_in if isinstance(extent, OpenExtent) else extent for extent in shape)
    if prod(found) >= 1 << 59 and (open := open_extents(shape)):
        open[-1].needed()
    return found


def tracked(tensor: torch.Tensor) -> torch.Tensor:
    """A meta tensor as the kernel sees it."""
    if isinstance(tensor, OpenTensor) or not current().open_extents:
        return tensor
    if not any(size >= LEAST for size in tensor.size()):
        return tensor
    seen = tensor.as_subclass(OpenTensor)
    seen.own, tensor.seen = tensor, seen  # pyright: ignore[reportAttributeAccessIssue]
    return seen


def plain_tensor(value: Any) -> Any:
    """A tensor as torch's operators take it."""
    return value.own if isinstance(value, OpenTensor) else value


def seen_tensor(value: Any) -> Any:
    """A tensor as the kernel sees it."""
    return getattr(value, "seen", value)


def memref_type(tensor: torch.Tensor) -> MemRefType:
    """The IR's type of a tensor: strides where they are not row-major."""
    sizes, strides = tuple(torch.Tensor.size(tensor)), tuple(torch.Tensor.stride(tensor))
    offset, shape = int(tensor.storage_offset()), tuple(map(as_extent, sizes))
    if any(map(is_open, shape)):
        if not tensor.is_contiguous() or offset:
            unsupported("an array with an extent that differs from call to call has to be contiguous")
        return MemRefType(element_type(tensor.dtype), shape)
    return types.memref_type(element_type(tensor.dtype), shape, strides, offset)


def admit(name: str, values: Iterable[Any]) -> None:
    """Refuses operators that compute with an open extent, of a tensor or as a number."""
    if name in _KEEPING:
        return
    for value in values:
        for number in torch.Tensor.size(value) if isinstance(value, torch.Tensor) else (value,):
            if type(number) is int and number >= LEAST and is_open(extent := as_extent(number)):
                unsupported(
                    f"'{name}' of {extent.name}, which differs from call to call, is not compiled",
                    f"leave {extent.name} out of dynamic=: each extent is compiled",
                )


def extent_ssa(extent: OpenExtent) -> SSAValue:
    """An open extent as an ``index`` value."""
    return current().open_extents[extent.stand_in][1]


def multiple_of(extent: Any, number: int) -> Any:
    """``kopt.multiple_of``: the extent, of which it is known from now on; each call's is checked."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        unsupported(f"an extent is a multiple of a positive integer, found {number!r}")
    if not isinstance(extent, OpenExtent):
        if not isinstance(extent, int) or extent % number:
            unsupported(f"{extent} is no multiple of {number}, as kopt.multiple_of states")
        return extent
    known, value = current().open_extents[extent.stand_in]
    op = value.owner
    assert isinstance(op, DimOp)
    known.require(number)
    op.multiple = IntAttr(known.multiple)
    return extent


def check_entry(extent: int, item: Any) -> None:
    """Refuses an index of which nobody knows that it stays inside of a dimension, where an extent is open.

    What is computed of elements is the caller's word, as it is where extents are numbers: interpreters check it.
    """
    if isinstance(item, DeviceTensor | Index) and _is_loaded(item.ssa):
        return
    limit = _limit(item)
    if extent is limit or not is_open(extent) and not is_open(limit) or extent == limit:
        return
    name = extent.name if isinstance(extent, OpenExtent) else limit.name  # pyright: ignore[reportOptionalMemberAccess]
    unsupported(
        f"whether this index stays inside of a dimension of {_said(extent)} is not known: {name} differs from call to "
        "call",
        f"index it by a tile of hl.tile({_said(extent)}), or leave {name} out of dynamic=: each extent is compiled",
    )


def _is_loaded(value: SSAValue) -> bool:
    """Whether a number follows from elements of arrays."""
    todo, seen = [value], {value}
    while todo:
        op = todo.pop().owner
        if isinstance(op, tile.LoadOp):
            return True
        if isinstance(op, Operation):
            new = [operand for operand in op.operands if operand not in seen]
            seen.update(new)
            todo += new
    return False


def _said(extent: int) -> str:
    return extent.name if isinstance(extent, OpenExtent) else str(extent)


def limit_of(bound: Any) -> OpenExtent | None:
    """The open extent that a loop up to a bound stays below: it is the bound, or limits the tile that ends there."""
    if isinstance(bound, OpenExtent):
        return bound
    op = bound.ssa.owner if isinstance(bound, Index) else None
    return current().open_limits.get(op.range) if isinstance(op, tile.EndOp) else None


def _limit(item: Any) -> OpenExtent | None:
    """The open extent below which a tile, or a number of a loop, stays."""
    lanes = item.lanes if isinstance(item, DeviceTensor) else None
    value: Any = getattr(item if lanes is None else lanes.range, "ssa", None)
    if isinstance(value, SSAValue) and isinstance(value.owner, tile.BeginOp):
        value = value.owner.range
    if isinstance(value, SSAValue) and isinstance(value.owner, tile.ShiftOp):
        extent = current().open_limits.get(value.owner.range)
        return None if extent is None else OpenExtent(f"that a shifted tile of {extent.name} reaches")
    return current().open_limits.get(value) if isinstance(value, BlockArgument) else None
