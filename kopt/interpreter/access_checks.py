"""Checks of where a kernel's accesses go, before it runs: by the reference, in its words, on any target.

The emitted module stays what it is: what is run here is the part of the imported function that decides about places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from kopt.analysis.access_parts import AccessPart, computed_part, fixed_part, visible_part
from kopt.analysis.aliases import written_arguments
from kopt.analysis.entry import entry_function
from kopt.analysis.index_slice import sliceable
from kopt.dialects.tile.extents import argument_extents
from kopt.errors import UnsupportedError
from kopt.interpreter.partial import PartialMachine, TooLong
from kopt.open_extents import is_open

#: Operations of a part that are run at import, and elements of an array over which cells may meet, at most.
_STEPS, _ELEMENTS = 20_000, 1 << 24

#: Gives the argument of a number as the reference holds it.
Arguments = Callable[[int], np.ndarray]


def check_visible(module: ModuleOp, func: FuncOp) -> None:
    """Raises `AccessError` for an access that shapes alone show to be wrong: the first found, not all are looked for.

    Loops that carry nothing are run at their ends alone.
    """
    types = func.function_type.inputs
    arrays = all(isinstance(type, MemRefType) and not any(map(is_open, type.get_shape())) for type in types)
    found = visible_part(func, _ELEMENTS) if arrays and sliceable(func) else None
    if not found:
        return
    machine = PartialMachine(module, found.part, found.watched, steps=_STEPS, ends=True)
    with suppress(TooLong, UnsupportedError):
        machine.check(func, [None] * len(func.body.block.args))


class AccessChecks:
    """What is looked at before each call of a function: see `access_checks`."""

    def __init__(self, module: ModuleOp, func: FuncOp, fixed: AccessPart, computed: AccessPart):
        self._module = module
        self._func = func
        self._fixed: AccessPart | None = fixed
        self._computed = computed
        self._written = frozenset(written_arguments(func))
        found = argument_extents(func.body.block.args)
        self._open = {extent: (func.body.block.args.index(array), dim) for extent, (array, dim) in found.items()}

    @property
    def remain(self) -> bool:
        """Whether further calls have something to look at."""
        return bool(self._fixed or self._computed)

    def check(self, argument: Arguments, shapes: Sequence[tuple[int, ...]]) -> None:
        """Raises `AccessError` for the first access that is wrong; what arguments cannot change is run once.

        ``shapes`` are those of the arguments.
        """
        with suppress(UnsupportedError):  # an operator that NumPy lacks decides: the reference does not run it either
            if self._fixed:
                self._run(self._fixed, argument, shapes)
            if not self._open:
                self._fixed = None
            if self._computed:
                self._run(self._computed, argument, shapes)

    def _run(self, part: AccessPart, argument: Arguments, shapes: Sequence[tuple[int, ...]]) -> None:
        needed = part.part.held | part.watched
        values: Sequence[SSAValue] = self._func.body.block.args
        args = [self._held(n, value, argument) if value in needed else None for n, value in enumerate(values)]
        machine = PartialMachine(self._module, part.part, part.watched)
        machine.extents = {extent: shapes[number][dim] for extent, (number, dim) in self._open.items()}
        machine.check(self._func, args)

    def _held(self, number: int, value: SSAValue, argument: Arguments) -> np.ndarray:
        array = argument(number)
        return array.copy() if value in self._written else array


def access_checks(module: ModuleOp, entry: str) -> AccessChecks | None:
    """The checks of a function before its calls; None where it is known to be right whatever the arguments hold."""
    func = entry_function(module, entry)
    if not sliceable(func):
        return None
    fixed, computed = fixed_part(func), computed_part(func)
    return AccessChecks(module, func, fixed, computed) if fixed or computed else None
