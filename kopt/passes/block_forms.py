"""What a kernel's blocks will be used for: the module further down its target's pipeline, at the sizes that it has."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.walks.choosing import chosen_walks
from kopt.cached_property import cached_property
from kopt.clone import cloned
from kopt.config import Config
from kopt.diagnostics import collect
from kopt.dialects.tile import Access, DotOp, ForOp, GridOp, is_gather
from kopt.dialects.tile.access_ids import operand_names
from kopt.errors import KoptError
from kopt.ir.atoms import BlockNumber, Lane
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.passes.applying import apply_pass
from kopt.passes.distribute_loops import DistributeLoopsPass
from kopt.passes.hoist_loads import HoistLoadsPass
from kopt.passes.pipelines import named, rows_moved, walks
from kopt.passes.retyping import new_tags
from kopt.passes.split_dot_reduction import SplitDotReductionPass
from kopt.passes.split_planes import holds_large
from kopt.targets.chips import Chip, TpuChip
from kopt.walk import walk


class BlockForms:
    """The forms of a module that tell what its blocks take, each made once and on a copy.

    They are the same where no rows are computed on a TPU, and no dimension is walked on a GPU.
    """

    def __init__(self, module: ModuleOp, chip: Chip, config: Config):
        self._module, self._chip, self._config = module, chip, config

    @cached_property
    def scheduled(self) -> ModuleOp:
        """What cells do one by one, items of jagged loops and planes, as cells of their own.

        On a TPU row statistics that loops carry are columns: these take registers as matrices of one lane do. Where it
        has several cores, they share what loops of computed bounds hold. On a GPU loads that loops do not move with are
        before them: what they bring is alive while the loops run, and counts for warps. Products over whole dimensions
        are the loops that they will be, unless cells walk such dimensions first.
        """
        if isinstance(self._chip, TpuChip) or self._walks:
            return self._taken_apart
        return _applied(self._taken_apart, self._parts)

    @cached_property
    def _taken_apart(self) -> ModuleOp:
        """What is scheduled, with products as they are."""
        jagged = ("raise-jagged", "dce", "schedule-jagged") if self.gathers else ()
        if isinstance(self._chip, TpuChip):
            shared = [DistributeLoopsPass(outermost=True)] if self._chip.cores > 1 else []
            return _applied(self._module, [*shared, *named(*jagged, "keep-reduced-dims")])
        loops = bool(walk(self._module, ForOp))
        shared = named("distribute-loops", "cse") if loops else []
        hoisted = [HoistLoadsPass(operands=True)] if loops else []
        large = ("split-planes",) if jagged or holds_large(self._module) else ()
        return _applied(self._module, [*shared, *named(*jagged, *large), *hoisted])

    @cached_property
    def moved(self) -> ModuleOp:
        """A TPU's accesses of computed rows as products and DMAs; a GPU's whole dimensions that are too large as loops.

        Where an access is refused at the sizes that blocks have, what is only scheduled.
        """
        if not isinstance(self._chip, TpuChip):
            passes = [*walks(self._chip.name), *self._parts]
            return _applied(self._taken_apart, passes) if self._walks else self.scheduled
        if self.gathers:
            with suppress(KoptError):
                return _applied(self._module, rows_moved(self._chip, self._config))
        return self.scheduled

    @property
    def _parts(self) -> list[ModulePass]:
        """What makes a GPU's products over whole dimensions loops, as far as they are at any sizes of blocks."""
        if not walk(self._module, DotOp):
            return []
        return [SplitDotReductionPass(self._chip.name, open_blocks=True)]

    @cached_property
    def _walks(self) -> bool:
        """Whether cells of a GPU walk whole dimensions."""
        grids = walk(self._taken_apart, GridOp)
        return any(chosen_walks(grid, self._chip, operand_names(grid), new_tags(grid))[0] for grid in grids)

    @cached_property
    def gathers(self) -> bool:
        """Whether rows are computed; where none are, all forms are the same.

        Rows that follow one another from the beginning of a block on, or from a number that does, are not: that is a
        block as well.
        """
        analysis = IndexAnalysis()
        rows = (index for op in walk(self._module, Access) for index in op.indices if is_gather(index))
        return any(not _is_block(analysis.expr(index)) for index in rows)


def _is_block(rows: IndexExpr) -> bool:
    """Whether numbers of rows are those of one block: lanes of a dimension, and numbers of blocks times others."""
    lanes = [(atom, factor) for atom, factor in rows.terms.items() if isinstance(atom, Lane)]
    return len(lanes) == 1 == lanes[0][1] and all(isinstance(atom, Lane | BlockNumber) for atom in rows.terms)


def _applied(module: ModuleOp, passes: Sequence[ModulePass]) -> ModuleOp:
    """A copy that some passes have changed; the module where there are none."""
    copy = cloned(module) if passes else module
    with collect():  # what is said of these blocks is not said of those that will be
        for pass_ in passes:
            apply_pass(pass_, copy)
    return copy
