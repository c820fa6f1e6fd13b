"""Ops are written declaratively: those without a region have a format, and every format is right."""

from __future__ import annotations

import pytest
from xdsl.irdl import IRDLOperation

from kopt.dialects import DIALECTS
from kopt.dialects.formats import format_of, late
from kopt.registry import load

OURS = [
    op
    for name, path in DIALECTS.items()
    if path.startswith("kopt.")
    for op in load(DIALECTS[name]).operations
    if issubclass(op, IRDLOperation)
]
WITHOUT_REGIONS = [op for op in OURS if not op.get_irdl_definition().regions]
WITH_FORMATS = [op for op in OURS if op.assembly_format is not None]


@pytest.mark.parametrize("op", WITHOUT_REGIONS, ids=lambda op: op.name)
def test_no_op_without_a_region_parses_by_hand(op: type[IRDLOperation]) -> None:
    """It has a format, and neither it nor a base of it in kopt has a ``parse`` or ``print`` of its own."""
    assert op.assembly_format is not None
    methods = [vars(base).get(name) for base in op.__mro__ for name in ("parse", "print") if _is_ours(base)]
    assert {method.__module__ for method in methods if method is not None} == {late.__name__}


@pytest.mark.parametrize("op", WITH_FORMATS, ids=lambda op: op.name)
def test_every_format_is_right(op: type[IRDLOperation]) -> None:
    """It names all that the op has, in an order that can be read: formats are read late, so nobody else tells."""
    assert format_of(op).stmts


def _is_ours(base: type) -> bool:
    return base.__module__.startswith("kopt.")
