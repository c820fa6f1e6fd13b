"""The pass ``expand-collectives``: collectives become kernels whose ranks copy to each other's memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from xdsl.builder import Builder, ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from kopt.analysis.groups import groups_of
from kopt.diagnostics import location_of, remark
from kopt.dialects.pallas import CallOp
from kopt.dialects.symm import AllGatherOp
from kopt.errors import ConfigError
from kopt.passes.collectives.building import Members
from kopt.passes.collectives.expansion import Collective, Job, expand, obstacle, ranks_of
from kopt.passes.collectives.gather_matmul import gather_and_multiply, product_of
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.replacing import replace
from kopt.passes.retyping import new_tags
from kopt.walk import walk


@dataclass(frozen=True)
class ExpandCollectivesPass(ModulePass):
    """Expands functional collectives into Pallas kernels: `symm.remote_copy` between ranks, and what orders them.

    ``kind=ring`` copies to the next rank only, ``one-shot`` to all others at once; an all-reduce whose ``by`` names a
    one-shot algorithm always is one shot. ``ranks`` is their number where no shape tells it; ``group`` picks the
    collectives of one group. Arrays are moved as rows of 128 lanes. The host pads arrays of another form.

        %s = symm.all_gather %x group "tp" : memref<8x128xf32> to memref<32x128xf32>
    becomes
        %g = pallas.call @f_all_gather(%x) windows [<[8, 128], … hbm>, <[4, 8, 128], … hbm>] … collective 0 : … {
          %me = symm.rank group "tp"
          pallas.dma_start %given[:, :] to %out[%me, :, :] signal %loaded[0] : …
          symm.barrier group "tp" ranks 4 : i32
          tile.for %step: s1=1 in (0, 3) {
            %copy = symm.remote_copy %out[%part, :, :] to %out[%part, :, :] on %right signal … }
        %s = host.reshape %g : memref<4x8x128xf32> to memref<32x128xf32>

    A matrix product whose left side is gathered along a ring goes into its kernel: each part is multiplied while the
    next one travels.

    Sums of bf16 are rounded once in one shot, and at each rank of a ring. What kernels do not combine or move stays a
    collective, with a remark. Refuses ranks that the shapes contradict, no ranks, and an unknown number of them.
    """

    name = "expand-collectives"
    meaning = REASSOCIATES

    kind: Literal["ring", "one-shot"] = "ring"
    ranks: int | None = None
    group: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp) and func.body.blocks:
                self._expand_in(func)

    def _expand_in(self, func: FuncOp) -> None:
        groups, tags = groups_of(func), new_tags(func)
        for op in list(func.body.block.ops):
            if isinstance(op, Collective) and self.group in (None, op.group.data):
                ranks = self._ranks(op)
                if (reason := obstacle(op)) is not None or ranks == 1:
                    remark(op, f"stays a collective: {reason or 'of one rank'}")
                    continue
                members = Members(op.group.data, ranks, groups.index(op.group.data), tags)
                self._replace(func, op, members)

    def _replace(self, func: FuncOp, op: Collective, members: Members) -> None:
        is_ring = self.kind == "ring" and getattr(op.properties.get("algorithm"), "data", None) != "one_shot"
        product = product_of(op) if is_ring and isinstance(op, AllGatherOp) else None
        first = op.prev_op
        with ImplicitBuilder(Builder(InsertPoint.before(op))):
            if product is not None and isinstance(op, AllGatherOp):
                result, multiplied = gather_and_multiply(_name(func, f"{_short(op)}_mm"), op, product, members)
                replace(product, multiplied)
            else:
                result = expand(Job(op, _name(func, _short(op)), members, is_ring))
        for new in _between(first, op):
            new.location = op.location
        replace(op, result)

    def _ranks(self, op: Collective) -> int:
        known = ranks_of(op)
        if known is None and self.ranks is None:
            note = "say it: expand-collectives{ranks=4}"
            raise ConfigError(
                f"the number of ranks of {op.name} is not known", location_of(op), notes=[note], id="collective"
            )
        if None not in (known, self.ranks) and known != self.ranks:
            raise ConfigError(
                f"{op.name} is of {known} ranks, expand-collectives of {self.ranks}", location_of(op), id="collective"
            )
        ranks = self.ranks if known is None else known
        assert ranks is not None
        if ranks < 1:
            raise ConfigError(f"a group has one rank at least, found {ranks}", location_of(op), id="collective")
        return ranks


def _short(op: Operation) -> str:
    return op.name.removeprefix("symm.")


def _name(func: FuncOp, what: str) -> str:
    """Of the function and what the kernel does, and a number where there are several."""
    name = f"{func.sym_name.data}_{what}"
    taken = {call.sym_name.data for call in walk(func, CallOp)}
    candidates = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 3)))
    return next(candidate for candidate in candidates if candidate not in taken)


def _between(first: Operation | None, last: Operation) -> Iterator[Operation]:
    op = last.prev_op
    while op is not None and op is not first:
        yield op
        op = op.prev_op
