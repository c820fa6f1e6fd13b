"""Tensor descriptors: made by the host of an array and a block's shape, parameters of the kernel.

x_desc = TensorDescriptor(_aligned(x), [4096, 4096], [4096, 1], [128, 64])
x_block = x_desc.load([tile_m_begin, tile_k_begin])
out_desc.store([tile_m_begin, tile_n_begin], acc)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from kopt.analysis.tensor_descriptors import ALIGNED, DescribedAccess, Descriptor, descriptors, is_described, pointers
from kopt.dialects import tile, triton
from kopt.dialects.tile.index_list import AllAttr, SliceAttr, is_number
from kopt.ir.ranges import binding
from kopt.lowering.expr import ATOM, Expr
from kopt.lowering.triton import memory
from kopt.lowering.triton.kernel import TritonPrinter
from kopt.lowering.triton.memory import strides_of
from kopt.lowering.writer import Writer

#: The name of the function that gives an array whose first element a descriptor can begin with.
ALIGN = "_aligned"


def arguments(launch: triton.LaunchOp, arrays: Sequence[str]) -> list[str]:
    """What a launch passes of its arrays: some themselves, then the descriptors."""
    args = [*launch.body.block.args]
    made = [_made(one, arrays[args.index(one.memory)]) for one in descriptors(launch)]  # pyright: ignore
    return [*(arrays[number] for number in pointers(launch)), *made]


def _made(descriptor: Descriptor, array: str) -> str:
    type = descriptor.memory.type
    assert isinstance(type, MemRefType)
    parts = ", ".join(str([*part]) for part in (type.get_shape(), strides_of(type), descriptor.block))
    begin = array if descriptor.is_written else f"{ALIGN}({array})"
    return f"TensorDescriptor({begin}, {parts})"


def print_load(kernel: TritonPrinter, op: tile.LoadOp) -> None:
    """``x_block = x_desc.load([tile_m_begin, 0])``, without the dimensions that numbers pick; else by pointers."""
    if not is_described(op):
        memory.print_load(kernel, op)
        return
    descriptor, type = Descriptor.of(op), tile.tile_type(op.result)
    text = f"{kernel.descriptors[descriptor]}.load({_begins(kernel, op)})"
    if type.shape != descriptor.block:
        text += f".reshape({kernel.sizes(type.shape, type)})"
    hint = op.result.name_hint or f"{kernel[op.memory].text}_block"
    kernel.assign(op.result, Expr(text, shape=type.shape), hint)


def print_store(kernel: TritonPrinter, op: tile.StoreOp) -> None:
    """``out_desc.store([tile_m_begin, 0], v)``; else by pointers."""
    if not is_described(op):
        memory.print_store(kernel, op)
        return
    descriptor, value = Descriptor.of(op), kernel.whole(op.value)
    same = tile.tile_type(op.value).shape == descriptor.block
    text = value.text if same else f"{value.at(ATOM)}.reshape({_block(kernel, op)})"
    kernel.line(f"{kernel.descriptors[descriptor]}.store({_begins(kernel, op)}, {text})")


def _block(kernel: TritonPrinter, op: tile.StoreOp) -> str:
    """The sizes of a stored block in the dimensions of its array, 1 where a number picks."""
    type = tile.tile_type(op.value)
    lanes = iter(kernel.size_names(type.shape, type))
    return f"[{', '.join('1' if is_number(entry) else next(lanes) for entry in op.entries)}]"


def _begins(kernel: TritonPrinter, op: DescribedAccess) -> str:
    """Where the block of an access begins, as a list."""
    return f"[{', '.join(_begin(kernel, entry) for entry in op.entries)}]"


def _begin(kernel: TritonPrinter, entry: object) -> str:
    """The first element of a block along one dimension, in 32 bits: what is loaded, or computed, may have 64."""
    if isinstance(entry, AllAttr):
        return "0"
    if isinstance(entry, SliceAttr):
        return str(entry.start.data)
    if not isinstance(entry, SSAValue):
        return str(entry)
    if isinstance(entry.type, tile.RangeType):
        begin = kernel.ranges[entry].begin.text
        return begin if isinstance(binding(entry).lower, int) else f"tl.cast({begin}, tl.int32)"
    owner = entry.owner
    counts = isinstance(owner, tile.BeginOp) and isinstance(binding(owner.range).lower, int)
    return kernel[entry].text if counts else f"tl.cast({kernel[entry].text}, tl.int32)"


def print_import(writer: Writer, launches: Iterable[triton.LaunchOp]) -> None:
    """The import of descriptors, and the function that aligns their arrays, where a launch has any."""
    if not any(map(descriptors, launches)):
        return
    writer.lines(
        [
            "from triton.tools.tensor_descriptor import TensorDescriptor",
            "",
            "",
            f"def {ALIGN}(x):",
            f"    # The array of a descriptor begins at a multiple of {ALIGNED} bytes.",
            f"    if x.data_ptr() % {ALIGNED} == 0:",
            "        return x",
            "    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)",
        ]
    )
