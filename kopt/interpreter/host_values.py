"""What the host computes before a kernel, from a call's arguments alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from kopt.analysis.aliases import written_arguments
from kopt.dialects.host import CallOp, ViewOp
from kopt.errors import UnsupportedError
from kopt.interpreter.host import HANDLERS
from kopt.interpreter.machine import Machine

#: Gives the argument of a number as an array; None where that is not known.
Arguments = Callable[[int], np.ndarray | None]


class HostValues:
    """Arrays of a function, for some arguments."""

    def __init__(self, module: ModuleOp, func: FuncOp, arguments: Arguments):
        self._given = arguments
        self._machine = Machine(module, HANDLERS)
        self._arguments: dict[SSAValue, int] = {value: number for number, value in enumerate(func.body.block.args)}
        self._written = {self._arguments[value] for value in written_arguments(func)}

    def value(self, array: SSAValue) -> np.ndarray | None:
        """An array's elements; None where they come from what kernels write, or of operators that NumPy has not."""
        try:
            return self._of(array)
        except UnsupportedError:
            return None

    def _of(self, value: SSAValue) -> Any:
        number = self._arguments.get(value)
        given = None if number is None or number in self._written else self._given(number)
        op = value.owner
        if given is not None:
            self._machine[value] = given
        elif isinstance(op, CallOp | ViewOp):
            for operand in op.operands:
                self._of(operand)
            found = HANDLERS[type(op)](self._machine, op)
            for result, held in zip(op.results, found if len(op.results) > 1 else [found], strict=True):
                self._machine[result] = held
        else:
            raise UnsupportedError(f"{value} is not computed from arguments alone")
        return self._machine[value]
