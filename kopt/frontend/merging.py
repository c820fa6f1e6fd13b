"""Making values of two paths one: what a loop carries round, what the arms of a branch leave behind.

A device value keeps its dtype and its dimensions on both paths. A Python number becomes a device number where the
paths differ; a block's dimension becomes plain where the other path's is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Attribute, SSAValue

from kopt.dialects.builder import as_hint
from kopt.dialects.tile import TileType
from kopt.frontend.broadcasting import broadcast, common_dims
from kopt.frontend.dtypes import element_type, torch_dtype
from kopt.frontend.ops.rules import convert
from kopt.frontend.state import unsupported
from kopt.frontend.values import (
    INDEX,
    DeviceTensor,
    Index,
    Undefined,
    as_tensor,
    describe,
    full_tensor,
    index_ssa,
    is_device,
    is_integer,
    is_number,
)
from kopt.trees import leaves

#: A name that is not bound on a path.
MISSING = object()


@dataclass(frozen=True)
class Slot:
    """The IR type in which a leaf goes from one path to another."""

    type: Attribute


def slot_of(value: Any) -> Slot | None:
    """The slot that a device value takes; None for host values, which stay as they are."""
    if isinstance(value, DeviceTensor):
        return Slot(value.tile_type)
    if isinstance(value, Index):
        return Slot(INDEX)
    return None


def join(name: str, a: Any, b: Any) -> Slot | None:
    """The slot for a leaf that is ``a`` on one path and ``b`` on the other. Refuses what cannot be one value."""
    if a is b or (is_number(a) and is_number(b) and type(a) is type(b) and _equal(a, b)):
        return slot_of(a)
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        return slot_of(b if isinstance(a, Undefined) else a) or _slot_of_number(b if isinstance(a, Undefined) else a)
    if not _carriable(a) or not _carriable(b):
        if _host_equal(a, b):
            return None
        unsupported(f"'{name}' is {describe(a)} on one path and {describe(b)} on the other", id="paths-differ")
    if is_integer(a) and is_integer(b):
        return Slot(INDEX)
    return _join_tensors(name, a, b)


def _equal(a: Any, b: Any) -> bool:
    return a == b or (a != a and b != b)


def _host_equal(a: Any, b: Any) -> bool:
    if is_device(a) or is_device(b):
        return False
    try:
        return bool(a == b) if not hasattr(a, "shape") else False
    except Exception:
        return False


def _carriable(value: Any) -> bool:
    return isinstance(value, DeviceTensor | Index) or is_number(value)


def _slot_of_number(value: Any) -> Slot | None:
    if not is_number(value):
        return None
    return Slot(INDEX) if is_integer(value) else Slot(as_tensor(value).tile_type)


def _join_tensors(name: str, a: Any, b: Any) -> Slot:
    """Tensors of one dtype; numbers and loop numbers take the tensor's."""
    strong = [v for v in (a, b) if isinstance(v, DeviceTensor)]
    tensors = [v if isinstance(v, DeviceTensor) else as_tensor(v) for v in (a, b)]
    if len(strong) == 2 and a.dtype != b.dtype:
        unsupported(
            f"'{name}' changes its dtype from {a.dtype} to {b.dtype}",
            f"convert it: {name} = (…).to({a.dtype})",
            id="paths-differ",
        )
    if len(strong) == 2 and a.rank != b.rank and a.rank and b.rank:
        unsupported(f"'{name}' changes its shape from {describe(a)} to {describe(b)}", id="paths-differ")
    dtype = strong[0].dtype if strong else (tensors[0] if tensors[0].dtype.is_floating_point else tensors[1]).dtype
    dims = common_dims(tensors)
    return Slot(full_type(dims, dtype))


def full_type(dims: Any, dtype: Any) -> TileType:
    """The tile type of dimensions and a torch dtype."""
    return TileType(dims, element_type(dtype))


def into(slot: Slot, value: Any) -> SSAValue:
    """A leaf as the IR value of its slot."""
    if slot.type == INDEX:
        return index_ssa(0 if isinstance(value, Undefined) else value)
    assert isinstance(slot.type, TileType)
    dtype, dims = torch_dtype(slot.type.element_type), slot.type.dims.data
    if isinstance(value, Undefined):
        return full_tensor(0, dims, dtype).ssa
    if is_number(value):
        return full_tensor(value, dims, dtype).ssa
    return broadcast(convert(value, dtype), dims).ssa


def outof(slot: Slot, ssa: SSAValue) -> Any:
    """The leaf that an IR value of a slot is to the kernel."""
    return Index(ssa) if slot.type == INDEX else DeviceTensor(ssa)


def received(leaf: Any, slot: Slot | None, values: Iterator[SSAValue]) -> Any:
    """A leaf after two paths have met: the next value of its slot, or the host value that it was."""
    return leaf if slot is None else outof(slot, next(values))


def name_leaves(value: Any, name: str) -> None:
    """Gives the unnamed device values in a value the name of its variable."""
    for leaf in leaves(value):
        ssa = getattr(leaf, "ssa", None) if is_device(leaf) else None
        if ssa is not None and ssa.name_hint is None:
            ssa.name_hint = as_hint(name)
