"""Plain dimensions that are made of blocks, and how many lanes they have while the sizes of blocks are left open.

    %both = tile.reshape %pairs : !tile.tile<b2=512 x 2 x b1=256 x bf16> to !tile.tile<1024 x b1=256 x bf16>
    %d = tile.dot %rows, %both : !tile.tile<b0=128 x 1024 x bf16>, …
becomes
    2 · b2 lanes, of dimension 0 of %both and of dimension 1 of %rows
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from math import prod

from xdsl.ir import Operation, SSAValue

from kopt.analysis.launch_models.dim_classes import DimClasses, Node, block_of, is_plain
from kopt.dialects.tile import Access, ConcatOp, DimAttr, ReshapeOp, TileType, block_axes, tile_type
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.forms import own_name, wide_dims
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.polynomial import Coefficient
from kopt.walk import walk

#: What lanes are made of: the product, or the sum, of the lanes of other dimensions.
_Recipe = tuple[Callable[..., Coefficient], list[Node]]


class MergedDims(DimClasses):
    """The merged dimensions inside of an operation; ``lanes_of`` tells the lanes of dimensions of ``open_tags``."""

    def __init__(self, top: Operation, open_tags: Collection[str], lanes_of: Callable[[DimAttr], Coefficient]):
        super().__init__()
        self._recipes: dict[Node, list[_Recipe]] = {}
        self._found: dict[Node, Coefficient] = {}
        self._lanes_of = lanes_of
        if not _merges(top, frozenset(open_tags)):
            return
        for op in walk(top):
            self.visit(op)
        recipes: dict[Node, list[_Recipe]] = {}
        for node, own in self._recipes.items():
            recipes.setdefault(self.top(node), []).extend(own)
        for node in list(recipes):
            self._compute(node, recipes)

    def lanes(self, value: SSAValue, dim: int) -> Coefficient | None:
        """The lanes of a merged dimension of a value; None of any other one."""
        return self._found.get(self.top((value, dim))) if self._found else None

    def access(self, op: Access) -> None:
        """Rows that are gathered have the dimensions of their numbers."""
        super().access(op)
        value = block_of(op)
        for n, axis in enumerate(block_axes(op.entries, memory_shape(op.memory.type))):
            rows = op.entries[axis.position]
            if axis.gather_dim is not None and isinstance(rows, SSAValue):
                self.same(rows, value, iter([(axis.gather_dim, n)]))

    def reshaped(self, op: ReshapeOp) -> None:
        """What several dimensions are merged into is their product."""
        for before, after in _groups(op):
            if len(before) == len(after) == 1:
                self.same(op.input, op.result, iter([(before[0], after[0])]))
            elif len(after) == 1:
                self._add((op.result, after[0]), prod, [(op.input, n) for n in before])

    def joined(self, op: ConcatOp) -> None:
        """What stands behind one another is a sum."""
        dim = op.dim.data
        self._add((op.result, dim), sum, [(value, dim) for value in op.operands])

    def _add(self, node: Node, combine: Callable[..., Coefficient], parts: list[Node]) -> None:
        if is_plain(*node):
            self._recipes.setdefault(node, []).append((combine, parts))

    def _compute(self, node: Node, recipes: dict[Node, list[_Recipe]]) -> Coefficient:
        """The lanes of a dimension, by those of what it is made of; of one that is made of itself as it stands."""
        for combine, parts in recipes.pop(node, ()):
            total = combine(self._compute(self.top(part), recipes) for part in parts)
            if not isinstance(total, int):
                self._found[node] = total
                break
        value, dim = node
        return self._found.get(node, self._lanes_of(tile_type(value).dims.data[dim]))


def open_analysis(
    top: Operation, open_tags: Collection[str] = (), names: Callable[[SSAValue, str], Hashable] = own_name
) -> IndexAnalysis:
    """Index expressions inside of an operation, while the sizes of some tags and what is made of them are left open."""
    analysis = IndexAnalysis(open_tags=open_tags, names=names)
    analysis.merged = MergedDims(top, open_tags, analysis.lanes_of).lanes
    return analysis


def _merges(top: Operation, open_tags: frozenset[str]) -> bool:
    """Whether an op makes a plain dimension of an open block's: most kernels have none."""
    for op in walk(top, ReshapeOp, ConcatOp):
        kept = {*tile_type(op.result).tags}
        before = {tag for value in op.operands if isinstance(value.type, TileType) for tag in value.type.tags}
        if not open_tags.isdisjoint(before ^ kept):
            return True
    return False


def _groups(op: ReshapeOp) -> Iterator[tuple[list[int], list[int]]]:
    """The shortest runs of dimensions, before and after, that have equally many lanes."""
    before, after = wide_dims(op.input.type), wide_dims(op.result.type)
    old, new = op.input_type.shape, op.result_type.shape
    left, right, todo = [], [], list(after)
    for n in before:
        left.append(n)
        while todo and prod(new[m] for m in right) < prod(old[m] for m in left):
            right.append(todo.pop(0))
        if right and prod(new[m] for m in right) == prod(old[m] for m in left):
            yield left, right
            left, right = [], []
