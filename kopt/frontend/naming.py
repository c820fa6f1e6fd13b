"""Names of the kernel's variables on the values of the IR."""

from __future__ import annotations

from typing import Any

import torch

from kopt.dialects.builder import as_hint
from kopt.frontend.values import DeviceTensor, Index, TileRange


def named(value: Any, name: str) -> Any:
    """Gives a device value the name of its variable, for readable IR."""
    if isinstance(value, DeviceTensor | Index | TileRange):
        ssa = value.ssa
        if ssa.name_hint is None:
            ssa.name_hint = as_hint(name)
    elif isinstance(value, torch.Tensor):
        array = getattr(value, "_kopt", None)
        if array is not None and array.ssa.name_hint is None:
            array.ssa.name_hint = as_hint(name)
    return value


def named_all(value: Any, names: tuple[str, ...]) -> Any:
    """The same for unpacking."""
    if isinstance(value, tuple | list) and len(value) == len(names):
        for item, name in zip(value, names, strict=True):
            if name:
                named(item, name)
    return value
