"""The pass ``narrow-atomics``: atomic updates of 64-bit integers are made in 32 bits, where that changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, i32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.aliases import root
from kopt.analysis.update_bounds import Bounds, Unbounded, update_bounds
from kopt.analysis.wide_facts import array_of
from kopt.diagnostics import location_of
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import array_type
from kopt.errors import LoweringError
from kopt.passes.legalising.elements import cast_operand
from kopt.passes.legalising.intervals import require_interval
from kopt.walk import walk

_I64 = IntegerType(64)


@dataclass(frozen=True)
class NarrowAtomicsPass(ModulePass):
    """Narrows targets of atomic updates: 64-bit integers are held in 32 bits for the launch.

    No element may leave 32 bits, whatever the order of the updates. Counts of lanes satisfy this, and so do sums of
    numbers that are small enough. How small the numbers in arguments must be is an attribute of the argument,
    ``kopt.interval``, which each call checks.

        atomic.rmw add %v, %out[%i] : !tile.tile<b0=128 x i64>, memref<64xi64>
    becomes
        %w = tile.cast %v : !tile.tile<b0=128 x i64> to !tile.tile<b0=128 x i32>
        atomic.rmw add %w, %out[%i] : !tile.tile<b0=128 x i32>, memref<64xi32>

    with host casts of ``%out`` before and after the launch. Refuses what has no such bound, with the update's place:
    `a TPU has no 64-bit integers, and updates of 'out' may not fit 32 bits: how large its values are is not known`.
    """

    name = "narrow-atomics"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known: dict[SSAValue, int] = {}
        for launch in walk(op, LaunchOp):
            found = {n: _bounds(launch, n, known) for n in launch.written if _is_wide_target(launch, n)}
            _narrow_inputs(launch, found.values())
            for number, bounds in found.items():
                cast_operand(launch, number, i32)
                known |= dict.fromkeys(_versions(launch, number), bounds.largest)


def _is_wide_target(launch: LaunchOp, number: int) -> bool:
    memory = launch.body.block.args[number]
    updated = any(isinstance(use.operation, RmwOp | CasOp) for use in memory.uses)
    return updated and array_type(memory).element_type == _I64


def _narrow_inputs(launch: LaunchOp, found: Iterable[Bounds]) -> None:
    """Casts the arrays that values come of, once calls check their numbers."""
    checked = [(array, interval) for bounds in found for array, interval in bounds.checked.items()]
    for array, interval in checked:
        require_interval(array, *interval)
    arrays = {array for array, _ in checked}
    for position, value in enumerate(launch.inputs):
        read = position not in launch.written
        if read and array_of(launch.body.block.args[position]) in arrays and _element(value) == _I64:
            cast_operand(launch, position, i32)


def _versions(launch: LaunchOp, number: int) -> list[SSAValue]:
    """The target after the launch, in 64 bits again."""
    return [root(use.operation.results[0]) for use in launch.version_of(number).uses]


def _bounds(launch: LaunchOp, number: int, known: dict[SSAValue, int]) -> Bounds:
    try:
        return update_bounds(launch, number, known)
    except Unbounded as problem:
        name = launch.body.block.args[number].name_hint or f"operand {number}"
        raise LoweringError(
            f"a TPU has no 64-bit integers, and updates of '{name}' may not fit 32 bits: {problem}",
            location_of(problem.op),
            notes=[f"use 32-bit integers for '{name}', or the target 'reference'"],
            id="element-type",
        ) from None


def _element(value: SSAValue) -> object:
    return array_type(value).element_type
