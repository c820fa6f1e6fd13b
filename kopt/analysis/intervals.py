"""The attribute that says which interval an argument's integers must be in, as ``legalise-element-types`` leaves it."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from kopt.analysis.aliases import root
from kopt.dialects.host import CallOp

NAME = "kopt.interval"
#: Host operators whose result has the numbers of their first operand, and zeros.
_KEEPS = ("aten.constant_pad_nd.default",)


def argument_of(array: SSAValue) -> BlockArgument | None:
    """The function's argument whose numbers an array has."""
    while isinstance(array.owner, CallOp) and array.owner.callee.data in _KEEPS:
        array = root(array.owner.operands[0])
    return array if isinstance(array, BlockArgument) and isinstance(array.owner.parent_op(), FuncOp) else None


def intervals(func: FuncOp) -> dict[int, tuple[int, int]]:
    """The lowest and highest number that arguments may hold, by position."""
    found: dict[int, tuple[int, int]] = {}
    for position, attributes in enumerate(func.arg_attrs.data if func.arg_attrs is not None else ()):
        noted = attributes.data.get(NAME)
        if isinstance(noted, DenseArrayBase):
            low, high = noted.get_values()
            found[position] = (int(low), int(high))
    return found
