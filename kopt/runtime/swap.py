"""``output_only=swap``: a tensor of the caller takes over the storage of the array that the kernel made.

`Tensor.set_` moves no element, but whoever else holds the old storage keeps the old elements. So a tensor gives its
storage up only where it is known to be the only one that sees it; else the elements are copied into it as always.

torch counts the tensors, NumPy arrays and storages that hold a storage, but neither exports by DLPack nor raw
addresses. A kernel whose arguments may have been exported must not be swapped, so this is never the default.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from kopt.runtime.sharing import sharing
from kopt.specs import contiguous_strides

#: Storages that tensors took over here, by address; a reference that does not count keeps each address from new use.
_taken_over: dict[int, Any] = {}


def why_kept(value: Any, others: Sequence[Any]) -> str | None:
    """Why a torch tensor must keep its storage, or None. ``others`` are the call's further arguments.

    To be asked before the call: frameworks that are lent an argument's memory are counted as owners.
    """
    if any(sharing([value, other]) for other in others):
        return "it shares memory with another argument"
    return next((reason for holds, reason in _HAZARDS if holds(value)), None)


def why_copied(final: Any, others: Sequence[Any]) -> str | None:
    """Why no tensor can take over the storage of a final value, or None. ``others`` are arguments and other outputs."""
    if any(sharing([final, other]) for other in others):
        return "its new elements share memory with an argument or another result"
    return None if _whole(final) else "its new elements are a part of a larger array"


def take_over(value: Any, final: Any) -> None:
    """Give ``value`` the storage of ``final``; no element moves."""
    import torch
    from torch.multiprocessing.reductions import StorageWeakRef

    with torch.no_grad():
        value.set_(final.detach())
    for address in [address for address, reference in _taken_over.items() if reference.expired()]:
        del _taken_over[address]
    storage = value.untyped_storage()
    _taken_over[storage._cdata] = StorageWeakRef(storage)


def _whole(value: Any) -> bool:
    """Whether a tensor is all of its storage, in row-major order."""
    plain = tuple(value.stride()) == contiguous_strides(tuple(value.shape))
    return plain and value.untyped_storage().nbytes() == value.numel() * value.element_size()


def _is_subclass(value: Any) -> bool:
    import torch

    return type(value) not in (torch.Tensor, torch.nn.Parameter)


def _foreign(value: Any) -> bool:
    """Whether another library owns the memory, or was lent it: torch never resizes such a storage again."""
    storage = value.untyped_storage()
    return not storage.resizable() and storage._cdata not in _taken_over


def _owners(value: Any) -> tuple[int, int]:
    """How many tensors and arrays hold a storage, and how many references its Python object has, ours included."""
    import torch

    storage = value.untyped_storage()
    return torch._C._storage_Use_Count(storage._cdata), sys.getrefcount(storage)


@cache
def _one_owner() -> tuple[int, int]:
    import torch

    return _owners(torch.empty(1))


#: What forbids the swap, and how a remark says so.
_HAZARDS: list[tuple[Callable[[Any], bool], str]] = [
    (_is_subclass, "it is of a subclass of torch.Tensor"),
    (lambda value: value.is_inference(), "it is an inference tensor"),
    (lambda value: value.requires_grad or value.grad_fn is not None, "autograd records it"),
    (lambda value: value._is_view(), "it is a view of another tensor"),
    (lambda value: not _whole(value), "it is not the whole of its storage in row-major order"),
    (lambda value: value.is_shared() or value.is_pinned(), "its memory is shared with other processes, or pinned"),
    (lambda value: _owners(value) != _one_owner(), "another tensor or array holds its storage"),
    (_foreign, "another library owns its memory, or was lent it"),
]
