"""The pass ``choose-block-sizes``: sizes for the blocks that a kernel leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.block_sizes import choose_sizes, fullness, halved, legal_sizes, within_outer
from kopt.analysis.launch_models import open_models
from kopt.analysis.seen_blocks import seen_blocks
from kopt.analysis.values.update_cost import most_compared
from kopt.clone import cloned
from kopt.config import Config
from kopt.diagnostics import remark
from kopt.dialects.atomic import RmwOp
from kopt.dialects.tile import OpenBlock, mark_open, open_blocks
from kopt.errors import LoweringError
from kopt.passes.block_forms import BlockForms
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.retyping import tag_sizes
from kopt.passes.set_blocks import resize, substitute_sizes
from kopt.planning.block_sizes import evaluated, rooms
from kopt.targets.chips import CHIPS, Chip, TpuChip, chip_option
from kopt.walk import walk

#: How many times smaller a block becomes at once: what follows from its size is not known before it has it.
_STEP = 4
#: What candidates may take by their model of the room that the best has none in.
_SHARES = (0.9, 0.8, 0.65)
#: Whose block sizes an interpreter takes: few and large cells, which NumPy is fast at.
_LIKE = "tpu7x"


@dataclass(frozen=True)
class ChooseBlockSizesPass(ModulePass):
    """Chooses the sizes of a function's open blocks, and substitutes them in every type.

    ``tile.open`` of the function says which those are (`kopt.dialects.tile.open_blocks`). For each candidate the
    planner finds the cheapest plan of each launch; the candidate of least time wins (`kopt.planning.block_sizes`). On a
    TPU candidates are whole tiles of memory and divisors of the extent, as far as their blocks fit VMEM. On a GPU they
    are powers of two, as far as values fit registers and shared memory. A pinned size is rounded up to whole tiles of a
    TPU's memory, and stays as it is where results depend on it.

        func.func @exp(%x: memref<4096x2560xf32>, %out: memref<4096x2560xf32>)
            attributes {tile.open = [#tile.open<b0>, #tile.open<b1>]} {
          tile.grid (%i: b0=32, %j: b1=32) in (4096, 2560) { … } }
    becomes, for a v6e,
        func.func @exp(%x: memref<4096x2560xf32>, %out: memref<4096x2560xf32>) {
          tile.grid (%i: b0=4096, %j: b1=512) in (4096, 2560) { … } }

    Two needs are known only once blocks have sizes: the memory of rows at computed numbers, and values that the
    kernel's Python computes from a size. Where the memory does not suffice, smaller candidates follow until one fits.
    Sizes are chosen once more by what takes the place of computed rows on a TPU, and of whole dimensions that a GPU's
    cells walk: products, DMAs and loops. The first few are looked at in forms of their own, for sizes decide what that
    is.
    ``start="given"`` begins with the sizes that blocks have, as those of an import that was made for them.

    Without a chip sizes suit an interpreter: few and large cells, and pinned ones stay.

    Nothing before this pass may use a block size. A size cannot be substituted where the kernel's Python computed with
    another one (``tile.read_sizes``), nor where ``set-blocks`` refuses. All blocks then keep their sizes. The mark and
    a remark say which sizes are ``wanted``, and the importer imports the kernel again with those. ``loop-type``,
    ``split-k`` and ``deterministic`` are those of the configuration: what loops walk may have to be resident.

    It never refuses.
    """

    name = "choose-block-sizes"
    meaning = REASSOCIATES

    chip: str | None = chip_option(CHIPS, None)
    loop_type: Literal["auto", "resident", "grid", "fori", "pipeline"] = "auto"
    split_k: int | None = None
    deterministic: bool = False
    start: Literal["open", "given"] = "open"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [inner for inner in walk(op, FuncOp) if open_blocks(inner)]:
            if func.parent_op() is op and len(op.ops) == 1:
                self._choose(op, func)
                continue
            alone = ModuleOp([copy := func.clone()])  # tags are names of one function only
            self._choose(alone, copy)
            copy.detach()
            Rewriter.replace_op(func, copy, [])

    def _choose(self, module: ModuleOp, func: FuncOp) -> None:
        config = Config(loop_type=self.loop_type, split_k=self.split_k, deterministic=self.deterministic)
        choice = _Choice(module, func, CHIPS[self.chip or _LIKE], config, self.chip is not None)
        choice.run(self.start == "given")


class _Choice:
    """The choice for the only function of a module. ``rounds``: whether pinned sizes are rounded up."""

    def __init__(self, module: ModuleOp, func: FuncOp, chip: Chip, config: Config, rounds: bool):
        self._module, self._func, self._chip, self._config = module, func, chip, config
        self._rounds = rounds and isinstance(chip, TpuChip)
        sizes = tag_sizes(module)
        self._blocks = list(_live(open_blocks(func), sizes))
        self._groups = [block.tags for block in self._blocks]
        #: The sizes that blocks have.
        self._sizes = [sizes[block.tags[0]] for block in self._blocks]
        self._forms = BlockForms(module, chip, config)
        #: Whether plans were looked at that have what gathers become with these sizes.
        self._told = False

    def run(self, given: bool) -> None:
        """Chooses, substitutes, and takes the mark off."""
        mark_open(self._func, ())
        if not self._blocks:
            return
        settled = given or self._set(self._chosen()) and self._set(self._chosen_again())
        if settled and self._is_seen_later and not all(block.pinned for block in self._blocks):
            self._fit()

    # Candidates.

    def _chosen(
        self,
        moved: ModuleOp | None = None,
        seconds: Callable[[Mapping[str, int]], float] | None = None,
        room: float = float("inf"),
    ) -> list[int]:
        """The best sizes, by what blocks are used for and what they take: in the form ``moved``, where it is given, or
        in ``seconds``; of ``room`` bytes at the most."""
        now = self._sizes
        sizes = self._rounded(now) if self._rounds and any(block.pinned for block in self._blocks) else now
        if not all(block.pinned for block in self._blocks):
            free = self._free(moved, seconds, room)
            pairs = zip(self._blocks, sizes, free, strict=True)
            sizes = [pinned if block.pinned else self._compared(block, size) for block, pinned, size in pairs]
        return [block.bounded(size) for block, size in zip(self._blocks, sizes, strict=True)]

    def _chosen_again(self) -> list[int]:
        """The best sizes by what cells do once computed rows are moved, or whole dimensions walked on a GPU."""
        if self._forms.moved is self._forms.scheduled:
            return self._sizes
        if isinstance(self._chip, TpuChip):
            self._told = not any(block.sized for block in self._blocks)
            return self._chosen(self._forms.moved, self._seconds if self._told else None)
        return self._chosen(seconds=self._seconds)

    def _seconds(self, sizes: Mapping[str, int]) -> float:
        """What the launches take with other sizes, in the form that these have; infinite where a TPU refuses it."""
        resized = cloned(self._module)
        resize(resized, sizes)
        forms = BlockForms(resized, self._chip, self._config)
        if isinstance(self._chip, TpuChip) and forms.moved is forms.scheduled:
            return inf
        models = open_models(forms.moved, (), self._chip)
        return float(evaluated(models, {}, self._chip, self._config.loop_type)[0].min())

    def _compared(self, block: OpenBlock, size: int) -> int:
        """No more lanes than comparisons update at once, on a TPU, where lanes are updated by number."""
        if not isinstance(self._chip, TpuChip):
            return size
        limits = map(most_compared, walk(self._func, RmwOp))
        return min([size, *(limit for tag, limit in filter(None, limits) if tag in block.tags)])

    def _free(
        self, moved: ModuleOp | None, seconds: Callable[[Mapping[str, int]], float] | None, room: float
    ) -> list[int]:
        sized = {tag for block in self._blocks if block.sized for tag in block.tags}
        module, kind = self._forms.scheduled, self._config.loop_type
        divides = not self._forms.gathers
        return choose_sizes(module, self._used, self._sizes, self._chip, kind, sized, moved, divides, seconds, room)

    @property
    def _used(self) -> list[tuple[str, ...]]:
        """The groups without blocks of loops that have no effect: these are gone where others are scheduled."""
        used = tag_sizes(self._forms.scheduled)
        return [tuple(tag for tag in group if tag in used) for group in self._groups]

    def _rounded(self, now: Sequence[int]) -> list[int]:
        """Pinned sizes in whole tiles of memory, where no result depends on them."""
        assert isinstance(self._chip, TpuChip)
        legal = legal_sizes(self._module, self._groups, now, self._chip)
        seen = seen_blocks(self._module) if legal != now else frozenset()
        pairs = zip(self._blocks, now, legal, strict=True)
        return [size if block.observed or not seen.isdisjoint(block.tags) else most for block, size, most in pairs]

    def _fit(self) -> None:
        """Smaller sizes, while cells take too much with those that blocks have: other candidates, then parts of these.

        What follows from a size, such as ``x.reshape(tile.block_size * heads, -1)`` and the rows that DMAs bring for
        ``x[starts[:, None] + tile.index]``, is seen only where blocks have it.
        """
        largest = self._sizes
        for room in rooms(self._chip)[0 if self._forms.gathers else -1 :]:  # plans tell all but what gathers take
            if self._fits_less(room):
                break
            self._set(largest)
            if self._shrink(room) <= 1:
                break

    def _fits_less(self, room: int) -> bool:
        """Whether cells fit with these sizes, or with the best of those that take less by their model, which are set.

        Or marked as wanted: what these take is known when the kernel is imported with them.
        """
        if self._fullness(room) <= 1:
            return True
        if self._forms.gathers or not isinstance(self._chip, TpuChip):
            return False
        for share in _SHARES:
            sizes = self._chosen(room=share * room)
            if prod(sizes) < prod(self._sizes) and (not self._set(sizes) or self._fullness(room) <= 1):
                return True
        return False

    def _shrink(self, room: int) -> float:
        """Takes smaller sizes while cells take more than their room and less than before; how full they are then."""
        now = self._fullness(room)
        while now > 1:
            sizes = self._sizes
            smaller = self._smaller(sizes)
            if smaller == sizes or not self._set(smaller):
                break
            if (after := self._fullness(room)) >= now:
                self._set(sizes)
                break
            now = after
        return now

    def _smaller(self, sizes: Sequence[int]) -> list[int]:
        """The next candidate: what is chosen now that blocks have these sizes, or half of what Python computes with."""
        wanted = self._chosen(self._forms.moved if self._forms.gathers else None)
        chosen = [min(size, max(own, size // _STEP)) for size, own in zip(sizes, wanted, strict=True)]
        if chosen != sizes:
            return chosen
        halves = halved(self._forms.scheduled, self._used, sizes, self._chip)
        pairs = zip(self._blocks, sizes, halves, strict=True)
        less = [block.bounded(half) if block.sized and not block.pinned else size for block, size, half in pairs]
        inner = within_outer(self._forms.scheduled, self._used, less)
        return [size if block.pinned else most for block, size, most in zip(self._blocks, less, inner, strict=True)]

    def _fullness(self, room: int) -> float:
        """How much a cell takes of its room."""
        kind, gathers = self._config.loop_type, self._forms.gathers
        return fullness(self._forms.moved, self._chip, room, kind, gathers, self._told)

    @property
    def _is_seen_later(self) -> bool:
        """Whether cells may take more once blocks have their sizes: of rows that are computed, and what follows."""
        return self._forms.gathers or any(block.sized for block in self._blocks)

    def _set(self, sizes: Sequence[int]) -> bool:
        """Substitutes sizes. Where they cannot be, they are marked as wanted."""
        pairs = [pair for pair in zip(self._blocks, self._sizes, sizes, strict=True) if pair[1] != pair[2]]
        if not pairs:
            return True
        try:
            # Blocks of one element are recorded as such: their dimensions go together with any.
            if any(now == 1 for _, now, size in pairs):
                raise LoweringError("a block of one element is an axis of no size", id="gpu-block")
            substitute_sizes(self._module, {tag: size for block, _, size in pairs for tag in block.tags})
        except LoweringError:
            mark_open(self._func, [replace(block, wanted=size) for block, _, size in pairs])
            text = " ".join(f"{'='.join(block.tags)}={size}" for block, _, size in pairs)
            remark(self._func, f"the block sizes {text} would be chosen: import the kernel again with them")
            return False
        self._sizes = [*sizes]
        self._forms = BlockForms(self._module, self._chip, self._config)
        return True


def _live(blocks: Iterable[OpenBlock], sizes: Mapping[str, int]) -> Iterator[OpenBlock]:
    """The blocks that the function still has, by the tags that it has."""
    for block in blocks:
        if tags := tuple(tag for tag in block.tags if tag in sizes):
            yield replace(block, tags=tags)
