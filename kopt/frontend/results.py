"""The form of what a kernel returns, by the values that its import found."""

from __future__ import annotations

from typing import Any

import torch
from xdsl.ir import SSAValue

from kopt.errors import UnsupportedError
from kopt.frontend.host import Host
from kopt.frontend.values import Undefined, is_device
from kopt.runtime.results import Constant, FromArgument, FromResult, Result
from kopt.trees import rebuild


def result_tree(value: Any, host: Host, outputs: list[SSAValue]) -> Result:
    """The form of a returned value; its tensors are appended to ``outputs``."""
    numbers: dict[SSAValue, int] = {}

    def leaf(item: Any) -> Any:
        if is_device(item) or isinstance(item, Undefined):
            name = f": '{item.name}'" if isinstance(item, Undefined) else ""
            message, advice = "a kernel cannot return a device value", "store it in a tensor and return that"
            raise UnsupportedError(message + name, host.tracer.returned, [advice], id="no-value")
        if not isinstance(item, torch.Tensor):
            return Constant(item)
        array = host.array(item)
        if array.argument is not None:
            return FromArgument(array.argument)
        if array.ssa not in numbers:
            numbers[array.ssa] = len(outputs)
            outputs.append(array.ssa)
        return FromResult(numbers[array.ssa])

    return Result(rebuild(value, leaf))
