"""Functions that mean something of their own in a kernel, by object: Python's, the language's, Helion's.

`kopt.frontend.registration` fills the table, and `kopt.frontend.calls` looks here first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

Meaning = Callable[..., Any]

#: What is called in the place of a function.
MEANINGS: dict[Any, Meaning] = {}
#: Tables of functions of modules that need not be loaded, made when they are.
_later: dict[str, Callable[[], Mapping[Any, Meaning]]] = {}


def once_loaded(module: str, table: Callable[[], Mapping[Any, Meaning]]) -> None:
    """Adds a table as soon as a module is loaded."""
    _later[module] = table


def meaning(function: Any) -> Meaning | None:
    """What a function does in a kernel where that is not its own code, or None."""
    for module in [name for name in _later if name in sys.modules]:
        MEANINGS.update(_later.pop(module)())
    try:
        return MEANINGS.get(function)
    except TypeError:  # not hashable
        return None
