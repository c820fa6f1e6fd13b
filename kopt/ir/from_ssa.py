"""Index expressions of SSA values: what ``index`` values, integers, integer tiles and their conditions are.

`IndexAnalysis` lives for one application of a pass: it remembers what it found, and the IR must not change meanwhile.
"""

from __future__ import annotations

from kopt.ir.forms import Forms
from kopt.ir.ssa_rules import RULES


class IndexAnalysis(Forms):
    """The forms of values, by the rules for all operations."""

    rules = RULES
