"""Kernels on extents of 0, 1 and what no block divides, in blocks of every size: each target gives what torch gives."""

from __future__ import annotations

import random
from itertools import cycle

import pytest

from test.extents import arrays, forms, places
from test.extents.families import Case, draw
from test.extents.judging import problem, refused
from test.property.test_kernels import GIVEN

FAMILIES = {family.name: family for family in (*arrays.FAMILIES, *places.FAMILIES, *forms.FAMILIES)}
_CHIPS = ("pallas:v6e", "triton:sm90")
TARGETS = ("reference", "pallas:interpret", "triton:interpret")
#: How many cases of each family are drawn: others, and more, where someone asks for a seed.
_DRAWN = 5 if GIVEN else 2

#: Products and sums over one element, arrays of no elements, and blocks of one lane where layouts turn.
SMALLEST = [
    ("matmul", {"m": 16, "n": 16, "k": 1}, None),
    ("matmul", {"m": 1, "n": 1, "k": 1}, (64, 64, 64)),
    ("matmul", {"m": 5, "n": 3, "k": 0}, (4, 4, 4)),
    ("next_column", {"m": 17, "n": 8}, (8, 1)),
    ("stored_when_positive", {"m": 17, "k": 3}, (32, 64)),
    ("stored_when_positive", {"m": 1, "k": 2}, (1, 8)),
    ("scatter_rows", {"m": 17, "n": 0, "k": 129}, (17,)),
    ("scatter_add", {"m": 5, "n": 3, "k": 0}, (4, 2)),
    ("tops", {"m": 13, "k": 5}, (13,)),
    ("jagged_tiles", {"m": 13, "n": 16, "k": 16}, (13, 16, 1)),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name, sizes, blocks", SMALLEST)
def test_the_smallest(name, sizes, blocks, target) -> None:
    assert problem(Case(FAMILIES[name], sizes, blocks, written=True), target, 0) is None


@pytest.mark.parametrize("name", FAMILIES)
def test_one_of_each_family(name) -> None:
    _compare(name, 0)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, _DRAWN))
@pytest.mark.parametrize("name", FAMILIES)
def test_each_family(name, number) -> None:
    _compare(name, number)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), list(zip(FAMILIES, cycle(_CHIPS), strict=False)))
def test_each_family_compiles(name, target) -> None:
    """At its smallest extents, each on one chip: the chip's own compiler takes what is emitted."""
    pytest.importorskip("libtpu" if target.startswith("pallas") else "triton")
    report = refused(draw(FAMILIES[name], random.Random(name), (0, 1, 1, 2, 3, 17)), target, 0)
    assert report is None, report


def _compare(name: str, number: int) -> None:
    case = draw(FAMILIES[name], random.Random(f"{name} {number} {GIVEN or ''}".strip()))
    problems = [found for target in TARGETS if (found := problem(case, target, number))]
    assert not problems, "\n".join(problems)
