"""The index algebra: what indices, extents, limits and masks are, as expressions that can be compared and evaluated.

Pure: all but the last four rows are about numbers with names, and import nothing of xDSL.

| module | what |
|---|---|
| `value_range` | `ValueRange`: bounds, signs, divisors, widths |
| `polynomial` | coefficients that are made of block sizes and open extents |
| `atoms`, `index_expr` | `IndexExpr`: ``constant + Σ coefficient · atom`` |
| `division`, `choices` | ``//`` and ``%``; ``min``, ``max``, ``select``, ``wrap`` |
| `condition` | masks, limits, guards |
| `rewriting`, `evaluation` | substitution; NumPy's answer |
| `runs`, `nearness` | contiguous runs; lanes near one number |
| `index_runs` | `IndexList`: which indices of a list are runs of lanes, which are gathered |
| `access_relation` | `AccessRelation`: the elements of an access, its class |
| `widths` | in how many bits an expression is computed |
| `forms`, `ssa_rules`, `from_ssa` | from values to expressions |
| `index_lists`, `from_access` | from accesses to expressions |
| `sums` | integer tiles as sums of values that there are |
| `to_ssa`, `to_tiles` | and back: as ``index`` values, as tiles |
"""

from kopt.ir.access_relation import AccessRelation
from kopt.ir.index_expr import IndexExpr
from kopt.ir.value_range import ValueRange

__all__ = ["AccessRelation", "IndexExpr", "ValueRange"]
