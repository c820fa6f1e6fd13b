"""What the frontend accepts, every target can do: no operation is without a test, none without a lowering."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kopt.dialects.tile import ELEMENTWISE, TABLE, Tile
from kopt.frontend.registration import register_all
from kopt.frontend.registry import CREATION, OPERATIONS
from kopt.interpreter import HANDLERS
from kopt.lowering.pallas.kernel import HANDLERS as PALLAS
from kopt.lowering.pallas.values import elementwise as pallas
from kopt.lowering.triton import elementwise as triton
from kopt.lowering.triton.module import HANDLERS as TRITON
from test.conformance.table import GROUPS, WITHOUT_VALUES, names_of

FRONTEND = Path(__file__).resolve().parents[2] / "kopt" / "frontend"
NAMED = set().union(*(names_of(call) for group in GROUPS for call in group.calls))
register_all()
KNOWN = {**OPERATIONS, **CREATION}

#: The ops that each target's printers (the reference: its interpreter) know.
PRINTED = {"reference": {*HANDLERS}, "pallas": {*PALLAS}, "triton": {*TRITON}}
#: Ops that a target's passes rewrite before anything is printed, by what they become.
REWRITTEN = {
    "pallas": {
        "tile.scaling_extf": "elementwise operations: expand-scaling",
        "tile.valid_lanes": "predicates of ranges, rearranged",
        "tile.load": "pallas: tile.get, or a DMA",
        "tile.store": "pallas: tile.put, or a DMA",
        "tile.grid": "pallas: the grid of a pallas.call",
        "tile.block_size": "a constant: fold-block-sizes",
        "tile.valid_count": "a constant, or end less begin: fold-block-sizes",
        "tile.dim": "nothing: a kernel is compiled for one shape",
        "tile.shift": "an offset of an index map, or slices of aligned blocks",
    },
    "triton": {
        "tile.valid_lanes": "predicates of ranges, rearranged",
        "tile.grid": "triton.launch",
        "tile.block_size": "a constant: fold-block-sizes",
        "tile.valid_count": "a constant, or end less begin: fold-block-sizes",
        "tile.slice": "a gather: convert-slices-to-gathers",
        "tile.concat": "gathers: convert-slices-to-gathers",
    },
}


def test_every_operation_is_in_the_table() -> None:
    """Each name that kernels may call is called by the conformance tests, itself or an alias of it."""
    tested = {id(KNOWN[name]) for name in NAMED if name in KNOWN}
    missing = {name for name, function in KNOWN.items() if name not in NAMED and id(function) not in tested}
    assert missing == set(WITHOUT_VALUES)


def test_the_table_names_operations_only() -> None:
    """Each call of the table is one that the frontend has an entry for."""
    assert set(KNOWN) >= NAMED


def test_every_row_is_spelt_everywhere() -> None:
    """The elementwise tables of all targets have the rows of the dialect's."""
    rows = {row.name for row in TABLE}
    for table in (pallas.TEMPLATES, triton.TEMPLATES):
        assert {name.partition(".")[0] for name in table} == rows


def _made() -> set[str]:
    """The tile ops that the frontend's code makes."""
    classes = {op.__name__: op.name for op in Tile.operations}
    used = {name for path in FRONTEND.rglob("*.py") for name in re.findall(r"\b([A-Z]\w*Op)\b", path.read_text())}
    return {classes[name] for name in used & set(classes)} | {op.name for op in ELEMENTWISE.values()}


@pytest.mark.parametrize("target", PRINTED)
def test_every_op_has_a_lowering(target: str) -> None:
    """What the frontend makes is printed for each target, or rewritten by a pass that the table names."""
    have = {getattr(op, "name", "") for op in PRINTED[target]} | set(REWRITTEN.get(target, {}))
    assert _made() - have - {"tile.yield"} == set()
