"""What the host computes before a kernel, from a call's arguments alone: offsets as sums of lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from kopt.analysis.aliases import written_arguments
from kopt.analysis.entry import entry_function
from kopt.analysis.item_numbers import host_arrays
from kopt.dialects.host import CallOp, ViewOp
from kopt.errors import UnsupportedError
from kopt.interpreter.host import HANDLERS
from kopt.interpreter.machine import Machine

#: Gives the argument of a number as an array.
Arguments = Callable[[int], np.ndarray]


class HostArrays:
    """The arrays of `kopt.analysis.item_numbers.host_arrays` of a function, for some arguments."""

    def __init__(self, module: ModuleOp, entry: str):
        func = entry_function(module, entry)
        self._module = module
        self._arrays = host_arrays(func)
        self._arguments: dict[SSAValue, int] = {value: number for number, value in enumerate(func.body.block.args)}
        self._written = {self._arguments[value] for value in written_arguments(func)}

    def value(self, number: int, arguments: Arguments) -> np.ndarray | None:
        """An array's elements; None where they come from what kernels write, or of operators that NumPy has not."""
        machine = Machine(self._module, HANDLERS)
        try:
            return self._of(self._arrays[number], machine, arguments)
        except UnsupportedError:
            return None

    def _of(self, value: SSAValue, machine: Machine, arguments: Arguments) -> Any:
        number = self._arguments.get(value)
        op = value.owner
        if number is not None and number not in self._written:
            machine[value] = arguments(number)
        elif isinstance(op, CallOp | ViewOp):
            for operand in op.operands:
                self._of(operand, machine, arguments)
            found = HANDLERS[type(op)](machine, op)
            for result, held in zip(op.results, found if len(op.results) > 1 else [found], strict=True):
                machine[result] = held
        else:
            raise UnsupportedError(f"{value} is not computed from arguments alone")
        return machine[value]
