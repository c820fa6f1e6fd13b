"""Access relations name the elements that the interpreter touches, whatever index lists and masks are made of."""

from __future__ import annotations

from collections import Counter

import numpy as np

import kopt
from kopt.dialects.tile import Access
from kopt.ir.from_access import relation_of
from kopt.ir.from_ssa import IndexAnalysis
from test.ir.kernels import Visit, arguments, kernels, run


def check(op: Access, visit: Visit) -> None:
    """Relation, pieces, box and run are all the elements that are touched."""
    relation = visit.relation
    assert (visit.addressed() == visit.touched).all(), f"{op} is {relation}"
    _check_pieces(visit)
    _check_box(visit)
    _check_run(visit)


def _check_pieces(visit: Visit) -> None:
    """Guards part the lanes of the domain, and each piece is right where its guard holds."""
    held = np.zeros(visit.shape, int)
    indices = visit.lanes(*visit.relation.indices)
    for guard, piece in visit.relation.pieces:
        where = visit.holds(guard) & visit.domain
        held += where
        for index, own in zip(indices, visit.lanes(*piece.indices), strict=True):
            assert (index[where] == own[where]).all(), str(piece)
    assert (held[visit.domain] == 1).all()


def _check_box(visit: Visit) -> None:
    relation = visit.relation
    if relation.kind == "point":
        assert visit.touched.sum() <= 1
    if relation.kind in ("whole", "block") and relation.box is not None and len(relation.pieces) == 1:
        for step, index in zip(relation.box, visit.lanes(*relation.indices), strict=True):
            (start,) = visit.lanes(step.start)
            lanes = 0 if step.dim is None else np.indices(visit.shape)[step.dim]
            assert (index[visit.domain] == (start + lanes * step.step)[visit.domain]).all()
    if relation.kind == "whole" and visit.domain.all():
        assert visit.touched.all()


def _check_run(visit: Visit) -> None:
    address, run = visit.lanes(visit.relation.address, visit.relation.run.expr())
    assert (address == run)[visit.domain].all()


def test_random_index_tiles() -> None:
    """Two hundred loads by computed index tiles and masks; with sizes that are chosen after their forms too."""
    kinds: Counter[str] = Counter()

    def look(op: Access, visit: Visit) -> None:
        check(op, visit)
        kinds[visit.relation.kind] += 1
        open_form = relation_of(op, IndexAnalysis(open_tags=("b0", "b1")))
        later = Visit(open_form.at({"b0": 4, "b1": 8}), visit.machine, visit.touched)
        assert (later.addressed() == visit.touched).all(), str(open_form)

    for text in kernels(40, 5):
        run(kopt.parse(text), arguments(), look, most=2)
    assert set(kinds) >= {"point", "block", "runs", "elements"}, kinds
