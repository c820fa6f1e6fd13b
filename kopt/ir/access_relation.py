"""Access relations: which elements of an array the lanes of a block are, whatever the index list is made of.

Each dimension of the array has an `IndexExpr` over the lanes; ``domain`` says which lanes there are: those inside
their ranges that a mask names. The indices are right for the lanes of the domain, which address the array: what they
would be for others is left open. The relation is classified as a whole:

| class | the elements are |
|---|---|
| ``point`` | one, the same for all lanes |
| ``whole`` | the whole array, in order |
| ``block`` | a box: each dimension goes by one of the block's, in steps of its own, from where it begins |
| ``runs`` | contiguous runs of one length: rows by number, diagonals of blocks, groups of lanes |
| ``elements`` | anything else, one by one |
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

from kopt.cached_property import cached_property
from kopt.ir.atoms import Atom, Dims, Lane, Select, Wrap
from kopt.ir.choices import wrap
from kopt.ir.condition import FALSE, TRUE, Condition, conjunction
from kopt.ir.division import strides
from kopt.ir.factoring import coarse
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.polynomial import Coefficient
from kopt.ir.rewriting import Rewriting
from kopt.ir.runs import ElementRun, contiguous, groups_of, repeated
from kopt.ir.value_range import ValueRange
from kopt.open_extents import is_open

Kind = Literal["point", "whole", "block", "runs", "elements"]
#: From what moves best to what moves worst.
KINDS: tuple[Kind, ...] = ("point", "whole", "block", "runs", "elements")
#: Selects are made pieces while there are no more than this.
MOST_PIECES = 4


@dataclass(frozen=True)
class Step:
    """One dimension of a box: from ``start`` in steps of ``step`` along a dimension of the block; None: one element."""

    start: IndexExpr
    step: Coefficient = 0
    dim: int | None = None
    lanes: Coefficient = 1


@dataclass(frozen=True)
class AccessRelation:
    """The elements ``indices`` of an array of ``shape``, for the lanes of a block of ``lanes`` that are in ``domain``.

    ``bits`` is the size of an element.
    """

    shape: tuple[Coefficient, ...]
    lanes: tuple[Coefficient, ...]
    indices: tuple[IndexExpr, ...]
    domain: Condition
    bits: int = 32

    @property
    def kind(self) -> Kind:
        """The class of the access: of several pieces, that of the one that moves worst."""
        worst = KINDS[max((KINDS.index(piece._own_kind) for _, piece in self.pieces), default=0)]
        mixed = any(coarse(guard, self._wide).along & self._wide for guard, _ in self.pieces)
        return worst if not mixed else "runs" if self.run.length != 1 else "elements"

    @cached_property
    def pieces(self) -> tuple[tuple[Condition, AccessRelation], ...]:
        """The relation by cases: each guard, and what holds there. One case where selects are too many."""
        found: list[tuple[Condition, AccessRelation]] = []
        todo: list[tuple[Condition, AccessRelation]] = [(TRUE, self)]
        while todo:
            guard, piece = todo.pop()
            if (choice := piece._choice) is None:
                found.append((guard, piece))
                continue
            then, otherwise = conjunction([guard, choice]), conjunction([guard, choice.negated()])
            cases = ((then, piece._where(choice, True)), (otherwise, piece._where(choice, False)))
            todo += [case for case in cases if case[0] != FALSE]
            if len(todo) + len(found) > MOST_PIECES:
                return ((TRUE, self),)
        return tuple(found)

    @cached_property
    def box(self) -> tuple[Step, ...] | None:
        """Each dimension's start and step, where these make a box; None for diagonals and anything gathered."""
        steps = tuple(map(self._step, self.indices))
        known = [step for step in steps if step is not None]
        dims = [step.dim for step in known if step.dim is not None]
        return tuple(known) if len(known) == len(steps) and len(set(dims)) == len(dims) else None

    @cached_property
    def run(self) -> ElementRun:
        """The longest contiguous run of the lanes, as an element number of the array in row-major order."""
        return contiguous(self.address)

    @cached_property
    def runs(self) -> Coefficient:
        """How many runs there are; one for all lanes that have the same, where these are groups of a dimension."""
        total: Coefficient = 1
        for dim in self.run.start.along & self._wide:
            group = next((peeled for peeled in self.run.dims if peeled.dim == dim), None)
            size = repeated(self.run.start, Lane(dim, self.lanes[dim])) if group is None else group.size
            total = total * groups_of(self.lanes[dim], size)
        return total

    @cached_property
    def address(self) -> IndexExpr:
        """The number of the element in the array, in row-major order."""
        total = ZERO
        for index, stride in zip(self.indices, strides(self.shape), strict=True):
            total = total + index * stride
        return total

    @property
    def in_bounds(self) -> bool:
        """Whether every lane of the domain is known to address an element."""
        return not any(map(is_open, self.shape)) and all(
            self.domain.range_of(index).is_natural and self.domain.range_of(extent - 1 - index).is_natural
            for index, extent in zip(self.indices, self.shape, strict=True)
        )

    def at(self, sizes: Mapping[Hashable, Coefficient]) -> AccessRelation:
        """The relation with block sizes chosen."""
        return self.rewritten(Rewriting(lambda atom: None, sizes))

    def rewritten(self, rewriting: Rewriting) -> AccessRelation:
        """The relation after a substitution."""
        shape = tuple(rewriting.expr(IndexExpr(extent)).const for extent in self.shape)
        lanes = tuple(rewriting.expr(IndexExpr(size)).const for size in self.lanes)
        indices = tuple(map(settled, map(rewriting.expr, self.indices), shape))
        return AccessRelation(shape, lanes, indices, rewriting.condition(self.domain), self.bits)

    # Classification.

    @property
    def _own_kind(self) -> Kind:
        if not any(index.along & self._wide for index in self.indices):
            return "point"
        if (box := self.box) is not None:
            dims = [step.dim for step in box if step.dim is not None]
            return "whole" if dims == sorted(dims) and all(map(_covers, box, self.shape)) else "block"
        return "runs" if self.run.length != 1 else "elements"

    @property
    def _wide(self) -> Dims:
        """The dimensions of the block with more than one lane."""
        return frozenset(n for n, size in enumerate(self.lanes) if size != 1)

    def _step(self, index: IndexExpr) -> Step | None:
        lanes = [(atom, factor) for atom, factor in index.terms.items() if isinstance(atom, Lane)]
        if len(lanes) > 1:
            return None
        start = index - IndexExpr(0, dict(lanes))
        if start.along & self._wide:
            return None
        return Step(start, lanes[0][1], lanes[0][0].dim, lanes[0][0].size) if lanes else Step(start)

    # Pieces.

    @property
    def _choice(self) -> Condition | None:
        """The condition of the first select that some index is made of."""
        for index in self.indices:
            for atom in index.atoms():
                if isinstance(atom, Select):
                    return atom.condition
        return None

    def _where(self, condition: Condition, holds: bool) -> AccessRelation:
        """The relation where a condition is known to hold, or not to."""

        def taken(atom: object) -> IndexExpr | None:
            if not isinstance(atom, Select) or atom.condition != condition:
                return None
            return rewriting.expr(atom.then if holds else atom.otherwise)

        rewriting = Rewriting(taken)
        return self.rewritten(rewriting)

    def __str__(self) -> str:
        return f"{self.kind} [{', '.join(map(str, self.indices))}] where {self.domain}"


def settled(index: IndexExpr, extent: Coefficient) -> IndexExpr:
    """An index without wrapping of what cannot wrap: an element number of an array is below its extent.

    ``i32(16·s + lane)`` of an array is ``i32(16·s) + lane``: where these differ, the index is in no array.
    """
    wraps = [atom for atom in index.terms if isinstance(atom, Wrap) and atom.signed]
    most = IndexExpr(extent).range.high if wraps else None
    if most is None or most > 1 << wraps[0].bits - 1:
        return index
    bits, atom = wraps[0].bits, wrap(wraps[0].bits, index).atom
    if not isinstance(atom, Wrap):
        return index
    const, room = atom.inner.const, (1 << bits - 1) - most
    near = IndexExpr(const) if isinstance(const, int) and abs(const) <= room else ZERO
    for term, factor in sorted(atom.inner.terms.items(), key=_lanes_first):
        more = near + IndexExpr(0, {term: factor})
        if ValueRange(-room, room).covers(more.range):
            near = more
    return wrap(bits, atom.inner - near) + near


def _lanes_first(term: tuple[Atom, Coefficient]) -> tuple[bool, str]:
    return not isinstance(term[0], Lane), str(term[0])


def _covers(step: Step, extent: Coefficient) -> bool:
    """Whether one dimension of a box is all of an array's."""
    if step.start != ZERO:
        return False
    return extent == 1 if step.dim is None else (step.step, step.lanes) == (1, extent)
