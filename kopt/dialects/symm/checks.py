"""What collectives demand of their operands, functional or in destination-passing form."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StringAttr, bf16, f32
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.symm.space import group_of

#: How ranks' elements are combined.
KINDS = ("add", "max", "min", "avg")
#: How an all-reduce reads the other ranks' symmetric memory; left out, a communication library moves the data.
ALGORITHMS = ("one_shot", "two_shot", "multimem")
#: What those can combine, and by which kinds.
ELEMENTS = (f32, bf16)
ALGORITHM_KINDS = ("add",)
_WORD_BYTES = 4
_BYTES = {f32: 4, bf16: 2}


def check_collective(op: Operation, group: StringAttr, source: Attribute, target: Attribute) -> None:
    """A named group, one element type, and no buffer of another group."""
    assert isinstance(source, MemRefType) and isinstance(target, MemRefType)
    if not group.data:
        raise VerifyException(f"{op.name} needs the name of its group")
    if source.element_type != target.element_type:
        raise VerifyException(f"{op.name} keeps the element type, found {source} to {target}")
    if group_of(source) not in (None, group.data):
        raise VerifyException(f"{op.name} in group {group} takes a buffer of another group, {source.memory_space}")


def check_same(op: Operation, source: Attribute, target: Attribute) -> None:
    """The result has the input's shape."""
    assert isinstance(source, MemRefType) and isinstance(target, MemRefType)
    if source.get_shape() != target.get_shape():
        found = f"{list(source.get_shape())} and {list(target.get_shape())}"
        raise VerifyException(f"{op.name} keeps the shape, found {found}")


def check_parts(op: Operation, part: Attribute, whole: Attribute) -> None:
    """``whole`` is some parts, one after the other along the first dimension."""
    assert isinstance(part, MemRefType) and isinstance(whole, MemRefType)
    some, all = part.get_shape(), whole.get_shape()
    if len(some) != len(all) or not some or some[1:] != all[1:] or not _are_parts(some[0], all[0]):
        raise VerifyException(f"{op.name} joins parts along dimension 0, found {list(some)} and {list(all)}")


def _are_parts(rows: int, all: int) -> bool:
    """Whether parts of some rows, one at least, have all rows together."""
    return all > 0 and all % rows == 0 if rows else all == 0


def check_reduction(op: Operation, kind: StringAttr, algorithm: StringAttr | None, source: Attribute) -> None:
    """A known kind and algorithm, which can combine elements of the type."""
    assert isinstance(source, MemRefType)
    if kind.data not in KINDS:
        raise VerifyException(f"{op.name} knows {', '.join(KINDS)}, found '{kind.data}'")
    if algorithm is None:
        return
    if algorithm.data not in ALGORITHMS:
        raise VerifyException(f"{op.name} goes by {', '.join(ALGORITHMS)}, found '{algorithm.data}'")
    if (problem := unsupported(kind.data, source)) is not None:
        raise VerifyException(f"{op.name} by {algorithm.data} {problem}")


def unsupported(kind: str, type: MemRefType) -> str | None:
    """Why no algorithm over symmetric memory can combine such arrays, as the end of a sentence, or None."""
    if kind not in ALGORITHM_KINDS:
        return f"combines by {', '.join(ALGORITHM_KINDS)} only, found '{kind}'"
    if type.element_type not in ELEMENTS:
        return f"combines {' or '.join(map(str, ELEMENTS))}, found {type.element_type}"
    if _bytes(type) % _WORD_BYTES:
        return f"moves words of {_WORD_BYTES} bytes, found {_bytes(type)} bytes in {type}"
    return None


def _bytes(type: MemRefType) -> int:
    """The bytes of a static array; 0, which fits everything, for one of dynamic shape."""
    shape: Sequence[int] = type.get_shape()
    count = 0 if DYNAMIC_INDEX in shape else 1
    for size in shape:
        count *= size
    return count * _BYTES[type.element_type]
