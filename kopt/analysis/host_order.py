"""The ops of a host function in the order in which they run."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation

from kopt.dialects.host import PartitionOp


def host_ops(block: Block) -> Iterator[Operation]:
    """The host ops of a function in the order in which they run, those of partitions among them."""
    for op in block.ops:
        yield op
        if isinstance(op, PartitionOp):
            yield from host_ops(op.body.block)
