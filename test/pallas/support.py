"""Shared by the tests of the Pallas lowering: IR files, their inputs, and how they are run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp

import kopt
from kopt.dtypes import DType, from_ir
from kopt.runtime.wire import Packed, from_reference, pack, to_reference

IR = Path(__file__).parent / "ir"
EXAMPLES = Path(__file__).parents[2] / "examples" / "ir"
FILES = {path.stem: path for folder in (IR, EXAMPLES) for path in sorted(folder.glob("*.mlir"))}
#: Kernels about loops: each runs in every form that loops have.
LOOPS = {path.stem: path for path in sorted((IR.parent / "loops").glob("*.mlir"))}
_ALL = FILES | LOOPS


def module(name: str) -> ModuleOp:
    """A fresh module of an IR file."""
    return kopt.parse(_ALL[name].read_text(), str(_ALL[name]))


def function(name: str) -> FuncOp:
    """The only function of an IR file."""
    return next(op for op in module(name).body.block.ops if isinstance(op, FuncOp))


def inputs(name: str) -> list[np.ndarray]:
    """Seeded arguments: numbers around 0, indices below 300, coin flips."""
    rng = np.random.default_rng(0)
    return [random_array(type, rng) for type in function(name).function_type.inputs]


def random_array(type: object, rng: np.random.Generator) -> np.ndarray:
    """Seeded elements of an array type."""
    assert isinstance(type, MemRefType)
    dtype = from_ir(type.element_type)
    assert dtype is not None
    if dtype.is_float:
        # through bits and back: what bf16 holds
        return to_reference(from_reference(rng.standard_normal(type.get_shape()).astype(dtype.numpy), dtype))
    if dtype.kind == "bool":
        return rng.random(type.get_shape()) > 0.5
    return rng.integers(0, 300, type.get_shape()).astype(dtype.numpy)


def result_dtypes(name: str) -> list[DType]:
    """The dtypes of what a lowered function gives back, mutated arguments included."""
    rewritten = kopt.run_pipeline(module(name), "return-mutated-arguments")
    func = next(op for op in rewritten.body.block.ops if isinstance(op, FuncOp))
    return [from_ir(type.element_type) for type in func.function_type.outputs]  # pyright: ignore


@cache
def reference(name: str) -> list[np.ndarray]:
    """What the reference interpreter computes."""
    from kopt.interpreter import run

    rewritten = kopt.run_pipeline(module(name), "return-mutated-arguments")
    return [np.asarray(a) for a in run(rewritten, function(name).sym_name.data, inputs(name))]


def packed_inputs(name: str) -> list[Packed]:
    """The arguments as bits in their own dtypes."""
    types = function(name).function_type.inputs
    dtypes = [from_ir(type.element_type) for type in types]  # pyright: ignore
    return [from_reference(a, d) for a, d in zip(inputs(name), dtypes, strict=True) if d is not None]


def as_reference(values: list[object]) -> list[np.ndarray]:
    """Results of any framework as the reference holds them."""
    return [to_reference(pack(value)) for value in values]
