"""Names of operators in torch's library: the same for the same kernel in every process, and one for each operator."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable
from typing import Any

from kopt.operators.operands import Form

NAMESPACE = "kopt"

#: What each name that is given stands for.
_GIVEN: dict[str, Hashable] = {}


def operator_name(kernel: Any, form: Form, schema: str) -> str:
    """``kopt::module_kernel``, with a hash where the kernel has a target, a configuration or fixed values.

    Operators of other schemas, and of other functions of the same name, are numbered.
    """
    name = _identifier(f"{kernel.fn.__module__}_{kernel.fn.__qualname__}")
    details = _details(kernel, form)
    if details:
        name = f"{name}_{hashlib.sha256(details.encode()).hexdigest()[:8]}"
    owner = id(kernel.fn), details, form.key, schema
    found, number = name, 2
    while _GIVEN.setdefault(found, owner) != owner:
        found, number = f"{name}_{number}", number + 1
    return f"{NAMESPACE}::{found}"


def _details(kernel: Any, form: Form) -> str:
    """What sets an operator apart from that of the plain kernel, as text that is the same in every process."""
    said = [] if kernel.target is None else [f"target {kernel.target}"]
    said += [f"config {kernel.config}"] if kernel.config != type(kernel.config)() else []
    said += [f"fixed {_spelled(leaf.value)}" for leaf in form.fixed if leaf.value is not None]
    return "; ".join(said)


def _spelled(value: Any) -> str:
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if name else type(value).__qualname__


def _identifier(text: str) -> str:
    """An identifier without two underscores in a row."""
    name = re.sub(r"_+", "_", re.sub(r"\W", "_", text.replace("<locals>", ""), flags=re.ASCII)).strip("_")
    return name if name and not name[0].isdigit() else f"k_{name}"
