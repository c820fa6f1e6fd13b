"""The elementwise operations by torch's names: one table of all families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kopt.frontend.ops import activations, binary, bounds, casts, unary

TABLE: dict[str, Callable[..., Any]] = {
    name: operation
    for family in (unary, activations, bounds, binary, casts)
    for name, operation in family.TABLE.items()
}
