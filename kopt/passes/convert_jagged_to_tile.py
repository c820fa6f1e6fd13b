"""The pass ``convert-jagged-to-tile``: a pipeline that makes ordinary loops of loops over items' own extents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects import jagged
from kopt.dialects.tile import Access, ForOp, is_gather
from kopt.passes.balance_items import BalanceItemsPass
from kopt.passes.canonicalize import CanonicalizePass
from kopt.passes.cse import CsePass
from kopt.passes.dce import DcePass
from kopt.passes.dynamic_pipeline import DynamicPipelinePass
from kopt.passes.lower_jagged import LowerJaggedPass
from kopt.passes.raise_jagged import RaiseJaggedPass
from kopt.passes.schedule_jagged import ScheduleJaggedPass
from kopt.walk import walk


@dataclass(frozen=True)
class ConvertJaggedToTilePass(DynamicPipelinePass):
    """Runs ``raise-jagged,dce,schedule-jagged,lower-jagged,canonicalize,cse`` where there may be rows of items.

    It looks for loops to a computed bound, jagged ops, and accesses by tiles of numbers. A module without any of
    these stays as it is. With ``programs``, `balance-items` runs before `schedule-jagged`. ``resize`` is that of
    `schedule-jagged`.

        %s = jagged.for %k: b1=16 in %n iter(%a = %z) -> (!tile.tile<b0=1 x f32>) {
          %rows = jagged.rows %k from %starts …   %v = tile.load %x[%rows, :] … }
    becomes
        %s = tile.for %k: b1=16 in (0, %length) iter(%a = %z) -> (!tile.tile<f32>) {
          %rows = tile.shift %k by %start …   %v = tile.load %x[%rows, :] … }

    It refuses what `balance-items` refuses.
    """

    name = "convert-jagged-to-tile"

    resize: bool = True
    programs: int | None = None

    def passes(self, module: ModuleOp) -> Sequence[ModulePass]:
        if self.programs is None and not _may_have_items(module):
            return ()
        balance = () if self.programs is None else (BalanceItemsPass(self.programs),)
        schedule = (RaiseJaggedPass(), DcePass(), *balance, ScheduleJaggedPass(self.resize))
        # One comparison with the lengths serves all that it masks; shapes that turned out to be the same are no ops.
        return (*schedule, LowerJaggedPass(), CanonicalizePass(), CsePass())


def _may_have_items(module: ModuleOp) -> bool:
    for op in walk(module, ForOp, jagged.ForOp, jagged.RowsOp, jagged.ValidOp, Access):
        if isinstance(op, ForOp):
            if not all(isinstance(bound, int) for bound in op.bounds):
                return True
        elif not isinstance(op, Access) or any(map(is_gather, op.entries)):
            return True
    return False
