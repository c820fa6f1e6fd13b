"""Which chips a case is compiled for, where several chips' compilers would take each case of a family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import TypeVar

Case = TypeVar("Case")


def rotating(cases: Iterable[Case], main: str | Sequence[str], others: Sequence[str]) -> list[tuple[Case, str]]:
    """Each case with its chips: the main one, or several of them, and one of the others, which take turns.

    So each case meets two compilers, and each of the others a fair share of the cases. A case that is there because of
    one chip is paired with that chip by its test.
    """
    always = (main,) if isinstance(main, str) else tuple(main)
    return [(case, chip) for case, other in zip(cases, cycle(others)) for chip in (*always, other)]
