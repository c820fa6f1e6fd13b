"""What a family's host code is made of, as data."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from kopt import dtypes
from kopt.diagnostics import Problem

#: The problems of an op of one kind.
Check = Callable[[Any], Iterator[Problem]]


@dataclass(frozen=True)
class HostForms:
    """The ``ops`` that have a form, what is said of others, and what is wrong with ops of a kind, or a function."""

    ops: Container[type[Operation]]
    formless: Callable[[Operation], Problem]
    checks: Mapping[type[Operation], Check]
    of_function: Callable[[FuncOp], Iterator[Problem]] = lambda func: iter(())


def of_elements(value: SSAValue, message: str) -> Iterator[Problem]:
    """The element type of an array that is made is one that kopt has a dtype for; ``message`` is said before it."""
    assert isinstance(value.type, MemRefType) and isinstance(value.owner, Operation)
    if dtypes.from_ir(value.type.element_type) is None:
        yield Problem(value.owner, f"{message} {value.type.element_type}", id="no-form")
