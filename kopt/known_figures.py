"""What kopt knows of the time that a lowered kernel takes on a TPU: trips, bytes and products.

Exact, as far as it follows from the IR and from what arguments hold, where that is given: loops may run from
`offsets[i]` to `offsets[i + 1]`, and rows may come from where indices say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import OpResult, SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.aliases import root
from kopt.analysis.call_loops import counted_loops
from kopt.analysis.entry import entry_function
from kopt.analysis.executions import ArrayMemory, CallMemory, Given, UnknownNumber, executions
from kopt.analysis.launch_models import launch_models
from kopt.analysis.launch_traffic import Traffic, array_bytes
from kopt.analysis.product_flops import product_flops
from kopt.analysis.spills import spilled_bytes
from kopt.analysis.vmem import vmem_buffers
from kopt.cached_property import cached_property
from kopt.clone import cloned
from kopt.context import make_context
from kopt.diagnostics import collect
from kopt.dialects.host import ViewOp
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import ForOp, GridOp, tag_of
from kopt.interpreter.host_values import HostValues
from kopt.ir.ranges import binding
from kopt.pass_manager import Instrumentation, run
from kopt.planning.assumed import assumed_lengths
from kopt.planning.least_cost import least_seconds
from kopt.runtime.figures import Floor, KnownKernel, KnownModule
from kopt.targets.chips import Chip, TpuChip
from kopt.targets.costs import tpu_costs
from kopt.walk import walk

Arrays = Mapping[int, np.ndarray]
_T = TypeVar("_T")


class SourceFigures:
    """What follows from the kernel as its author wrote it, before it becomes the chip's.

    Args: ``passes`` take it where models of launches are built; ``arrays`` are arguments whose elements are known, by
    their numbers.
    """

    def __init__(self, module: ModuleOp, entry: str, passes: Sequence[ModulePass], chip: Chip, arrays: Arrays):
        self._module, _, given = _prepared(module, entry, passes, arrays)
        self._chip, self._written = chip, module
        self._grids = walk(self._module, GridOp)
        self._blocks = [executions(grid, ArrayMemory(given)) for grid in self._grids]
        self.models = launch_models(self._module)

    @cached_property
    def lengths(self) -> dict[str, Sequence[int]]:
        """How many elements each loop walks that goes by what arguments hold: one number for each time that it runs."""
        found: dict[str, Sequence[int]] = {}
        for grid, blocks in zip(self._grids, self._blocks, strict=True):
            without = executions(grid, ArrayMemory(lambda array: None))
            for loop in walk(grid, ForOp):
                known, ever = (_known(partial(each[loop.parent].extents, loop))[0] for each in (blocks, without))  # pyright: ignore
                if known is not None and ever is None:
                    found[tag_of(loop.range)] = known.tolist()
        return found

    @cached_property
    def assumed(self) -> dict[str, Sequence[int]]:
        """How many elements loops are taken to walk where nothing tells, as block sizes are chosen by."""
        return {tag: found for model in launch_models(self._written) for tag, found in assumed_lengths(model).items()}

    @property
    def seconds(self) -> float | None:
        """What the launches take by kopt's own model of the chip, one after the other."""
        return least_seconds(self.models, self._chip, self.lengths)

    @cached_property
    def flops(self) -> list[Counter[str] | None]:
        """The products of each launch."""
        return [_known(partial(product_flops, *pair))[0] for pair in zip(self._grids, self._blocks, strict=True)]


def known_module(
    module: ModuleOp,
    entry: str,
    passes: Sequence[ModulePass],
    chip: TpuChip,
    arrays: Arrays,
    source: SourceFigures,
    watching: Sequence[Instrumentation] = (),
) -> KnownModule:
    """What is known of the kernels that ``passes`` make of a module, and of the whole. ``watching`` see the passes."""
    prepared, func, given = _prepared(module, entry, passes, arrays, watching)
    calls = walk(prepared, CallOp)
    found = {call: _Call(call, given, chip) for call in calls}
    alike = len(calls) == len(source.flops)
    flops = source.flops if alike else [None] * len(calls)
    kernels = [found[call].known(one) for call, one in zip(calls, flops, strict=True)]
    least, _ = _known(lambda: _least_bytes(func, {call: one.traffic for call, one in found.items()}))
    every = None if None in source.flops else sum(filter(None, source.flops), Counter())
    return KnownModule(kernels, Floor(least, every))


class _Call:
    """One call of a kernel."""

    def __init__(self, call: CallOp, given: Given, chip: TpuChip):
        self._call, self._chip, self._cores = call, chip, tpu_costs(chip).cores
        self._memory = CallMemory(call, given)
        grid = call.body.block.first_op
        assert isinstance(grid, GridOp)
        self._grid, self._blocks = grid, executions(grid, self._memory, rare=True)

    @cached_property
    def traffic(self) -> Traffic:
        """The bytes that it moves, in branches on what is not known none. Raises `UnknownNumber`."""
        return Traffic(self._call, self._memory, self._blocks)

    def known(self, flops: Mapping[str, int] | None) -> KnownKernel:
        """All that is known of it."""
        loops, why = _known(lambda: counted_loops(self._grid, self._blocks))
        traffic, why_not = _known(lambda: self.traffic)
        unknown = [f"{what} {on}" for what, on in (("trips depend on", why), ("bytes depend on", why_not)) if on]
        moved, exposed, least = (None, 0, None) if traffic is None else (traffic.moved, traffic.exposed, traffic.least)
        name, reason = self._call.sym_name.data, next(iter(unknown), None)
        vmem = self._vmem()
        return KnownKernel(name, loops, self._share(), moved, exposed, Floor(least, flops), {}, reason, vmem)

    def _vmem(self) -> dict[str, int]:
        """Bytes of VMEM of each buffer, and of what registers do not hold."""
        found: Counter[str] = Counter()
        for buffer in vmem_buffers(self._call):
            found[f"{buffer.name} ({buffer.use})"] += buffer.total
        spilled = spilled_bytes(self._grid, self._chip)
        return dict(found) | ({"values beyond registers": spilled} if spilled else {})

    def _share(self) -> float:
        """What one core has of the cells: cores share out the outermost parallel dimension that has several blocks."""
        trips = [binding(range).trips or 1 for range in self._grid.ranges]
        pairs = zip(trips, self._call.semantics.data, strict=True)
        shared = next((count for count, word in pairs if word.data == "parallel" and count > 1), 1)
        return -(-shared // self._cores) / shared


def _prepared(
    module: ModuleOp,
    entry: str,
    passes: Sequence[ModulePass],
    arrays: Arrays,
    watching: Sequence[Instrumentation] = (),
) -> tuple[ModuleOp, FuncOp, Given]:
    """The module after some passes, its function, and what the function's arrays hold."""
    prepared = cloned(module)
    with collect():  # it has been said where the kernel was lowered
        run(prepared, make_context(), passes, instrumentation=watching)
    func = entry_function(prepared, entry)
    return prepared, func, HostValues(prepared, func, arrays.get).value


def _known(asked: Callable[[], _T]) -> tuple[_T | None, str | None]:
    """What is asked for, or what it depends on."""
    try:
        return asked(), None
    except UnknownNumber as unknown:
        return None, str(unknown)


def _least_bytes(func: FuncOp, traffic: Mapping[CallOp, Traffic]) -> int:
    """Each argument that is read and each result once; of those that kernels reach in parts, no more than moves."""
    results = [value for op in walk(func, ReturnOp) for value in op.operands]
    read = (min(array_bytes(arg.type), _read(arg, traffic)) for arg in func.body.block.args)
    return sum(read) + sum(min(array_bytes(value.type), _written(value, traffic)) for value in results)


def _read(array: SSAValue, traffic: Mapping[CallOp, Traffic]) -> int:
    """The bytes that are read of an array, all of it where the host does."""
    total = 0
    for use in array.uses:
        if isinstance(use.operation, ViewOp):
            total += _read(use.operation.result, traffic)
        elif isinstance(use.operation, CallOp):
            total += traffic[use.operation].reads[use.index]
        else:
            total += array_bytes(array.type)
    return total


def _written(result: SSAValue, traffic: Mapping[CallOp, Traffic]) -> int:
    """The bytes that are written of a result."""
    array = root(result)
    if isinstance(array, OpResult) and isinstance(array.op, CallOp):
        return traffic[array.op].writes[len(array.op.inputs) + array.index]
    return array_bytes(result.type)
