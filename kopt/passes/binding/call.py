"""One `host.launch` becomes one `pallas.call`, with the arrays it takes in the layouts that its windows need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.access_summary import access
from kopt.analysis.revisit_order import fastest
from kopt.analysis.streaming import loops_around
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import CallOp, ScratchOp
from kopt.dialects.tile import ALL, ExtentOp, GetOp, LoadOp, PutOp, RefType, WhenOp, tile_type
from kopt.dialects.tile.planned import forget_plan
from kopt.passes.binding.accesses import (
    WindowPlace,
    convert_fetch,
    convert_load,
    convert_scatter,
    convert_send,
    convert_store,
    convert_writeback,
    erase_dead,
    unrealised,
)
from kopt.passes.binding.arrays import from_physical, physical_type, to_physical
from kopt.passes.binding.operands import BoundOperand, plan_operands, ref_type, taken, window_attr
from kopt.passes.binding.pipelined import Stream, convert_pipelines
from kopt.passes.binding.remote import name_refs, number_barriers
from kopt.passes.binding.semantics import semantics
from kopt.passes.launches import erase_unused, grid_of, keep_initial_values

#: The kinds of operands that stay in HBM, whose every access is a copy of its own.
_COPIED = ("dma", "row_dma", "prefetch", "writeback")


class LaunchConverter:
    """Converts one launch; see `convert`."""

    def __init__(self, launch: LaunchOp):
        self.launch = launch
        self.grid = grid_of(launch)
        self.operands = plan_operands(launch)
        self.rank = max(1, len(self.grid.ranges))
        self.temporaries: dict[SSAValue, WindowPlace] = {}
        args = launch.body.block.args
        given = [one.number for one in self.operands if one.reads and one.writes and _is_copied(one)]
        self.partly = {number for number in given if not access(args[number], launch).covered}
        """The inputs that are written in part."""

    def convert(self) -> CallOp:
        """Puts a call in the launch's place, with host ops for layouts around it."""
        reads = [operand for operand in self.operands if operand.reads]
        inputs = sorted(reads, key=lambda operand: not operand.prefetched)
        outputs = [operand for operand in self.operands if operand.writes]
        self._report_layouts()
        self._place_temporaries()
        scratch = [op for op in self.launch.body.block.ops if isinstance(op, ScratchOp)]
        extents = [op for op in self.launch.body.block.ops if isinstance(op, ExtentOp)]
        call = self._make_call(inputs, outputs, scratch)
        for extent in extents:
            extent.detach()
            call.body.block.add_op(extent)
        self._move_body(call, inputs, outputs, scratch)
        self._refuse_what_is_left()
        self._replace_results(call, outputs)
        return call

    def _refuse_what_is_left(self) -> None:
        """Accesses that other passes realise first see the launch's arrays still."""
        for memory in self.launch.body.block.args:
            if (use := memory.first_use) is not None:
                raise unrealised(use.operation, memory.name_hint)

    def _report_layouts(self) -> None:
        """Says which arrays stand otherwise in memory for the kernel, and why."""
        for operand in self.operands:
            if not (layout := operand.layout).plain:
                name = self.launch.body.block.args[operand.number].name_hint or f"operand {operand.number}"
                shape = " x ".join(map(str, layout.shape))
                remark(self.launch, f"'{name}' is laid out as {shape} for the kernel: {layout.reason}")

    def _place_temporaries(self) -> None:
        """Scratch memory for the arrays that only the cells themselves see."""
        for operand in self.operands:
            if not operand.reads and not operand.writes:
                memory = self.launch.body.block.args[operand.number]
                scratch = ScratchOp(ref_type(operand))
                scratch.result.name_hint = memory.name_hint
                Rewriter.insert_op(scratch, InsertPoint.before(self.grid))
                self.temporaries[memory] = WindowPlace(operand.window, operand.layout, scratch.result)
                name = memory.name_hint or "array"
                remark(self.launch, f"'{name}' is no array: its blocks are memory of the chip, {scratch.result.type}")

    def _make_call(
        self, inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand], scratch: Sequence[ScratchOp]
    ) -> CallOp:
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

    def _move_body(
        self,
        call: CallOp,
        inputs: Sequence[BoundOperand],
        outputs: Sequence[BoundOperand],
        scratch: Sequence[ScratchOp],
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
                places[memory] = WindowPlace(operand.window, operand.layout, ref)
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
        for operand in self.operands:
            if operand.pipelined is None:
                self._convert_accesses(operand, places[args[operand.number]])
        for number in numbers:  # which index maps load
            erase_dead(number)
        name_refs(call, {memory: place.ref for memory, place in places.items()})
        number_barriers(call)
        self._copy_old(call, inputs, outputs)

    def _convert_accesses(self, operand: BoundOperand, place: WindowPlace) -> None:
        """Lets the accesses of an array see its block, or move it."""
        copied = operand.kind in _COPIED
        for load in operand.window.loads:
            if copied and not load.gathers:
                convert_fetch(load, place, self._ahead(load, operand))
            else:
                convert_load(load, place)
        for store in operand.window.stores:
            if not copied:
                convert_store(store, place)
            elif operand.kind == "writeback":
                convert_writeback(store, place, next((loop.range for loop in loops_around(store)), None))
            elif store.gathers:
                convert_scatter(store, place)
            else:
                convert_send(store, place)

    def _ahead(self, load: LoadOp, operand: BoundOperand) -> SSAValue | None:
        """The axis ahead of which a block is fetched: its loop's, or the one along which cells follow one another."""
        if operand.window.written:
            return None
        if operand.kind == "prefetch":
            return next(loop.range for loop in loops_around(load))
        number = fastest(self.grid)
        return None if number is None else self.grid.ranges[number]

    def _copy_old(self, call: CallOp, inputs: Sequence[BoundOperand], outputs: Sequence[BoundOperand]) -> None:
        """Where old elements count, the output's block starts as the input's, on the first visit to it.

        What stays in HBM is one array under two names, so nothing is to be copied. Nor of an array that is written in
        part, in blocks that each visit writes whole: the other blocks stay where they are. One that is written whole is
        an input only where it was asked for (`eliminate-output-only`).
        """
        numbers = {operand.number: number for number, operand in enumerate(inputs)}
        for operand, target in zip(reversed(outputs), reversed(call.output_refs), strict=True):
            number = numbers.get(operand.number)
            if number is None or not _is_copied(operand):
                continue
            if operand.number in self.partly and self._is_overwritten(target):
                self._leave_in_hbm(call, number, inputs[number])
                continue
            revisiting = [r for n, r in enumerate(self.grid.ranges) if n not in operand.window.grid_dims]
            self._copy_block(call.input_refs[number], target, revisiting)

    def _is_overwritten(self, ref: SSAValue) -> bool:
        """Whether each visit of a cell writes a block whole, and none reads it."""
        assert isinstance(ref.type, RefType)
        puts = [use.operation for use in ref.uses if isinstance(use.operation, PutOp)]
        own = (put for put in puts if put.parent is self.grid.body.block)
        size = prod(ref.type.shape)
        return len(puts) == len([*ref.uses]) and any(prod(tile_type(put.value).shape) == size for put in own)

    def _leave_in_hbm(self, call: CallOp, number: int, operand: BoundOperand) -> None:
        """Lets a call take an operand for its memory alone."""
        whole = taken(replace(operand, donated=True))
        windows = list(call.windows.data)
        windows[number] = window_attr(whole, self.rank)
        call.windows = ArrayAttr(windows)
        ref = call.input_refs[number]
        Rewriter.replace_value_with_new_type(ref, ref_type(whole))

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

    def _replace_results(self, call: CallOp, outputs: Sequence[BoundOperand]) -> None:
        for operand, output in zip(outputs, call.outputs, strict=True):
            result = self.launch.version_of(operand.number)
            output.name_hint = result.name_hint
            new = from_physical(output, operand.layout, operand.window.type, call)
            new.name_hint = result.name_hint
            result.replace_all_uses_with(new)
        keep_initial_values(self.launch)
        sources = list(self.launch.inputs)
        Rewriter.erase_op(self.launch)
        erase_unused(sources)


def _is_copied(operand: BoundOperand) -> bool:
    """Whether the blocks of an operand that is written come from the array that it was."""
    return operand.space != "hbm" and not operand.donated


def _ref_hint(memory: SSAValue, operand: BoundOperand, is_output: bool) -> str | None:
    """The name of a ref: an array that is read and written has two."""
    return f"new_{memory.name_hint}" if is_output and operand.reads and memory.name_hint else memory.name_hint
