"""The mark ``tile.open`` of a function: its blocks whose sizes are open, for ``choose-block-sizes`` to choose.

    func.func @f(…) attributes {tile.open = [#tile.open<b0>, #tile.open<b1, b3 : least 16 observed>]} { … }

Until then their ranges have provisional sizes, from which nothing in the IR may follow.

A loop that a pass has made may have the mark as well: that pass chooses its size once all others are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Data, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

_NAME = "tile.open"
_NUMBERS = ("least", "most", "wanted")
_FLAGS = ("observed", "sized", "pinned")


@dataclass(frozen=True)
class OpenBlock:
    """A block whose size is open; ``tags`` are those of the ranges that have it.

    ``least`` and ``most`` bound the size. ``observed``: results may depend on it, so nothing but what fits may change
    it. ``sized``: the kernel may count further elements with it, or merges the block's lanes with others. ``pinned``:
    the configuration gives it; it is only made legal. ``wanted`` is the size that was chosen where another import
    alone can have it: what Python computed from the present one is part of the IR.
    """

    tags: tuple[str, ...]
    least: int = 1
    most: int | None = None
    wanted: int | None = None
    observed: bool = False
    sized: bool = False
    pinned: bool = False

    def bounded(self, size: int) -> int:
        """The nearest size to one that the kernel allows."""
        return max(self.least, size if self.most is None else min(size, self.most))

    @property
    def powers_of_two(self) -> tuple[int, ...]:
        """Powers of two times the least size, up to the largest one."""
        most = self.least if self.most is None else self.most
        return tuple(self.least << n for n in range((most // self.least).bit_length()))


@irdl_attr_definition
class OpenAttr(Data[OpenBlock]):
    """A block size that is still open: the tags of the ranges that share it, its bounds, and what depends on it.

        #tile.open<b0>
        #tile.open<b1, b3 : least 16 most 4096 observed sized>

    | word | meaning |
    |---|---|
    | ``least n``, ``most n`` | the bounds of the size |
    | ``observed`` | the kernel's results may depend on the size |
    | ``sized`` | the kernel computes with the size, or merges the block's lanes with others |
    | ``pinned`` | the configuration gives the size: it is only made legal |
    | ``wanted n`` | the chosen size, where only another import can have it |
    """

    name = "tile.open"

    def verify(self) -> None:
        block = self.data
        if block.most is not None and block.most < block.least:
            raise VerifyException(f"a block of at least {block.least} lanes cannot have at most {block.most}")
        if not block.tags or block.least < 1 or block.wanted == 0:
            raise VerifyException("an open block has a tag, and at least one lane")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> OpenBlock:
        with parser.in_angle_brackets():
            tags = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_identifier)
            words = dict(_words(parser)) if parser.parse_optional_punctuation(":") else {}
        return OpenBlock(tuple(tags), **words)  # pyright: ignore[reportArgumentType]

    def print_parameter(self, printer: Printer) -> None:
        block, default = self.data, OpenBlock(())
        words = [
            f"{name} {getattr(block, name)}" for name in _NUMBERS if getattr(block, name) != getattr(default, name)
        ]
        words += [name for name in _FLAGS if getattr(block, name)]
        with printer.in_angle_brackets():
            printer.print_string(", ".join(block.tags) + (f" : {' '.join(words)}" if words else ""))


def _words(parser: AttrParser) -> Iterator[tuple[str, int | bool]]:
    """The words behind the tags, each with its number or with True."""
    while word := parser.parse_optional_identifier():
        if word not in _NUMBERS + _FLAGS:
            parser.raise_error(f"'{word}' is no word of an open block: {', '.join(_NUMBERS + _FLAGS)}")
        yield word, parser.parse_integer(allow_boolean=False, allow_negative=False) if word in _NUMBERS else True


def mark_open(func: Operation, blocks: Sequence[OpenBlock]) -> None:
    """Marks a function; without blocks it has no mark."""
    func.attributes.pop(_NAME, None)
    if blocks:
        func.attributes[_NAME] = ArrayAttr(map(OpenAttr, blocks))


def open_blocks(func: Operation) -> list[OpenBlock]:
    """The open blocks of a function, in order; none where it has no mark."""
    mark = func.attributes.get(_NAME)
    blocks = mark.data if isinstance(mark, ArrayAttr) else ()
    return [block.data for block in blocks if isinstance(block, OpenAttr)]
