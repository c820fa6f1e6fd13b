"""The meaning of modules, in NumPy: the reference that every target is compared with.

A tile knows which of its lanes are inside their ranges. Undefined lanes hold NaN or a strange number, take no part in
reductions, scans and dots, and are never stored; cells of a grid run in a random order, and conflicts between them are
errors. So it runs modules as they are imported as well as after any pass on ``tile`` and ``host``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from kopt.errors import ArgumentError
from kopt.interpreter import (
    associative,
    atomic,
    elementwise,
    host,
    jagged,
    loops,
    memory,
    pallas,
    random,
    reductions,
    scalars,
    scaling,
    shape,
    sorting,
    symm,
    triton,
)
from kopt.interpreter.machine import Handler, Machine, check_arguments

#: What each operation does.
HANDLERS: dict[type, Handler] = {
    **elementwise.HANDLERS,
    **random.HANDLERS,
    **shape.HANDLERS,
    **memory.HANDLERS,
    **reductions.HANDLERS,
    **associative.HANDLERS,
    **scaling.HANDLERS,
    **sorting.HANDLERS,
    **loops.HANDLERS,
    **atomic.HANDLERS,
    **jagged.HANDLERS,
    **host.HANDLERS,
    **pallas.HANDLERS,
    **scalars.HANDLERS,
    **symm.HANDLERS,
    **triton.HANDLERS,
}


def run(
    module: ModuleOp,
    entry: str,
    args: Sequence[np.ndarray],
    *,
    seed: int = 0,
    check_conflicts: bool = True,
    masked: bool = False,
) -> list[np.ndarray]:
    """Run a function of a module on arrays; gives its results. Memref arguments are written in place.

    Args: ``args`` arrays of the types that hold the memrefs' elements (bf16 and fp8 in float32, rounded); ``seed`` of
    the order in which cells run; ``check_conflicts`` reports cells that access what another cell writes; ``masked``
    says that the module has been through ``insert-masks``: reductions then combine all lanes as they are, so that a
    missing mask shows.
    """
    machine = Machine(module, HANDLERS, seed=seed, check_conflicts=check_conflicts, masked=masked)
    function = machine.functions.get(entry)
    if function is None:
        raise ArgumentError(
            f"the module has no function '{entry}'",
            notes=[f"it has {', '.join(machine.functions)}"],
            id="unknown-function",
        )
    check_arguments(function, args)
    return list(machine.call(function, args))


__all__ = ["HANDLERS", "run"]
