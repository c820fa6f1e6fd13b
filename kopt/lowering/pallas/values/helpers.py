"""The functions of the emitted module that stand in for what Mosaic lacks: asked for with those that they use."""

from __future__ import annotations

import re
from functools import cache

from kopt.lowering.emitted.pallas import functions
from kopt.lowering.pallas.printing import PallasPrinter

_HELPER = re.compile(r"(?<![\w.])_[a-z]\w*(?=\()")


@cache
def _closure(name: str) -> tuple[str, ...]:
    """A function and those that it uses, those first."""
    body = functions()[name]
    used = [other for other in dict.fromkeys(_HELPER.findall(body)) if other != name and other in functions()]
    order = [needed for other in used for needed in _closure(other)]
    return tuple(dict.fromkeys([*order, name]))


def with_helpers(expression: str, printing: PallasPrinter) -> str:
    """The expression as it is, after asking for the functions of `kopt.lowering.emitted.mosaic` that it calls."""
    for name in _HELPER.findall(expression):
        if name in functions():
            use_helper(name, printing)
    return expression


def use_helper(name: str, printing: PallasPrinter) -> str:
    """Asks for one function of `kopt.lowering.emitted.mosaic` and those that it uses; gives its name."""
    for needed in _closure(name):
        printing.helper(needed, functions()[needed])
    return name
