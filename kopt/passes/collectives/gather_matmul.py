"""A product with an array that all ranks have a part of: each part is multiplied while the next one travels.

In each step of the ring a rank starts to send on the part that came last, multiplies it, and then waits for the next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType, bf16, f32, i32
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import effects_on_memory
from kopt.dialects.builder import named
from kopt.dialects.host import CallOp
from kopt.dialects.symm import AllGatherOp, BarrierOp
from kopt.dialects.tile import ALL, DotOp, GetOp, RefType, array_type
from kopt.passes.collectives.building import (
    CollectiveKernel,
    LocalCopy,
    Members,
    Place,
    RankCopy,
    before,
    loop,
    visit,
    when,
    whole,
)
from kopt.passes.collectives.combining import write
from kopt.passes.collectives.one_shot import SEMAPHORE
from kopt.passes.collectives.ring import neighbours
from kopt.passes.collectives.shaping import bits_of, cropped, padded, reshaped, tile_rows
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES, round_up

_PRODUCT = "aten.mm.default"
_ELEMENTS = (f32, bf16)
#: Columns of a block, at most.
_COLUMNS = 512


@dataclass(frozen=True)
class MatmulSizes:
    """Rows of a part, the dimension that is summed, and columns, as padded; and the blocks of rows and of columns."""

    rows: int
    inner: int
    columns: int
    block_rows: int
    block_columns: int


def product_of(gather: AllGatherOp) -> CallOp | None:
    """A product with the gathered array on its left that may as well stand where the gathering stands, or None."""
    for use in gather.result.uses:
        call = use.operation
        if isinstance(call, CallOp) and call.callee.data == _PRODUCT and use.index == 0:
            if call.inputs[1] is not gather.result and _may_move(call, gather) and sizes_of(gather, call) is not None:
                return call
    return None


def _may_move(call: CallOp, gather: AllGatherOp) -> bool:
    """Whether nothing that the product needs is made or written between the two."""
    between: list[Operation] = []
    op = gather.next_op
    while op is not None and op is not call:
        between.append(op)
        op = op.next_op
    writes = any(kind is MemoryEffectKind.WRITE for op in between for kind, _ in effects_on_memory(op))
    return op is call and not writes and call.inputs[1].owner not in between


def sizes_of(gather: AllGatherOp, product: CallOp) -> MatmulSizes | None:
    """How the product is cut into blocks, or None where it has no element, another type, or too long a sum."""
    part, weight = (array_type(value) for value in (gather.input, product.inputs[1]))
    if part.element_type not in _ELEMENTS or weight.element_type != part.element_type:
        return None
    (rows, inner), columns = part.get_shape(), weight.get_shape()[1]
    if 0 in (rows, inner, columns):
        return None
    unit, inner, columns = tile_rows(part), round_up(inner, LANES), round_up(columns, LANES)
    fitting = Budget.GATHERED_BYTES * 8 // (bits_of(part) * inner)
    if fitting < LANES:
        return None
    block_rows = min(fitting // unit * unit, round_up(rows, unit))
    block_columns = math.gcd(columns, min(_COLUMNS, 2 ** (fitting.bit_length() - 1)))
    return MatmulSizes(round_up(rows, block_rows), inner, columns, block_rows, block_columns)


def gather_and_multiply(name: str, gather: AllGatherOp, product: CallOp, members: Members) -> tuple[SSAValue, SSAValue]:
    """The gathered array, and the product."""
    sizes = sizes_of(gather, product)
    assert sizes is not None
    part = padded(gather.input, (sizes.rows, sizes.inner))
    weight = padded(product.inputs[1], (sizes.inner, sizes.columns))
    element = array_type(part).element_type
    types = [MemRefType(element, (members.ranks, sizes.rows, size)) for size in (sizes.inner, sizes.columns)]
    kernel = _kernel(name, part, weight, types, sizes, members)
    results = zip(kernel.call.outputs, (gather.result, product.outputs[0]), strict=True)
    gathered, multiplied = (_unpadded(new, array_type(old), members.ranks) for new, old in results)
    return gathered, multiplied


def _kernel(
    name: str, part: SSAValue, weight: SSAValue, types: list[MemRefType], sizes: MatmulSizes, members: Members
) -> CollectiveKernel:
    element = types[0].element_type
    blocks = [
        (sizes.block_rows, sizes.inner),
        (sizes.inner, sizes.block_columns),
        (sizes.block_rows, sizes.block_columns),
    ]
    scratch = [RefType(shape, element) for shape in blocks]
    semaphores = [SEMAPHORE, SEMAPHORE, RefType([members.ranks], i32, "semaphore")]
    kernel = CollectiveKernel(name, [part, weight], types, [*scratch, *semaphores], members)
    names = ("part", "weight", "gathered", "out", "rows", "columns", "block", "loaded", "sent", "received")
    given, right_side, gathered, out, rows, columns, block, loaded, sent, received = kernel.call_refs(*names)
    multiply = _Multiply(members, sizes, gathered, right_side, out, rows, columns, block, loaded)
    with kernel.body() as me:
        LocalCopy(whole(given), (gathered, (me, ALL, ALL)), loaded).run()
        BarrierOp(members.group, members.ranks)
        ranks = neighbours(me, members)
        with loop(members, "step", members.ranks) as range:
            step = visit(range, "step")
            place = before(me, step, 0, members.ranks, "place")
            here: Place = (gathered, (place, ALL, ALL))
            copy = RankCopy(here, here, ranks.right, (sent, (0,)), (received, (step,)), members.group)
            with when("ult", step, members.ranks - 1):
                copy.start()
            multiply.run(place)
            with when("ult", step, members.ranks - 1):
                copy.wait()
    return kernel


@dataclass(frozen=True)
class _Multiply:
    """The product of one part, block by block."""

    members: Members
    sizes: MatmulSizes
    gathered: SSAValue
    weight: SSAValue
    out: SSAValue
    rows: SSAValue
    columns: SSAValue
    block: SSAValue
    loaded: SSAValue

    def run(self, place: SSAValue) -> None:
        """Builds the loops over blocks of columns and of rows."""
        sizes = self.sizes
        with loop(self.members, "j", sizes.columns, sizes.block_columns) as j:
            LocalCopy((self.weight, (ALL, j)), whole(self.columns), self.loaded).run()
            with loop(self.members, "i", sizes.rows, sizes.block_rows) as i:
                LocalCopy((self.gathered, (place, i, ALL)), whole(self.rows), self.loaded).run()
                sides = [GetOp(*whole(ref)).result for ref in (self.rows, self.columns)]
                product = DotOp(*sides, element_type=f32, precision="ieee")
                write(named(product.result, "product"), whole(self.block))
                LocalCopy(whole(self.block), (self.out, (place, i, j)), self.loaded).run()


def _unpadded(value: SSAValue, type: MemRefType, ranks: int) -> SSAValue:
    rows, columns = type.get_shape()
    return reshaped(cropped(value, (ranks, rows // ranks, columns)), type.get_shape())
