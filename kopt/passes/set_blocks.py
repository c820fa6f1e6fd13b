"""The pass ``set-blocks``: other block sizes for IR that was written with some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from kopt.diagnostics import location_of
from kopt.dialects.tile import (
    CarryingLoop,
    ConcatOp,
    DimAttr,
    GridOp,
    RangeType,
    ReshapeOp,
    SliceOp,
    tile_type,
)
from kopt.dialects.tile.sizes import read_sizes
from kopt.errors import ConfigError, LoweringError, VerifyError
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.retyping import replace_dims, tag_sizes
from kopt.verification import verify_sizes
from kopt.walk import walk

#: Ops that hold numbers derived from block sizes when a tagged dimension takes part in more than its own place.
_SIZED = (ConcatOp, ReshapeOp, SliceOp)


@dataclass(frozen=True)
class SetBlocksPass(ModulePass):
    """Substitutes block sizes in every type: ``set-blocks{sizes="b0=64 b2=256"}``.

    A tag names one loop, so the loop and every dimension that it tags change together.

        tile.grid (%i: b0=128) in (1000) { %v = tile.load %x[%i] … -> !tile.tile<b0=128 x f32> }
    becomes, with sizes="b0=64",
        tile.grid (%i: b0=64) in (1000) { %v = tile.load %x[%i] … -> !tile.tile<b0=64 x f32> }

    Refuses a tag that no loop binds, and IR in which a constant was derived from the old size (a reshape that
    merges the dimension, a slice or concatenation of it; any, where the kernel's own Python read the number, as the
    function's ``tile.read_sizes`` says): import the kernel with the new sizes instead.
    """

    name = "set-blocks"
    meaning = REASSOCIATES

    sizes: str

    def __post_init__(self) -> None:
        parse_sizes(self.sizes)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        substitute_sizes(op, parse_sizes(self.sizes))


def parse_sizes(text: str) -> dict[str, int]:
    """``"b0=64 b2=256"`` → ``{"b0": 64, "b2": 256}``; spaces or commas separate. Raises `ConfigError` with the form."""
    sizes: dict[str, int] = {}
    for item in text.replace(",", " ").split():
        tag, _, number = item.partition("=")
        if not number.isdigit() or int(number) < 1:
            raise ConfigError(
                f"'{item}' is no block size: write a tag and a number of lanes, as in b0=64", id="block-sizes"
            )
        sizes[tag] = int(number)
    return sizes


def substitute_sizes(module: ModuleOp, sizes: dict[str, int]) -> None:
    """Replaces the sizes of tags in every type of a module, in place. It stays as it is where that is refused."""
    before = tag_sizes(module)
    if unknown := sizes.keys() - before.keys():
        raise ConfigError(f"no loop binds '{min(unknown)}'", id="block-sizes")
    for func in walk(module, FuncOp):
        _check_read(func, sizes)
    for op in walk(module, *_SIZED):
        _check(op, sizes)

    resize(module, sizes)
    try:
        verify_sizes(module)
    except VerifyError as error:
        resize(module, before)
        notes = ["a number follows from an old size: import the kernel again with the new block sizes"]
        raise LoweringError(error.message, error.location, notes=notes, id="block-sizes") from error


def resize(op: Operation, sizes: Mapping[str, int]) -> None:
    """Replaces the sizes of tags in every type inside of an operation, whatever follows from the old ones."""
    dims = {tag: DimAttr(size, tag) for tag, size in sizes.items()}
    replace_dims(op, lambda dim: dims.get(dim.tag.data, dim))


def _check_read(func: Operation, sizes: dict[str, int]) -> None:
    """Refuses sizes that the Python of an imported function computed with."""
    for tag in read_sizes(func):
        if tag in sizes:
            raise LoweringError(
                f"the kernel's Python read the size of '{tag}': what it computed from it is part of the IR",
                location_of(func),
                notes=["import the kernel again with the new block sizes"],
                id="block-sizes",
            )


def _check(op: ConcatOp | ReshapeOp | SliceOp, sizes: dict[str, int]) -> None:
    """Refuses an op whose numbers follow from an old size."""
    result = tile_type(op.result)
    for operand in op.operands:
        changed = [dim for dim in tile_type(operand).dims.data if dim.tag.data in sizes]
        lost = [dim for dim in changed if dim not in result.dims.data]
        if lost or (changed and isinstance(op, SliceOp)):
            _refuse(op, changed[0])


def _refuse(op: Operation, dim: DimAttr) -> None:
    raise LoweringError(
        f"'{op.name}' was made for {dim}: its numbers follow from the old size",
        location_of(op),
        notes=["import the kernel again with the new block sizes"],
        id="block-sizes",
    )


def loop_tags(module: ModuleOp) -> list[str]:
    """The tags that loops bind, in order of appearance."""
    loops = [op for op in walk(module) if isinstance(op, GridOp | CarryingLoop)]
    values = [arg for op in loops for arg in op.body.block.args]
    return [value.type.tag for value in values if isinstance(value.type, RangeType)]
