"""Prints value ops, expanded for Mosaic, as a kernel of their own; runs it interpreted, compiles it for chips."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region, SSAValue

from kopt.context import make_context
from kopt.dialects.tile import TileType, tile_type
from kopt.dtypes import from_ir
from kopt.lowering.expr import Expr
from kopt.lowering.names import Names
from kopt.lowering.pallas.printing import RESERVED, PallasPrinter
from kopt.lowering.pallas.values import VALUES
from kopt.lowering.writer import Writer
from kopt.passes.expand_for_mosaic import ExpandForMosaicPass
from kopt.specs import TensorSpec

#: Makes ops from the inputs; the last one's result is the output. Several lists are several outputs.
Build = Callable[..., Sequence[Operation]]
CHIPS = ("tpu7x", "v6e", "v5e")

_HEADER = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
"""


def emit(inputs: Sequence[TileType], builds: Sequence[Build]) -> tuple[str, list[TileType]]:
    """A module whose function ``kernel`` computes each build from the inputs; and the outputs' types.

    Predicates travel as i32 and scalars as matrices of one element.
    """
    printing = PallasPrinter(Writer(), Names(RESERVED), VALUES)
    block = Block(arg_types=inputs)
    body = [list(build(*block.args)) for build in builds]
    block.add_ops([op for ops in body for op in ops])
    block.add_op(outputs := TestOp(operands=[ops[-1].results[0] for ops in body]))
    ExpandForMosaicPass().apply(make_context(), ModuleOp([TestOp(regions=[Region(block)])]))
    refs = [printing.names.fresh(f"a{n}_ref") for n in range(len(inputs))]
    outs = [printing.names.fresh(f"o{n}_ref") for n in range(len(builds))]
    with printing.block(f"def _kernel({', '.join([*refs, *outs])}):"):
        for arg, ref in zip(block.args, refs, strict=True):
            printing.assign(arg, Expr(_read(tile_type(arg), ref)))
        for op in block.ops:
            if op is not outputs:
                printing.print(op)
        for value, out in zip(outputs.operands, outs, strict=True):
            printing.line(_write(value, out, printing))
    results = [tile_type(value) for value in outputs.operands]
    helpers = "\n\n\n".join(printing.helpers.values())
    return f"{_HEADER}\n\n{helpers}\n\n\n{printing.writer.text()}\n\n{_call(results)}", results


def _read(type: TileType, ref: str) -> str:
    scalar = "" if type.rank else ".max()"
    return f"{ref}[...]{scalar}" + (" != 0" if type.element_type == i1 else "")


def _write(value: SSAValue, out: str, printing: PallasPrinter) -> str:
    type = tile_type(value)
    name = printing.name(value) + (".astype(jnp.int32)" if type.element_type == i1 else "")
    return f"{out}[...] = {name}" if type.rank else f"{out}[...] = jnp.broadcast_to({name}, (1, 1))"


def _held(type: TileType) -> tuple[tuple[int, ...], str]:
    dtype = from_ir(type.element_type)
    assert dtype is not None
    return type.shape or (1, 1), "int32" if type.element_type == i1 else dtype.jax


def _call(results: Sequence[TileType]) -> str:
    shapes = ", ".join(f"jax.ShapeDtypeStruct({shape}, jnp.{dtype})" for shape, dtype in map(_held, results))
    return f"def kernel(*args):\n    return tuple(pl.pallas_call(_kernel, out_shape=[{shapes}])(*args))\n"


def run(inputs: Sequence[TileType], arrays: Sequence[np.ndarray], *builds: Build) -> list[np.ndarray]:
    """The builds' values of the inputs in plain interpret mode; bf16 comes and goes as f32."""
    import jax
    import jax.numpy as jnp

    from kopt.runtime.pallas_interpret import exact_options, interpreted_module

    source, results = emit(inputs, builds)
    module = interpreted_module(source, "kernel")
    held = [_held(type) for type in inputs]
    values = [jnp.asarray(array.reshape(shape), dtype) for array, (shape, dtype) in zip(arrays, held, strict=True)]
    outputs = jax.jit(module.kernel, compiler_options=exact_options())(*values)
    return [_back(output, type) for output, type in zip(outputs, results, strict=True)]


def _back(output, type: TileType) -> np.ndarray:
    dtype = from_ir(type.element_type)
    assert dtype is not None
    return np.asarray(output.astype("float32") if dtype.is_float else output).astype(dtype.numpy).reshape(type.shape)


def chips_for(number: int) -> tuple[str, ...]:
    """The chip that has the fewest operations, and of the newer ones, by a case's number, one or the other."""
    return (CHIPS[number % 2], CHIPS[-1])


def compile_for_chips(
    inputs: Sequence[TileType], builds: Sequence[Build], chips: Sequence[str] = CHIPS
) -> dict[str, str]:
    """What libtpu refuses, by chip: empty when it compiles for all."""
    from kopt.dtypes import BY_SPEC
    from kopt.runtime.report import report
    from kopt.targets.target import parse_target

    source, _ = emit(inputs, builds)
    by_jax = {dtype.jax: dtype for dtype in BY_SPEC.values()}
    specs = tuple(TensorSpec(shape, by_jax[dtype]) for shape, dtype in map(_held, inputs))
    reports = {chip: report(source, "kernel", specs, parse_target(f"pallas:{chip}"), estimates=False) for chip in chips}
    return {chip: facts["reason"] for chip, facts in reports.items() if not facts["legal"]}


def assert_same(found: np.ndarray, expected: np.ndarray, rtol: float = 3e-6, atol: float = 1e-7) -> None:
    """Equal up to rounding, with NaN and infinities in the same places."""
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, equal_nan=True)
