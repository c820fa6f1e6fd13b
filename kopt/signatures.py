"""A function's arguments and results as specs: what a caller has to bring and what comes back."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, StridedLayoutAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from kopt import dtypes
from kopt.analysis.aliases import written_arguments
from kopt.diagnostics import location_of
from kopt.errors import LoweringError
from kopt.runtime.signature import Signature, TensorParameter
from kopt.specs import TensorSpec


def signature(func: FuncOp) -> Signature:
    """The signature of a function of memrefs; parameters are named as their arguments, else ``arg0``, ….

    Raises `LoweringError` for an argument that is no memref of a dtype that kopt has.
    """
    args = func.body.block.args
    names = [arg.name_hint or f"arg{number}" for number, arg in enumerate(args)]
    parameters = [TensorParameter(name, _spec(func, arg.type)) for name, arg in zip(names, args, strict=True)]
    return Signature(func.sym_name.data, tuple(parameters))


def mutated_positions(func: FuncOp) -> tuple[int, ...]:
    """The positions of the arguments that a function writes."""
    return tuple(arg.index for arg in written_arguments(func))


def result_specs(func: FuncOp) -> tuple[TensorSpec, ...]:
    """The specs of what the emitted function returns: the results, then the mutated arguments."""
    types = [*func.function_type.outputs.data, *(arg.type for arg in written_arguments(func))]
    return tuple(TensorSpec(_spec(func, type).shape, _spec(func, type).dtype) for type in types)


def _spec(func: FuncOp, type: Attribute) -> TensorSpec:
    dtype = dtypes.from_ir(type.element_type) if isinstance(type, MemRefType) else None
    if dtype is None or not isinstance(type, MemRefType):
        raise LoweringError(f"'{func.sym_name.data}' takes or gives {type}; kernels are functions of memrefs of "
                            "known dtypes", location_of(func))  # fmt: skip
    strides = None
    if isinstance(type.layout, StridedLayoutAttr):
        strides = tuple(int(getattr(stride, "data", 0)) for stride in type.layout.strides.data)
    return TensorSpec(type.get_shape(), dtype, strides)
