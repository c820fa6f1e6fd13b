"""The values of a text of IR, by the names that they have there."""

from __future__ import annotations

from xdsl.ir import SSAValue

import kopt


def named(text: str) -> dict[str, SSAValue]:
    """Results and arguments of blocks."""
    found: dict[str, SSAValue] = {}
    for op in kopt.parse(text).walk():
        values = (
            *op.results,
            *(argument for region in op.regions for block in region.blocks for argument in block.args),
        )
        found |= {value.name_hint: value for value in values if value.name_hint}
    return found
