"""Which Python functions belong to a kernel, and which are a library's."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

#: Packages whose functions run as they are.
_LIBRARIES = {"torch", "numpy", "jax", "helion", "triton", "kopt", "typing", "functools", "math", "operator"}
_LIBRARIES |= {"builtins", "itertools", "contextlib", "dataclasses", "collections", "inspect", "os", "re"}


def is_users(function: FunctionType) -> bool:
    """Whether a function is the author's own: a part of the kernel, to be looked into."""
    return is_users_module(function.__globals__)


def is_users_module(names: Mapping[str, Any]) -> bool:
    """The same of the module whose global names these are."""
    module = str(names.get("__name__", ""))
    if module.startswith("kopt.") and not module.startswith("kopt.examples"):
        return False
    return module.partition(".")[0] not in _LIBRARIES
