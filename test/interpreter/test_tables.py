"""The interpreter knows every operation."""

from __future__ import annotations

import pytest

from kopt.dialects.atomic import Atomic
from kopt.dialects.host import Host
from kopt.dialects.jagged import Jagged
from kopt.dialects.pallas import Pallas
from kopt.dialects.symm import Symm
from kopt.dialects.tile import COMBINERS, TABLE, Tile
from kopt.dialects.triton import Triton
from kopt.interpreter import HANDLERS
from kopt.interpreter.elementwise import NUMPY
from kopt.interpreter.reductions import COMBINE


def test_every_elementwise_row_has_a_meaning() -> None:
    """The NumPy table has the keys of the dialect's table."""
    assert set(NUMPY) == {row.name for row in TABLE}


def test_every_combination_has_a_meaning() -> None:
    """So has the table of reductions."""
    assert set(COMBINE) == set(COMBINERS)


DIALECTS = [Tile, Host, Atomic, Jagged, Pallas, Symm, Triton]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_every_operation_has_a_handler(dialect) -> None:
    """Nothing but terminators goes without, and code in text that only Triton reads."""
    missing = {op.name for op in dialect.operations if op not in HANDLERS} - {
        "tile.yield",
        "host.yield",
        "triton.inline",
    }
    assert not missing
