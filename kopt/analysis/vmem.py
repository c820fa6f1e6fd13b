"""What a `pallas.call` takes of VMEM, buffer by buffer: blocks as libtpu pads them, and values beyond registers.

What blocks and scratch memory take is exact; what values take is `kopt.analysis.spills`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, SSAValue

from kopt.analysis.revisit_order import grid_of
from kopt.analysis.spills import spilled_bytes
from kopt.dialects.pallas import CallOp, PipelineOp, WindowAttr
from kopt.dialects.tile import GridOp, RefType, array_type
from kopt.ir.ranges import binding
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import window_bytes
from kopt.walk import walk


@dataclass(frozen=True)
class VmemBuffer:
    """A block in VMEM, ``count`` times: ``use`` is ``window``, ``scratch`` or ``pipeline``.

    ``value`` is the ref, ``shape`` its lanes, ``bytes`` what one takes, padded to tiles.
    """

    value: SSAValue
    shape: tuple[int, ...]
    element: Attribute
    bytes: int
    count: int
    use: str

    @property
    def total(self) -> int:
        """Bytes of all of them."""
        return self.count * self.bytes

    @property
    def name(self) -> str:
        """The name of its array."""
        return self.value.name_hint or "_"

    def __str__(self) -> str:
        times = f"{self.count} of " if self.count > 1 else ""
        shape = " x ".join(map(str, (*self.shape, self.element)))
        return f"'{self.name}' takes {amount(self.total)}: {times}{shape} ({self.use})"


def vmem_buffers(call: CallOp) -> list[VmemBuffer]:
    """The buffers of a call: windows, twice where their blocks change; scratch memory; blocks of pipelines, twice."""
    grid = grid_of(call)
    refs = (*call.input_refs, *call.output_refs)
    arrays = [array_type(value).element_type for value in (*call.inputs, *call.outputs)]
    windows = (
        _buffer(ref, [size for size in window.sizes if size], element, 2 if _moves(window, grid) else 1, "window")
        for ref, element, window in zip(refs, arrays, call.windows.data, strict=True)
        if window.space.data == "vmem"
    )
    return [*windows, *_refs(call.scratch, 1, "scratch"), *_refs(_pipelined(grid), 2, "pipeline")]


def buffer_bytes(call: CallOp) -> int:
    """Bytes of the buffers: the least that libtpu takes."""
    return sum(buffer.total for buffer in vmem_buffers(call))


def vmem_bytes(call: CallOp, chip: TpuChip) -> int:
    """Bytes that libtpu takes, as far as can be told: buffers, and what registers do not hold."""
    return buffer_bytes(call) + spilled_bytes(grid_of(call), chip)


def amount(size: int) -> str:
    """Bytes as people read them."""
    return f"{size / 2**20:,.1f} MiB" if size >= 2**20 else f"{size:,} bytes"


def _refs(refs: Iterable[SSAValue], count: int, use: str) -> Iterator[VmemBuffer]:
    for ref in refs:
        if isinstance(ref.type, RefType) and ref.type.space.data == "vmem":
            yield _buffer(ref, ref.type.shape, ref.type.element_type, count, use)


def _buffer(ref: SSAValue, shape: Sequence[int], element: Attribute, count: int, use: str) -> VmemBuffer:
    assert isinstance(element, FixedBitwidthType)
    return VmemBuffer(ref, tuple(shape), element, window_bytes(shape, max(8, element.bitwidth)), count, use)


def _moves(window: WindowAttr, grid: GridOp) -> bool:
    """Whether the block is another one at some step."""
    return any(binding(grid.ranges[dim]).trips != 1 for dim in window.grid_dims)


def _pipelined(grid: GridOp) -> list[SSAValue]:
    return [block for pipeline in walk(grid, PipelineOp) for block in pipeline.blocks]
