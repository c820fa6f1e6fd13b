"""Writes comparisons of element numbers by lanes alone, where both blocks begin at one element, as on a diagonal."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.tile import tile_type
from kopt.ir.atoms import Lane
from kopt.ir.condition import Condition, Named
from kopt.ir.forms import wide_dims
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.to_tiles import TileWriter


def compare_lanes(conditions: Mapping[SSAValue, Condition], analysis: IndexAnalysis) -> None:
    """Writes conditions anew that only lanes tell: what both sides of a comparison count goes.

    Those that are the same along some dimension stay: a TPU compares whole blocks rather than to repeat what it found.

        %r = tile.add (tile.splat %begin), %i   %c = tile.add (tile.splat %begin), %j   %s = tile.ge %r, %c
    becomes
        %s = tile.ge %i, %j
    """
    for value, condition in conditions.items():
        atoms = (atom for part in condition.parts for atom in part.terms)
        are_lanes = not isinstance(condition, Named) and all(isinstance(atom, Lane) for atom in atoms)
        if are_lanes and (condition.known is not None or condition.along == {*wide_dims(value.type)}):
            assert isinstance(value.owner, Operation)
            build, dims = Builder(value.owner), tile_type(value).dims.data
            build.replace(TileWriter(build.add, analysis.begin).condition(condition, dims))
