"""The passes that kopt knows, each imported when a pipeline first names it.

A new pass is one line here: its name and ``"module:Class"`` of its ``ModulePass``.
"""

PASSES: dict[str, str] = {
    # kopt's own passes.
    "align-loops": "kopt.passes.align_loops:AlignLoopsPass",
    "convert-tile-to-pallas": "kopt.passes.convert_tile_to_pallas:ConvertTileToPallasPass",
    "convert-tile-to-triton": "kopt.passes.convert_tile_to_triton:ConvertTileToTritonPass",
    "eliminate-output-only": "kopt.passes.eliminate_output_only:EliminateOutputOnlyPass",
    "expand-for-mosaic": "kopt.passes.expand_for_mosaic:ExpandForMosaicPass",
    "drop-dead-arrays": "kopt.passes.drop_dead_arrays:DropDeadArraysPass",
    "drop-dead-initialization": "kopt.passes.drop_dead_initialization:DropDeadInitializationPass",
    "drop-unit-dims": "kopt.passes.drop_unit_dims:DropUnitDimsPass",
    "forward-stores": "kopt.passes.forward_stores:ForwardStoresPass",
    "functionalise-host": "kopt.passes.functionalise_host:FunctionaliseHostPass",
    "insert-masks": "kopt.passes.insert_masks:InsertMasksPass",
    "lower-gathers": "kopt.passes.lower_gathers:LowerGathersPass",
    "lower-jagged": "kopt.passes.lower_jagged:LowerJaggedPass",
    "lower-scatters": "kopt.passes.lower_scatters:LowerScattersPass",
    "legalise-layout": "kopt.passes.legalise_layout:LegaliseLayoutPass",
    "materialize-accumulators": "kopt.passes.materialize_accumulators:MaterializeAccumulatorsPass",
    "order-grid": "kopt.passes.order_grid:OrderGridPass",
    "pad-to-power-of-two": "kopt.passes.pad_to_power_of_two:PadToPowerOfTwoPass",
    "plan-buffers": "kopt.passes.plan_buffers:PlanBuffersPass",
    "plan-windows": "kopt.passes.plan_windows:PlanWindowsPass",
    "raise-jagged": "kopt.passes.raise_jagged:RaiseJaggedPass",
    "rebase-ranges": "kopt.passes.rebase_ranges:RebaseRangesPass",
    "realign-blocks": "kopt.passes.realign_blocks:RealignBlocksPass",
    "return-mutated-arguments": "kopt.passes.return_mutated_arguments:ReturnMutatedArgumentsPass",
    "schedule-jagged": "kopt.passes.schedule_jagged:ScheduleJaggedPass",
    "set-dot-precision": "kopt.passes.set_dot_precision:SetDotPrecisionPass",
    "split-k": "kopt.passes.split_k:SplitKPass",
    "set-blocks": "kopt.passes.set_blocks:SetBlocksPass",
    "symm-place": "kopt.passes.symm_place:SymmPlacePass",
    "symm-to-dps": "kopt.passes.symm_to_dps:SymmToDpsPass",
    "symm-propagate": "kopt.passes.symm_propagate:SymmPropagatePass",
    "verify-accumulators": "kopt.passes.verify_accumulators:VerifyAccumulatorsPass",
    "verify-symm": "kopt.passes.verify_symm:VerifySymmPass",
    "widen-atomics": "kopt.passes.widen_atomics:WidenAtomicsPass",
    # xDSL's clean-up passes.
    "canonicalize": "xdsl.transforms.canonicalize:CanonicalizePass",
    "control-flow-hoist": "xdsl.transforms.control_flow_hoist:ControlFlowHoistPass",
    "cse": "xdsl.transforms.common_subexpression_elimination:CommonSubexpressionElimination",
    "dce": "xdsl.transforms.dead_code_elimination:DeadCodeElimination",
    "licm": "xdsl.transforms.loop_invariant_code_motion:LoopInvariantCodeMotionPass",
    "reconcile-unrealized-casts": "xdsl.transforms.reconcile_unrealized_casts:ReconcileUnrealizedCastsPass",
}
