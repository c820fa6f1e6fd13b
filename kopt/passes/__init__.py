"""The passes that kopt knows, each imported when a pipeline first names it.

A new pass is one line here: its name and ``"module:Class"`` of its ``ModulePass``. Other packages bring theirs by entry
points of ``kopt.passes``.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from kopt.plugins import PluginTable

PASSES: dict[str, str] = {
    # kopt's own passes.
    "align-accesses": "kopt.passes.align_accesses:AlignAccessesPass",
    "approximate-functions": "kopt.passes.gpu.approximate_functions:ApproximateFunctionsPass",
    "arith-unsigned-when-equivalent": (
        "kopt.passes.gpu.arith_unsigned_when_equivalent:ArithUnsignedWhenEquivalentPass"
    ),
    "balance-items": "kopt.passes.balance_items:BalanceItemsPass",
    "permute-array-layout": "kopt.passes.permute_array_layout:PermuteArrayLayoutPass",
    "canonicalize": "kopt.passes.canonicalize:CanonicalizePass",
    "choose-block-sizes": "kopt.passes.choose_block_sizes:ChooseBlockSizesPass",
    "chunk-scalars": "kopt.passes.chunk_scalars:ChunkScalarsPass",
    "bind-buffers": "kopt.passes.bind_buffers:BindBuffersPass",
    "clamp-gathers": "kopt.passes.gpu.clamp_gathers:ClampGathersPass",
    "cse": "kopt.passes.cse:CsePass",
    "collapse-contiguous": "kopt.passes.gpu.collapse_contiguous:CollapseContiguousPass",
    "compare-terms": "kopt.passes.gpu.compare_terms:CompareTermsPass",
    "convert-scan-to-dot": "kopt.passes.convert_scan_to_dot:ConvertScanToDotPass",
    "convert-exp-to-exp2": "kopt.passes.convert_exp_to_exp2:ConvertExpToExp2Pass",
    "convert-jagged-to-tile": "kopt.passes.convert_jagged_to_tile:ConvertJaggedToTilePass",
    "convert-slices-to-gathers": "kopt.passes.gpu.convert_slices_to_gathers:ConvertSlicesToGathersPass",
    "convert-tile-to-triton": "kopt.passes.convert_tile_to_triton:ConvertTileToTritonPass",
    "dce": "kopt.passes.dce:DcePass",
    "delinearise-launches": "kopt.passes.delinearise_launches:DelineariseLaunchesPass",
    "eliminate-output-only": "kopt.passes.eliminate_output_only:EliminateOutputOnlyPass",
    "expand-collectives": "kopt.passes.expand_collectives:ExpandCollectivesPass",
    "expand-scaling": "kopt.passes.expand_scaling:ExpandScalingPass",
    "expand-for-mosaic": "kopt.passes.expand_for_mosaic:ExpandForMosaicPass",
    "distribute-loops": "kopt.passes.distribute_loops:DistributeLoopsPass",
    "drop-dead-arrays": "kopt.passes.drop_dead_arrays:DropDeadArraysPass",
    "drop-dead-initialization": "kopt.passes.drop_dead_initialization:DropDeadInitializationPass",
    "drop-empty": "kopt.passes.drop_empty:DropEmptyPass",
    "drop-unit-dims": "kopt.passes.drop_unit_dims:DropUnitDimsPass",
    "fission-grids": "kopt.passes.gpu.fission_grids:FissionGridsPass",
    "fold-into-accesses": "kopt.passes.gpu.fold_into_accesses:FoldIntoAccessesPass",
    "fold-block-sizes": "kopt.passes.fold_block_sizes:FoldBlockSizesPass",
    "fold-slices": "kopt.passes.fold_slices:FoldSlicesPass",
    "forward-stores": "kopt.passes.forward_stores:ForwardStoresPass",
    "fuse-host-reductions": "kopt.passes.fuse_host_reductions:FuseHostReductionsPass",
    "functionalise-host": "kopt.passes.functionalise_host:FunctionaliseHostPass",
    "hoist-loads": "kopt.passes.hoist_loads:HoistLoadsPass",
    "host-hoist-allocs": "kopt.passes.host_hoist_allocs:HostHoistAllocsPass",
    "host-to-dps": "kopt.passes.host_to_dps:HostToDpsPass",
    "host-partition": "kopt.passes.host_partition:HostPartitionPass",
    "unroll-single-trip-loops": "kopt.passes.unroll_single_trip_loops:UnrollSingleTripLoopsPass",
    "int-range-optimizations": "kopt.passes.int_range_optimizations:IntRangeOptimizationsPass",
    "insert-barriers": "kopt.passes.gpu.insert_barriers:InsertBarriersPass",
    "insert-masks": "kopt.passes.insert_masks:InsertMasksPass",
    "keep-blocks": "kopt.passes.keep_blocks:KeepBlocksPass",
    "keep-reduced-dims": "kopt.passes.keep_reduced_dims:KeepReducedDimsPass",
    "lower-jagged": "kopt.passes.lower_jagged:LowerJaggedPass",
    "lower-remote-copies": "kopt.passes.lower_remote_copies:LowerRemoteCopiesPass",
    "legalise-ops": "kopt.passes.legalise_ops:LegaliseOpsPass",
    "legalise-element-types": "kopt.passes.legalise_element_types:LegaliseElementTypesPass",
    "mask-rmw-scatter": "kopt.passes.mask_rmw_scatter:MaskRmwScatterPass",
    "match-array-layouts": "kopt.passes.match_array_layouts:MatchArrayLayoutsPass",
    "materialize-accumulators": "kopt.passes.materialize_accumulators:MaterializeAccumulatorsPass",
    "merge-lane-parts": "kopt.passes.merge_lane_parts:MergeLanePartsPass",
    "name-accesses": "kopt.passes.name_accesses:NameAccessesPass",
    "narrow-atomics": "kopt.passes.narrow_atomics:NarrowAtomicsPass",
    "narrow-bounds": "kopt.passes.gpu.narrow_bounds:NarrowBoundsPass",
    "narrow-floats": "kopt.passes.narrow_floats:NarrowFloatsPass",
    "narrow-indices": "kopt.passes.narrow_indices:NarrowIndicesPass",
    "normalise-accesses": "kopt.passes.normalise_accesses:NormaliseAccessesPass",
    "order-grid": "kopt.passes.order_grid:OrderGridPass",
    "pad-to-power-of-two": "kopt.passes.gpu.pad_to_power_of_two:PadToPowerOfTwoPass",
    "peel-loops": "kopt.passes.peel_loops:PeelLoopsPass",
    "plan-buffers": "kopt.passes.plan_buffers:PlanBuffersPass",
    "plan-accesses": "kopt.passes.plan_accesses:PlanAccessesPass",
    "apply-schedule": "kopt.passes.apply_schedule:ApplySchedulePass",
    "plan-values": "kopt.passes.plan_values:PlanValuesPass",
    "plan-walks": "kopt.passes.plan_walks:PlanWalksPass",
    "speculate-picks": "kopt.passes.speculate_picks:SpeculatePicksPass",
    "elide-bounds-checks": "kopt.passes.elide_bounds_checks:ElideBoundsChecksPass",
    "plan-vmem": "kopt.passes.plan_vmem:PlanVmemPass",
    "realise-dmas": "kopt.passes.realise_dmas:RealiseDmasPass",
    "software-pipeline": "kopt.passes.software_pipeline:SoftwarePipelinePass",
    "raise-jagged": "kopt.passes.raise_jagged:RaiseJaggedPass",
    "realise-values": "kopt.passes.realise_values:RealiseValuesPass",
    "rebase-ranges": "kopt.passes.rebase_ranges:RebaseRangesPass",
    "reduce-expanded-updates": "kopt.passes.reduce_expanded_updates:ReduceExpandedUpdatesPass",
    "rematerialise-loads": "kopt.passes.rematerialise_loads:RematerialiseLoadsPass",
    "resolve-validity": "kopt.passes.resolve_validity:ResolveValidityPass",
    "return-mutated-arguments": "kopt.passes.return_mutated_arguments:ReturnMutatedArgumentsPass",
    "pick-registers": "kopt.passes.pick_registers:PickRegistersPass",
    "schedule-jagged": "kopt.passes.schedule_jagged:ScheduleJaggedPass",
    "set-dot-precision": "kopt.passes.set_dot_precision:SetDotPrecisionPass",
    "set-eviction-policies": "kopt.passes.set_eviction_policies:SetEvictionPoliciesPass",
    "slice-operands": "kopt.passes.slice_operands:SliceOperandsPass",
    "sink-reductions": "kopt.passes.gpu.sink_reductions:SinkReductionsPass",
    "split-odd-blocks": "kopt.passes.gpu.split_odd_blocks:SplitOddBlocksPass",
    "split-planes": "kopt.passes.split_planes:SplitPlanesPass",
    "spread-strides": "kopt.passes.spread_strides:SpreadStridesPass",
    "strip-mine-cells": "kopt.passes.strip_mine_cells:StripMineCellsPass",
    "plan-splits": "kopt.passes.plan_splits:PlanSplitsPass",
    "split-k": "kopt.passes.split_k:SplitKPass",
    "set-blocks": "kopt.passes.set_blocks:SetBlocksPass",
    "symm-place": "kopt.passes.symm_place:SymmPlacePass",
    "symm-to-dps": "kopt.passes.symm_to_dps:SymmToDpsPass",
    "symm-propagate": "kopt.passes.symm_propagate:SymmPropagatePass",
    "version-cells": "kopt.passes.version_cells:VersionCellsPass",
    "verify-accesses": "kopt.passes.verify_accesses:VerifyAccessesPass",
    "verify-accumulators": "kopt.passes.verify_accumulators:VerifyAccumulatorsPass",
    "verify-barriers": "kopt.passes.verify_barriers:VerifyBarriersPass",
    "verify-index-widths": "kopt.passes.verify_index_widths:VerifyIndexWidthsPass",
    "verify-plan": "kopt.passes.verify_plan:VerifyPlanPass",
    "verify-host": "kopt.passes.verify_host:VerifyHostPass",
    "verify-pallas": "kopt.passes.verify_pallas:VerifyPallasPass",
    "verify-symm": "kopt.passes.verify_symm:VerifySymmPass",
    "verify-triton": "kopt.passes.gpu.verify_triton:VerifyTritonPass",
    "walk-dims": "kopt.passes.walk_dims:WalkDimsPass",
    "split-dot-reduction": "kopt.passes.split_dot_reduction:SplitDotReductionPass",
    "take-from-memory": "kopt.passes.gpu.take_from_memory:TakeFromMemoryPass",
    "widen-atomics": "kopt.passes.widen_atomics:WidenAtomicsPass",
    # xDSL's clean-up passes.
    "control-flow-hoist": "xdsl.transforms.control_flow_hoist:ControlFlowHoistPass",
    "licm": "xdsl.transforms.loop_invariant_code_motion:LoopInvariantCodeMotionPass",
    "reconcile-unrealized-casts": "xdsl.transforms.reconcile_unrealized_casts:ReconcileUnrealizedCastsPass",
}


def _problem(name: str, found: Any) -> str | None:
    """What is wrong with an object that is to be the pass of a name."""
    from xdsl.passes import ModulePass

    if not (isinstance(found, type) and issubclass(found, ModulePass) and dataclasses.is_dataclass(found)):
        return "a pass is a dataclass that is an xdsl.passes.ModulePass"
    return None if found.name == name else f"its name is '{found.name}'"


#: All passes by name: those above, and those of other packages.
ALL_PASSES = PluginTable("kopt.passes", "pass", PASSES, _problem)
