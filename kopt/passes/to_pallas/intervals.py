"""What integers of a function's arguments must be, for calls to check: an attribute of the argument.

func.func @f(%offsets: memref<6xi64> {kopt.interval = array<i64: -1073741823, 1073741823>})
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from kopt.analysis.aliases import root
from kopt.analysis.intervals import NAME, intervals
from kopt.dialects.host import CallOp

#: Host operators whose result has the numbers of their first operand, and zeros.
_KEEPS = ("aten.constant_pad_nd.default",)


def require_interval(array: SSAValue, low: int, high: int) -> None:
    """Notes that an argument's numbers must be from ``low`` to ``high``.

    What the host computes itself is not looked at: such numbers are taken to fit.
    """
    while isinstance(array.owner, CallOp) and array.owner.callee.data in _KEEPS:
        array = root(array.owner.operands[0])
    func = array.owner.parent_op() if isinstance(array, BlockArgument) else None
    if not isinstance(func, FuncOp) or not isinstance(array, BlockArgument):
        return
    before = intervals(func).get(array.index, (low, high))
    noted = DenseArrayBase.from_list(i64, [max(low, before[0]), min(high, before[1])])
    given = func.arg_attrs.data if func.arg_attrs is not None else [DictionaryAttr({})] * len(func.args)
    attributes = list(given)
    attributes[array.index] = DictionaryAttr({**attributes[array.index].data, NAME: noted})
    func.arg_attrs = ArrayAttr(attributes)
