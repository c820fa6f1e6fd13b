"""The pass ``balance-items``: a fixed number of programs walk the items, each about as much work."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.item_work import ItemWork, NotBalanced, item_work
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder
from kopt.dialects.tile import BeginOp, ExtractOp, ForOp, GridOp, LoadOp, RangeType
from kopt.errors import ConfigError
from kopt.ir.ranges import binding
from kopt.passes.jagged.shares import first_items
from kopt.passes.retyping import new_tags
from kopt.passes.schedules import reschedule


@dataclass(frozen=True)
class BalanceItemsPass(ModulePass):
    """Load balancing: the items of jagged loops are dealt out to ``programs`` cells, each about as much work.

    A cell has neighbouring items. The host counts the visits of every item's loops, and one more for the item itself.
    It adds them up along the items, and searches where each cell's share begins. An item is never cut, so no share
    exceeds the mean by more than the largest item, and results do not depend on ``programs``. Other dimensions of a
    grid stay, and the cells count.

        tile.grid (%b: b0=8) in (100) {
          %n = tile.load %lengths[%b] …   %s = jagged.for %k: b1=16 in %n … { … } }
    becomes
        %work = host.call "aten.cumsum…"(visits of blocks of items)   %first = host.call "aten.searchsorted…"(%work, …)
        tile.grid (%share: b2=1) in (132) {
          %begin = tile.load %first[%share] …   %end = tile.load %first[%share + 1] …
          tile.for %b: b0=8 in (%begin, %end) { … } }

    A grid without such loops, or without items, stays as it is, with a remark. Refuses a module without any that can be
    balanced, and says why for the first: `programs cannot share this grid: no loop goes to bounds that are known for
    each item …`.
    """

    name = "balance-items"

    programs: int

    def __post_init__(self) -> None:
        if self.programs < 1:
            raise ConfigError(f"balance-items needs at least 1 program, found {self.programs}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        reschedule(op, self._balance, "programs cannot share this grid", "items are not dealt out")

    def _balance(self, grid: GridOp) -> str | None:
        """Deals out one grid's items; gives the reason where it cannot."""
        if not isinstance(grid.parent_op(), FuncOp):
            return "it is part of a launch"
        if grid.plan is not None:
            return "it has a plan, whose order is of the cells as they are"
        try:
            work = item_work(grid)
            if binding(work.items).trips == 0:
                remark(grid, "there are no items to deal out")
                return None
            shares = self._shares(grid, work)
            first = first_items(grid, work, shares)
        except NotBalanced as reason:
            return str(reason)
        _deal_out(grid, work.items, shares, first)
        remark(grid, f"items are dealt out to {shares} programs by the visits of their loops")
        return None

    def _shares(self, grid: GridOp, work: ItemWork) -> int:
        """As many as there are blocks of items at most; cells of other dimensions are programs of their own."""
        others = 1
        for range in grid.ranges:
            if range is not work.items:
                others *= binding(range).trips or 1
        return max(1, min(-(-self.programs // max(1, others)), binding(work.items).trips or 0))


def _deal_out(grid: GridOp, items: SSAValue, shares: int, first: SSAValue) -> None:
    """Puts the body in a loop over the cell's own items."""
    number = grid.ranges.index(items)
    upper = [shares if n == number else end for n, (_, end) in enumerate(grid.bounds)]
    lower = [0 if n == number else begin for n, (begin, _) in enumerate(grid.bounds)]
    share_type = RangeType(next(new_tags(grid)), 1)
    outer = Block(arg_types=[share_type if n == number else value.type for n, value in enumerate(grid.ranges)])
    for old, new in zip(grid.ranges, outer.args, strict=True):
        new.name_hint = "share" if old is items else old.name_hint
    share = outer.args[number]
    build = Builder(InsertPoint.at_end(outer), grid)
    begin = build.add(BeginOp(share))
    lower_item, upper_item = (_bound(first, begin, which, build) for which in range(2))
    body = Rewriter.move_region_contents_to_new_regions(grid.body)
    for n in reversed(range(len(outer.args))):
        if n != number:
            body.block.args[n].replace_all_uses_with(outer.args[n])
            body.block.erase_arg(body.block.args[n])
    build.insert(ForOp(lower_item, upper_item, [], body))
    balanced = GridOp(upper, Region(outer), lower, attributes=grid.attributes)
    balanced.location = grid.location
    Rewriter.replace_op(grid, balanced)


def _bound(first: SSAValue, share: SSAValue, which: int, build: Builder) -> SSAValue:
    """The first item of a share, or of the one after it."""
    if which:
        share = build.add(AddiOp(share, build.index(1)))
    hint = ("share_begin", "share_end")[which]
    return build.add(ExtractOp(build.add(LoadOp(first, [share]), hint), IndexType()), hint)
