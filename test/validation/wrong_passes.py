"""Passes that are wrong, each in one way: what validation has to name."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.dialects.builder import Builder
from kopt.dialects.pallas import CallOp, DmaWaitOp, WindowAttr
from kopt.dialects.tile import ELEMENTWISE, FullOp, GetOp, GridOp, MaskOp, StoreOp, tile_type
from kopt.walk import walk


@dataclass(frozen=True)
class WrongMask(ModulePass):
    """Lanes that are masked away take part."""

    name = "wrong-mask"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mask = walk(op, MaskOp)[0]
        Rewriter.replace_op(mask, [], [mask.input])


@dataclass(frozen=True)
class DroppedStore(ModulePass):
    """A store is gone."""

    name = "dropped-store"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Rewriter.erase_op(walk(op, StoreOp)[-1])


@dataclass(frozen=True)
class OffByOne(ModulePass):
    """A grid ends one element too early."""

    name = "off-by-one"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        grid = walk(op, GridOp)[0]
        upper = list(grid.upper.get_values())
        grid.upper = DenseArrayBase.from_list(i64, [upper[0] - 1, *upper[1:]])


@dataclass(frozen=True)
class SwappedOperands(ModulePass):
    """``a - b`` is ``b - a``."""

    name = "swapped-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sub = walk(op, ELEMENTWISE["sub"])[0]
        sub.operands = list(reversed(sub.operands))


@dataclass(frozen=True)
class LateWait(ModulePass):
    """What a copy brings is read before the copy is waited for."""

    name = "late-wait"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for wait in walk(op, DmaWaitOp):
            following = wait.next_op
            if isinstance(following, GetOp):
                wait.detach()
                assert following.parent is not None
                following.parent.insert_op_after(wait, following)


@dataclass(frozen=True)
class MissingWait(ModulePass):
    """The last copy is waited for by nothing."""

    name = "missing-wait"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Rewriter.erase_op(walk(op, DmaWaitOp)[-1])


@dataclass(frozen=True)
class WrongWindow(ModulePass):
    """A window sees its first block at every step."""

    name = "wrong-window"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        call = walk(op, CallOp)[0]
        first, *rest = call.windows.data
        still = first.index.data
        still = type(still)(still.num_dims, still.num_symbols, tuple(0 * result for result in still.results))
        call.windows = type(call.windows)([WindowAttr(first.sizes, still, first.space.data), *rest])


@dataclass(frozen=True)
class Scaled(ModulePass):
    """A stored value is a little too large."""

    name = "scaled"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store = walk(op, StoreOp)[0]
        build = Builder(store)
        factor = build.add(FullOp(1 + 2**-23, tile_type(store.value)))
        store.operands[0] = build.add(ELEMENTWISE["mul"](store.value, factor))
