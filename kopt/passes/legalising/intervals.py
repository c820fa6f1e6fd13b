"""What integers of a function's arguments must be, for calls to check: an attribute of the argument.

func.func @f(%offsets: memref<6xi64> {kopt.interval = array<i64: -1073741823, 1073741823>})
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from kopt.analysis.intervals import NAME, argument_of, intervals


def require_interval(array: SSAValue, low: int, high: int) -> None:
    """Notes that an argument's numbers must be from ``low`` to ``high``.

    What the host computes itself is not looked at: it is asked only of indices, which are taken to fit.
    """
    argument = argument_of(array)
    if argument is None:
        return
    func = argument.owner.parent_op()
    assert isinstance(func, FuncOp)
    before = intervals(func).get(argument.index, (low, high))
    noted = DenseArrayBase.from_list(i64, [max(low, before[0]), min(high, before[1])])
    given = func.arg_attrs.data if func.arg_attrs is not None else [DictionaryAttr({})] * len(func.args)
    attributes = list(given)
    attributes[argument.index] = DictionaryAttr({**attributes[argument.index].data, NAME: noted})
    func.arg_attrs = ArrayAttr(attributes)
