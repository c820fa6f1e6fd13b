"""The mark ``tile.read_sizes`` of a function: the tags of blocks whose size the kernel's Python read at import.

What Python computed from a size is part of the IR, so these sizes cannot be substituted.

    func.func @f(…) attributes {tile.read_sizes = ["b0"]} { … }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

_NAME = "tile.read_sizes"


def mark_read_sizes(func: Operation, tags: Sequence[str]) -> None:
    """Marks a function; without tags it has no mark."""
    func.attributes.pop(_NAME, None)
    if tags:
        func.attributes[_NAME] = ArrayAttr(map(StringAttr, tags))


def read_sizes(func: Operation) -> list[str]:
    """The tags of an operation's mark, none where it has no mark."""
    mark = func.attributes.get(_NAME)
    tags = mark.data if isinstance(mark, ArrayAttr) else ()
    return [tag.data for tag in tags if isinstance(tag, StringAttr)]
