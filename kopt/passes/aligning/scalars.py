"""Narrow scalars from scalar memory, which has words of 32 bits: copies in those of arrays that a launch reads."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from kopt.analysis.layouts import fits_scalar_memory
from kopt.analysis.storage import is_narrow, wide
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp, array_type, element_of, literal, literal_value, tile_type
from kopt.passes.launch_arrays import Arrays
from kopt.passes.launches import host_cast
from kopt.passes.mosaic.scalars import drop_casts_back, own_lane


def copy_scalars(launch: LaunchOp) -> None:
    """Narrow arrays that a launch only reads, and single elements of at computed lanes: those come from a 32-bit copy,
    if it fits scalar memory."""
    for number in range(len(launch.inputs)):
        memory = launch.body.block.args[number]
        loads = list(_narrow_scalars(memory)) if number not in launch.written else []
        if all(own_lane(load.entries[-1]) is not None for load in loads):
            continue
        before = array_type(memory)
        type = MemRefType(wide(before.element_type), before.get_shape())
        if not fits_scalar_memory(type):
            continue
        copy = Arrays(launch).take(host_cast(launch.inputs[number], type, launch), memory.name_hint)
        remark(launch, f"'{memory.name_hint}' comes in {type.element_type} too: scalar memory has 32-bit words only")
        for load in loads:
            _take(load, copy)


def _narrow_scalars(memory: SSAValue) -> Iterator[LoadOp]:
    """The loads of single elements of an array with dimensions."""
    for use in memory.uses:
        load = use.operation
        if isinstance(load, LoadOp) and load.entries and not tile_type(load.result).rank:
            if is_narrow(element_of(load.result)):
                yield load


def _take(load: LoadOp, copy: SSAValue) -> None:
    """Loads the element from the copy."""
    build, element = Builder(load), array_type(copy).element_type
    other = None if load.other is None else literal(literal_value(load.other), element)
    scalar = build.add(LoadOp(copy, load.entries, load.mask, other, attributes=load.attributes))
    drop_casts_back(load.result, scalar)
    build.replace(scalar)
