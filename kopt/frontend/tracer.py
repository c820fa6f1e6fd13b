"""Where an import writes: the function being built, the block being filled, the loops that are open."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from kopt.building.builder import OpBuilder
from kopt.config import unknown_key
from kopt.dialects.tile import OpenBlock, TileType
from kopt.errors import ConfigError, Location
from kopt.frontend import source
from kopt.frontend.state import unsupported
from kopt.open_extents import OpenExtent


@dataclass
class BlockInfo:
    """One block size that the kernel leaves open, in order of appearance.

    ``extent`` is the largest extent walked with it (None when it depends on data); ``low`` and ``high`` bound the
    size; ``tags`` are the loop bindings that use it; ``axis`` is its position in its loop and ``rank`` that loop's
    number of dimensions; ``on_grid`` tells a launch's grid from a loop inside; ``last`` and ``second_last`` say that
    it indexes the last or the last but one dimension of some array; ``observed`` that the kernel asks for the size,
    or for a block's number, so that its results may depend on it; ``sized`` that it may compute with the size itself,
    or merges the block's lanes with others; ``read`` that Python read the number, so that what was imported holds for
    this size alone; ``pinned`` that a configuration gives it, the kernel's or that of a kernel called in this one.
    """

    number: int
    size: int
    extent: int | None = None
    low: int = 1
    high: int | None = None
    tags: list[str] = field(default_factory=list)
    axis: int = 0
    rank: int = 1
    on_grid: bool = True
    last: bool = False
    second_last: bool = False
    observed: bool = False
    sized: bool = False
    read: bool = False
    pinned: bool = False

    @property
    def open(self) -> OpenBlock:
        """What the choice of its size goes by."""
        most = None if self.high is None else max(self.low, self.high)
        flags = {"observed": self.observed, "sized": self.sized, "pinned": self.pinned}
        return OpenBlock(tuple(self.tags), self.low, most, **flags)


@dataclass
class Scope:
    """What is open at a point: how many blocks, tags and printed lines there are, to go back to."""

    blocks: int
    tags: int
    printed: int


class _KernelBuilder(OpBuilder):
    """Inserts what a kernel does, with the place of its source that runs."""

    def __init__(self, tracer: Tracer, body: Block):
        super().__init__()
        self.at = InsertPoint.at_end(body)
        self._tracer = tracer

    @property
    def location(self) -> Any:
        return self._tracer.location()

    def insert(self, op: Any, at: InsertPoint | None = None) -> Any:
        if not self._tracer.on_device and op.results and isinstance(op.results[0].type, TileType):
            unsupported(
                "device values are made inside device loops",
                "use torch's functions before them",
                id="outside-device-loop",
            )
        op.location = self._tracer.location()
        (at or self.at).block.add_op(op)  # an import writes at the ends of blocks
        return op


class Tracer:
    """The state of one import."""

    def __init__(
        self,
        body: Block,
        sizes: Sequence[int] | None,
        tunables: Mapping[str, Any],
        dot_precision: str | None,
        pinned: bool = True,
    ):
        self.body = body
        self.builder = _KernelBuilder(self, body)
        self.sizes = list(sizes) if sizes is not None else None
        self.pinned = pinned and sizes is not None
        self.given_tunables = dict(tunables)
        self.tunables: dict[str, Any] = {}
        #: What tunables may be, as far as their fragments say.
        self.choices: dict[str, list[Any]] = {}
        #: The sizes that the configuration of a called kernel has, and the number of its first open tile.
        self.callee: tuple[list[int], int] | None = None
        self.dot_precision = dot_precision
        self.blocks: list[BlockInfo] = []
        #: The range of each tag in scope, as its loop binds it.
        self.ranges: dict[str, SSAValue] = {}
        self.range_blocks: dict[str, BlockInfo | None] = {}
        #: The host tensors, and index lists, that blocks of 64-bit integers were loaded from.
        self.loaded: dict[SSAValue, tuple[Any, list[Any]]] = {}
        #: Sizes of which the kernel asked for the next power of two, with it.
        self.powers_of_two: set[tuple[int, int]] = set()
        #: The extent of a tag's range, where it is a number.
        self.extents: dict[str, int | None] = {}
        #: What the dimensions of values are made of, as far as it was asked for: see `kopt.frontend.ragged`.
        self.forms: dict[SSAValue, Any] = {}
        #: The tags of jagged loops.
        self.jagged: set[str] = set()
        #: One past the last element that it walks, where that is a number.
        self.ends: dict[str, int | None] = {}
        #: Where a function of the kernel returned last: in the end, the kernel itself.
        self.returned: Location | None = None
        #: Open extents by the numbers that stand for them, with their values; and those that limit ranges.
        self.open_extents: dict[int, tuple[OpenExtent, SSAValue]] = {}
        self.open_limits: dict[SSAValue, OpenExtent] = {}
        self.tag_count = 0
        #: What the kernel printed, until it is known that its body is not recorded once more.
        self.printed: list[str] = []
        self.depth = 0
        #: What Python's objects held before each body that is being recorded.
        self.host_states: list[Any] = []
        #: The same before each launch.
        self.launch_states: list[Any] = []
        self.host: Any = None
        #: The namespace of what rewritten functions call.
        self.hooks: Any = None
        #: Functions of the user that were run, for guards on the names they use.
        self.functions: list[Any] = []
        self._locations: dict[tuple[Any, int], FileLineColLoc] = {}
        self._place: FileLineColLoc | None = None

    @property
    def on_device(self) -> bool:
        """Whether a device loop is open."""
        return self.depth > 0

    @property
    def block(self) -> Block:
        """The block that is being filled."""
        return self.builder.at.block

    @block.setter
    def block(self, block: Block) -> None:
        self.builder.at = InsertPoint.at_end(block)

    def emit(self, op: Operation) -> SSAValue:
        """Appends an op at the current place of the kernel; its first result."""
        return self.builder.insert(op).results[0]

    def append(self, op: Operation, location: FileLineColLoc | None = None) -> Operation:
        """Appends an op that need not have a result."""
        self.builder.insert(op)
        if location is not None:
            op.location = location
        return op

    def location(self) -> Any:
        """The current line and column of the kernel's source, as an attribute."""
        frame: Any = sys._getframe(2)
        known = source._positions
        while frame is not None and frame.f_code not in known:
            frame = frame.f_back
        if frame is None:
            return self._place or FileLineColLoc(StringAttr("-"), IntAttr(0), IntAttr(0))
        key = (frame.f_code, frame.f_lasti)
        location = self._locations.get(key)
        if location is None:
            location = self._locations[key] = self._locate(frame)
        self._place = location
        return location

    def _locate(self, frame: Any) -> FileLineColLoc:
        place = source.place_of(frame) or Location("-", 1)
        return FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.col))

    def new_tag(self) -> str:
        """A tag for one more loop binding."""
        self.tag_count += 1
        return f"b{self.tag_count - 1}"

    def bind(
        self,
        tag: str,
        range: SSAValue,
        block: BlockInfo | None,
        extent: int | None,
        end: int | None,
        jagged: bool = False,
    ) -> None:
        """Opens the scope of a tag."""
        if jagged:
            self.jagged.add(tag)
        self.ranges[tag] = range
        self.range_blocks[tag] = block
        self.extents[tag] = extent
        self.ends[tag] = end

    def unbind(self, tag: str) -> None:
        """Closes it."""
        self.jagged.discard(tag)
        del self.ranges[tag]

    def new_block(self, default: Callable[[], int], **facts: Any) -> BlockInfo:
        """One more open block size: the caller's, else ``default``. Raises `ConfigError` where none was given."""
        number = len(self.blocks)
        if self.sizes is not None and number >= len(self.sizes):
            raise ConfigError(
                f"block_sizes has {len(self.sizes)} entries, but the kernel has more open tiles", id="block-sizes"
            )
        callees = self._callees_size(number)
        size = self.sizes[number] if self.sizes is not None else callees or default()
        if not isinstance(size, int) or size < 1:
            raise ConfigError(f"block_sizes[{number}] must be a positive integer, found {size!r}", id="block-sizes")
        info = BlockInfo(number, size, pinned=self.pinned or callees is not None, **facts)
        self.blocks.append(info)
        return info

    @contextmanager
    def configured(self, sizes: Sequence[int] | None, tunables: Mapping[str, Any]) -> Iterator[None]:
        """Inside, a kernel is called that has a configuration of its own."""
        outer, first = (self.callee, self.given_tunables, self.tunables, self.choices), len(self.blocks)
        self.callee = (list(sizes), first) if sizes is not None else None
        self.given_tunables, self.tunables, self.choices = dict(tunables), {}, {}
        try:
            yield
            if unknown := sorted(set(self.given_tunables) - set(self.tunables)):
                raise unknown_key(unknown[0], self.tunables, "the kernel that is called here")
        finally:
            self.callee, self.given_tunables, self.tunables, self.choices = outer
        if self.callee is not None:  # the caller's own tiles go on where they were
            self.callee = (self.callee[0], self.callee[1] + len(self.blocks) - first)

    def _callees_size(self, number: int) -> int | None:
        """What the configuration of the called kernel says of an open tile."""
        if self.callee is None:
            return None
        sizes, first = self.callee
        if number - first >= len(sizes):
            raise ConfigError(
                f"block_sizes has {len(sizes)} entries, but the kernel called here has more open tiles",
                id="block-sizes",
            )
        return sizes[number - first]

    def mark(self) -> Scope:
        """A point to go back to when a body is recorded once more."""
        return Scope(len(self.blocks), self.tag_count, len(self.printed))

    def rewind(self, scope: Scope) -> None:
        """Forgets the blocks and tags made since."""
        del self.blocks[scope.blocks :], self.printed[scope.printed :]
        self.tag_count = scope.tags
