"""One `host.launch` becomes one `pallas.call`, with the arrays it takes in the layouts that its windows need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.footprint import call_bytes
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import CallOp, ScratchOp
from kopt.dialects.tile import ALL, GetOp, LoadOp, PutOp, RefType, WhenOp, is_gather
from kopt.dialects.tile.planned import forget_plan
from kopt.passes.to_pallas.accesses import Place, convert_load, convert_store
from kopt.passes.to_pallas.arrays import from_physical, physical_type, to_physical
from kopt.passes.to_pallas.cell_streams import fetch_ahead
from kopt.passes.to_pallas.launches import erase_unused, keep_initial_values
from kopt.passes.to_pallas.operands import Operand, grid_of, plan_operands, ref_type, taken, window_attr
from kopt.passes.to_pallas.pipelined import Stream, convert_pipelines
from kopt.passes.to_pallas.remote import name_refs, number_barriers
from kopt.passes.to_pallas.rows import erase_dead, fetch_row, scatter_rows, send_row
from kopt.passes.to_pallas.semantics import fastest, run_in_order, semantics
from kopt.passes.to_pallas.sends import send_block
from kopt.passes.to_pallas.streams import stream_load
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip

#: The kinds of operands whose every access is a DMA of its own.
_BY_DMAS = ("dma", "row_dma")


class LaunchConverter:
    """Converts one launch; see `convert`."""

    def __init__(self, launch: LaunchOp, chip: TpuChip):
        self.launch = launch
        self.chip = chip
        self.grid = grid_of(launch)
        self.operands = plan_operands(launch)
        self.rank = max(1, len(self.grid.ranges))
        self.temporaries: dict[SSAValue, Place] = {}

    def convert(self) -> CallOp:
        """Puts a call in the launch's place, with host ops for layouts around it."""
        reads = [operand for operand in self.operands if operand.reads]
        inputs = sorted(reads, key=lambda operand: not operand.prefetched)
        outputs = [operand for operand in self.operands if operand.writes]
        self._place_temporaries()
        scratch = [op for op in self.launch.body.block.ops if isinstance(op, ScratchOp)]
        call = self._make_call(inputs, outputs, scratch)
        self._move_body(call, inputs, outputs, scratch)
        self._set_limit(call)
        self._replace_results(call, outputs)
        return call

    def _place_temporaries(self) -> None:
        """Scratch memory for the arrays that only the cells themselves see."""
        for operand in self.operands:
            if not operand.reads and not operand.writes:
                memory = self.launch.body.block.args[operand.number]
                scratch = ScratchOp(ref_type(operand))
                scratch.result.name_hint = memory.name_hint
                Rewriter.insert_op(scratch, InsertPoint.before(self.grid))
                self.temporaries[memory] = Place(operand.window, operand.layout, scratch.result)
                name = memory.name_hint or "array"
                remark(self.launch, f"'{name}' is no array: its blocks are memory of the chip, {scratch.result.type}")

    def _make_call(self, inputs: Sequence[Operand], outputs: Sequence[Operand], scratch: Sequence[ScratchOp]) -> CallOp:
        arrays = [to_physical(self.launch.inputs[o.number], o.layout, self.launch) for o in inputs]
        numbers = [operand.number for operand in inputs]
        scratch_types = [op.result.type for op in scratch]
        given = [self.launch.body.block.args[o.number] for o in inputs if o.prefetched]
        windows = [window_attr(o, self.rank, given) for o in (*map(taken, inputs), *outputs)]
        call = CallOp(
            self.launch.sym_name.data,
            arrays,
            [physical_type(o.window.type, o.layout) for o in outputs],
            windows,
            semantics(self.grid, outputs),
            [numbers.index(o.number) if o.number in numbers else -1 for o in outputs],
            [type for type in scratch_types if isinstance(type, RefType)],
            [*(ref_type(taken(o)) for o in inputs), *(ref_type(o) for o in outputs)],
            prefetched=len(given),
        )
        call.location = self.launch.location
        Rewriter.insert_op(call, InsertPoint.before(self.launch))
        return call

    def _set_limit(self, call: CallOp) -> None:
        """Asks for more VMEM than a kernel has by default where it may need more: up to twice what is seen here."""
        limit = Budget(self.chip).vmem_limit(call_bytes(call, self.grid))
        if limit is not None:
            call.vmem_limit = IntegerAttr(limit, 64)

    def _move_body(
        self, call: CallOp, inputs: Sequence[Operand], outputs: Sequence[Operand], scratch: Sequence[ScratchOp]
    ) -> None:
        args = self.launch.body.block.args
        forget_plan(self.grid)
        self.grid.detach()
        call.body.block.add_op(self.grid)
        refs_of: dict[SSAValue, SSAValue] = dict(zip((op.result for op in scratch), call.scratch, strict=True))
        for value, ref in refs_of.items():
            ref.name_hint = value.name_hint
            value.replace_all_uses_with(ref)
        places = {memory: replace(place, ref=refs_of[place.ref]) for memory, place in self.temporaries.items()}
        for operands, refs in ((inputs, call.input_refs), (outputs, call.output_refs)):
            for operand, ref in zip(operands, refs, strict=True):
                memory = args[operand.number]
                ref.name_hint = _ref_hint(memory, operand, operands is outputs)
                places[memory] = Place(operand.window, operand.layout, ref)
        numbers = [
            entry for o in self.operands if o.window.numbers for load in o.window.loads for entry in load.indices
        ]
        convert_pipelines(
            [
                Stream(walk, operand.window, operand.pipelined.layout, places[args[operand.number]].ref)
                for operand in self.operands
                if operand.pipelined is not None
                for walk in operand.pipelined.walks
            ]
        )
        unmoved = [operand for operand in self.operands if operand.pipelined is None]
        streamed = [operand for operand in unmoved if operand.kind == "prefetch"]
        fetched = [operand for operand in unmoved if operand.kind in _BY_DMAS and not operand.window.written]
        for operand in unmoved:
            if operand not in streamed and operand not in fetched:
                self._convert_accesses(operand, places[args[operand.number]], call)
        # Last: where the next cell's blocks are is read off numbers that are loaded in the kernel's own way by then.
        for operand in streamed:
            for load in operand.window.loads:
                if stream_load(load, places[args[operand.number]].ref, call, self._cell(call)):
                    run_in_order(call)
        for operand in fetched:
            for load in operand.window.loads:
                self._fetch(load, places[args[operand.number]].ref, call)
        for number in numbers:  # which index maps load
            erase_dead(number)
        name_refs(call, {memory: place.ref for memory, place in places.items()})
        number_barriers(call)
        self._copy_old(call, inputs, outputs)

    def _fetch(self, load: LoadOp, source: SSAValue, call: CallOp) -> None:
        """Copies a block that the grid does not tell, for the next cell too where that can be told."""
        cell = self._cell(call)
        if cell is not None and fetch_ahead(load, source, call, cell):
            run_in_order(call)
        else:
            fetch_row(load, source, call)

    def _convert_accesses(self, operand: Operand, place: Place, call: CallOp) -> None:
        """Lets the accesses of an array see its block, or move it."""
        by_rows, sent = operand.kind in _BY_DMAS, operand.kind == "writeback"
        for load in operand.window.loads:
            if by_rows or sent:
                fetch_row(load, place.ref, call)
            else:
                convert_load(load, place)
        for store in operand.window.stores:
            if by_rows and any(is_gather(entry) for entry in store.entries):
                scatter_rows(store, place.ref)
            elif by_rows:
                send_row(store, place.ref, call)
            elif sent:
                send_block(store, place, call)
            else:
                convert_store(store, place)

    def _cell(self, call: CallOp) -> SSAValue | None:
        """The range along which cells follow one another on one core: the one that moves fastest."""
        number = fastest(self.grid)
        if number is None or call.semantics.data[number].data == "parallel" and self.chip.cores > 1:
            return None
        return self.grid.ranges[number]

    def _copy_old(self, call: CallOp, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> None:
        """Where old elements count, the output's block starts as the input's, on the first visit to it.

        What stays in HBM is one array under two names, so nothing is to be copied.
        """
        refs = {operand.number: ref for operand, ref in zip(inputs, call.input_refs, strict=True)}
        for operand, target in zip(reversed(outputs), reversed(call.output_refs), strict=True):
            if operand.number in refs and operand.space != "hbm" and not operand.donated:
                revisiting = [r for n, r in enumerate(self.grid.ranges) if n not in operand.window.grid_dims]
                self._copy_block(refs[operand.number], target, revisiting)

    def _copy_block(self, source: SSAValue, target: SSAValue, revisiting: Sequence[SSAValue]) -> None:
        assert isinstance(source.type, RefType)
        entries = [ALL] * source.type.rank
        get = GetOp(source, entries)
        ops: list[Operation] = [get, PutOp(get.result, target, entries)]
        get.result.name_hint = "old"
        block = self.grid.body.block
        if revisiting:
            ops = [WhenOp("first", revisiting, Region(Block(ops)))]
        assert block.first_op is not None
        Rewriter.insert_op(ops, InsertPoint.before(block.first_op))

    def _replace_results(self, call: CallOp, outputs: Sequence[Operand]) -> None:
        for operand, output in zip(outputs, call.outputs, strict=True):
            result = self.launch.outputs[self.launch.written.index(operand.number)]
            output.name_hint = result.name_hint
            new = from_physical(output, operand.layout, operand.window.type, call)
            new.name_hint = result.name_hint
            result.replace_all_uses_with(new)
        keep_initial_values(self.launch)
        sources = list(self.launch.inputs)
        Rewriter.erase_op(self.launch)
        erase_unused(sources)


def _ref_hint(memory: SSAValue, operand: Operand, is_output: bool) -> str | None:
    """The name of a ref: an array that is read and written has two."""
    return f"new_{memory.name_hint}" if is_output and operand.reads and memory.name_hint else memory.name_hint
