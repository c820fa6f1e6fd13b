"""Numbers that follow from how many lanes blocks have: what they are in every block, the last ones too."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

#: The most combinations of blocks that are looked through.
MOST = 1 << 14

#: How many lanes each block has, in one case.
Case = Mapping[Hashable, int]


@dataclass(frozen=True)
class Length:
    """A number by how many lanes blocks have: ``blocks`` are the numbers that each may have, ``of`` what it is then."""

    blocks: Mapping[Hashable, tuple[int, ...]]
    of: Callable[[Case], Any]


def length_of_block(block: Hashable, numbers: tuple[int, ...]) -> Length:
    """The number of a block's own lanes."""
    return Length({block: numbers}, lambda case: case[block])


def computed(compute: Callable[..., Any], *operands: Any) -> Length:
    """What a function makes of numbers and lengths."""
    blocks = {name: numbers for each in operands if isinstance(each, Length) for name, numbers in each.blocks.items()}
    return Length(blocks, lambda case: compute(*(_in(case, each) for each in operands)))


def outcomes(length: Length) -> list[Any] | None:
    """What a length is in each case; None where they are too many, or where one has no meaning."""
    if math.prod(map(len, length.blocks.values())) > MOST:
        return None
    cases = itertools.product(*length.blocks.values())
    try:
        return [length.of(dict(zip(length.blocks, numbers, strict=True))) for numbers in cases]
    except ArithmeticError:
        return None


def agreed(length: Length) -> list[Any]:
    """The one thing that a length is in all cases, or nothing."""
    found = outcomes(length)
    return found[:1] if found and all(type(each) is type(found[0]) and each == found[0] for each in found) else []


def always(compute: Callable[..., Any], *operands: Any) -> bool:
    """Whether a condition on numbers and lengths holds in every case."""
    return agreed(computed(compute, *operands)) == [True]


def _in(case: Case, value: Any) -> Any:
    return value.of(case) if isinstance(value, Length) else value
