"""The pass ``cse``: operations that compute the same are one."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove
from xdsl.transforms.common_subexpression_elimination import OperationInfo

from kopt.analysis.effects import (
    is_pure,
    is_side_effect_free,
    is_terminator,
    is_trivially_dead,
    may_only_read,
    may_write,
)
from kopt.dialects.tile.access_ids import ACCESS
from kopt.walk import walk


@dataclass(frozen=True)
class CsePass(ModulePass):
    """Common subexpression elimination: of equal operations in scope the first stays. Dead operations go.

    Equal reads of memory are one where nothing between them may write. Takes time linear in the number of operations:
    xDSL's own pass looks at all operations between two equal reads, for each pair again.

        %a = tile.load %x[%i]     %b = tile.load %x[%i]     %c = tile.add %a, %b
    becomes
        %a = tile.load %x[%i]     %c = tile.add %a, %a

    It never refuses.
    """

    name = "cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Reads that differ by no more than their ids are equal; the one that stays keeps its own.
        ids = {inner: inner.attributes.pop(ACCESS) for inner in walk(op) if ACCESS in inner.attributes}
        _Driver().simplify(op)
        for inner, id in ids.items():
            inner.attributes[ACCESS] = id


class _Info(OperationInfo):
    """What makes operations equal, with a hash that is computed once."""

    def __init__(self, op: Operation):
        self.op = op
        known = [frozenset(items.items()) for items in (op.attributes, op.properties) if items]
        self._hash = hash((op.name, *map(id, op.operands), *known))

    def __hash__(self) -> int:
        return self._hash


#: The operations of a region, behind those of the regions around it.
_Scopes = tuple[dict[_Info, Operation], ...]


class _Driver:
    """Goes through regions in the order of the text. Writes so far are counted, not looked for between two reads."""

    def __init__(self):
        #: How many operations so far may write, and the count at each known read.
        self._writes = 0
        self._writes_before: dict[Operation, int] = {}
        self._dead: list[Operation] = []

    def simplify(self, op: Operation) -> None:
        """Replaces what is inside of an operation by equal operations, and erases what is dead then."""
        for region in op.regions:
            self._simplify_region(region, ())
        for dead in self._dead:
            dead.detach()
            dead.erase()

    def _simplify_region(self, region: Region, around: _Scopes) -> None:
        if len(region.blocks) != 1:
            return
        scopes = (*around, {})
        for op in region.block.ops:
            if op.regions:
                isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=True)
                for inner in op.regions:
                    self._simplify_region(inner, () if isolated else scopes)
            self._simplify_operation(op, scopes)

    def _simplify_operation(self, op: Operation, scopes: _Scopes) -> None:
        if is_terminator(type(op)):
            return
        if is_trivially_dead(op):
            self._dead.append(op)
            return
        if is_pure(type(op)) and not op.regions:
            self._simplify_known(op, scopes, reads=False)
            return
        if may_write(op):
            self._writes += 1
        elif may_only_read(op) and all(len(region.blocks) <= 1 for region in op.regions):
            self._simplify_known(op, scopes, reads=not is_side_effect_free(op))

    def _simplify_known(self, op: Operation, scopes: _Scopes, reads: bool) -> None:
        """An operation without effects, or one that only reads."""
        info = _Info(op)
        known = next((scope[info] for scope in reversed(scopes) if info in scope), None)
        if known is not None and (not reads or self._is_unchanged(known, op.parent)):
            for result, other in zip(op.results, known.results, strict=True):
                result.replace_all_uses_with(other)
            self._dead.append(op)
            return
        scopes[-1][info] = op
        self._writes_before[op] = self._writes

    def _is_unchanged(self, known: Operation, block: Block | None) -> bool:
        """Whether nothing may have written since a known read of the same block."""
        return known.parent is block and self._writes_before[known] == self._writes
