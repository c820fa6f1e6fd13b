"""Updates of an array of one dimension by comparisons: each lane with each element, and a reduction."""

from __future__ import annotations

from kopt.dialects.builder import named
from kopt.dialects.tile import ALL, COMBINING_OPS, LoadOp, ReduceOp, StoreOp, element_of, neutral, tile_type
from kopt.dialects.tile.types import DimAttr
from kopt.passes.replacing import replacing
from kopt.passes.scatters.formulation import Formulation


def compare_and_reduce(at: Formulation) -> None:
    """Compares every lane with every element of a target of one dimension, and combines what is equal."""
    update, build = at.update, at.update.build
    count = at.target.shape[0]
    dims = [tile_type(update.index).dims.data[0], DimAttr(count)]
    hit = build.compute("eq", build.spread(update.index, dims, [0]), build.numbers(count, dims, 1))
    value = build.spread(at.neutralised(), dims, [0])
    value = build.select(hit, value, build.full(neutral(update.kind, element_of(value)), value))
    total = build.add(ReduceOp(update.kind, value, [0]))
    old = build.add(replacing(update.op, LoadOp(at.target.memory, [ALL])), "old")
    new = named(build.compute(COMBINING_OPS[update.kind], old, total), "new")
    build.insert(replacing(update.op, StoreOp(new, at.target.memory, [ALL])))
