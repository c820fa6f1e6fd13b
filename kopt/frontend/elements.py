"""Elements of what kernels index: loads and stores of host tensors in device loops, lanes of device values."""

from __future__ import annotations

from typing import Any

import torch

from kopt.frontend.block_size import plain
from kopt.frontend.device_value import DeviceValue
from kopt.frontend.indexing import load, store
from kopt.frontend.registry import handles
from kopt.frontend.stacks import StackTensor
from kopt.frontend.state import current, unsupported
from kopt.frontend.subscripts import subscript
from kopt.frontend.values import DeviceTensor, describe, has_device

#: What Python repeats, formats or indexes by the number that a size is.
CONTAINERS = (list, tuple, str, bytes, dict, range)


@handles(torch.Tensor.__getitem__)
def getitem(container: Any, index: Any) -> Any:
    """``container[index]``."""
    if isinstance(container, DeviceTensor):
        return subscript(container, index)
    if isinstance(container, torch.Tensor):
        tracer = current()
        if tracer.on_device:
            return load(tracer.host.meta(container), index)
        if has_device(index):
            unsupported("tiles index tensors inside device loops only", id="outside-device-loop")
        return container[_without_lists(index)]
    if isinstance(container, StackTensor):
        return container.load(index)
    if isinstance(index, DeviceValue) and not isinstance(container, DeviceValue):
        unsupported(
            f"a device value cannot index {describe(container)}",
            "use hl.static_range for indices of Python containers",
            id="index",
        )
    holder: Any = container
    return holder[plain(index) if isinstance(container, CONTAINERS) else index]


def _without_lists(index: Any) -> Any:
    """An index list of the host with tensors for lists of numbers: those that torch makes of them nobody sees."""
    if isinstance(index, tuple):
        return tuple(map(_without_lists, index))
    return torch.tensor(index) if isinstance(index, list) else index


def setitem(value: Any, container: Any, index: Any) -> None:
    """``container[index] = value``."""
    if isinstance(container, torch.Tensor) and current().on_device:
        store(current().host.meta(container), index, value)
    elif isinstance(container, StackTensor):
        container.store(index, value)
    elif isinstance(container, torch.Tensor) and has_device((value, index)):
        unsupported("device values are stored inside device loops only", id="outside-device-loop")
    elif isinstance(container, torch.Tensor):
        container[_without_lists(index)] = value
    else:
        container[plain(index) if isinstance(container, CONTAINERS) else index] = value


@handles(torch.Tensor.__setitem__)
def _assigned(container: Any, index: Any, value: Any) -> None:
    setitem(value, container, index)
