"""What stands inside of an operation: ``walk(func, LoadOp)`` is MLIR's ``func.walk<LoadOp>()``."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, overload

from xdsl.ir import Block, Operation, Region

Kind = TypeVar("Kind", bound=Operation)


@overload
def walk(top: Operation | Region | Block) -> list[Operation]: ...
@overload
def walk(top: Operation | Region | Block, *kinds: type[Kind]) -> list[Kind]: ...
def walk(top: Operation | Region | Block, *kinds: type[Operation]) -> list[Any]:
    """The operations inside of ``top``, itself the first, in the order of the text; only those of some kinds, if named.

    They are found before the first is looked at: the caller may erase and insert what it likes.
    """
    found: list[Operation] = []
    wanted = _wanted(kinds)
    if type(top) is Block:
        _add_block(top, wanted, found)
    elif type(top) is Region:
        _add_region(top, wanted, found)
    else:
        _add_op(top, wanted, found)  # pyright: ignore[reportArgumentType]
    return found


class _Wanted(dict[type[Operation], bool]):
    """Whether operations of a class are of the kinds that are looked for: each class is asked once."""

    def __init__(self, kinds: tuple[type[Operation], ...]):
        super().__init__()
        self.kinds = kinds or (Operation,)

    def __missing__(self, cls: type[Operation]) -> bool:
        wanted = self[cls] = issubclass(cls, self.kinds)
        return wanted


@cache
def _wanted(kinds: tuple[type[Operation], ...]) -> _Wanted:
    return _Wanted(kinds)


def _add_op(op: Operation, wanted: _Wanted, found: list[Operation]) -> None:
    if wanted[type(op)]:
        found.append(op)
    for region in op.regions:
        _add_region(region, wanted, found)


def _add_region(region: Region, wanted: _Wanted, found: list[Operation]) -> None:
    block = region.first_block
    while block is not None:
        _add_block(block, wanted, found)
        block = block.next_block


def _add_block(block: Block, wanted: _Wanted, found: list[Operation]) -> None:
    op = block.first_op
    while op is not None:
        if op.regions:
            _add_op(op, wanted, found)
        elif wanted[type(op)]:
            found.append(op)
        op = op._next_op  # pyright: ignore[reportPrivateUsage]  # the property is a tenth of all walks
