"""What the host computes before a kernel, from a call's arguments alone: offsets as sums of lengths."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.entry import entry_function
from kopt.analysis.item_numbers import host_arrays
from kopt.interpreter.host_values import Arguments, HostValues


class HostArrays:
    """The arrays of `kopt.analysis.item_numbers.host_arrays` of a function, for some arguments."""

    def __init__(self, module: ModuleOp, entry: str):
        self._module, self._func = module, entry_function(module, entry)
        self._arrays = host_arrays(self._func)

    def value(self, number: int, arguments: Arguments) -> np.ndarray | None:
        """An array's elements; None where they come from what kernels write, or of operators that NumPy has not."""
        return HostValues(self._module, self._func, arguments).value(self._arrays[number])
