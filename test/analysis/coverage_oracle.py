"""The judge of `kopt.analysis.coverage`: runs a kernel in the interpreter and counts what its stores write."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp

from kopt.dialects.tile import StoreOp
from kopt.interpreter import HANDLERS
from kopt.interpreter.access import locate
from kopt.interpreter.machine import Machine
from kopt.interpreter.memory import own_mask


def times_written(module: ModuleOp) -> np.ndarray:
    """How often each element of the first argument is written, arrays of zeros given for the others."""
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    shapes = [type.get_shape() for type in func.function_type.inputs.data if isinstance(type, MemRefType)]
    arrays = [np.zeros(shape) for shape in shapes]
    counts = np.zeros(shapes[0], np.int64)

    def store(m: Machine, op: StoreOp) -> None:
        block = locate(m, op, arrays[0])
        active = block.active(own_mask(m, op))
        counts[block.index] += 1 if active is None else active[block.window].astype(np.int64)

    Machine(module, {**HANDLERS, StoreOp: store}, check_conflicts=False).call(func, arrays)
    return counts
