"""Carried values some of whose lanes may be invalid, though their types do not tell."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from kopt.dialects.tile import TileType
from kopt.frontend.ragged import Form, form, met
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor


class RaggedCarries:
    """The forms of a loop's carried values, by name and number: what they begin with, and what visits leave."""

    def __init__(self) -> None:
        self._forms: dict[tuple[str, int], Form] = {}

    def enter(self, name: str, number: int, leaf: Any, argument: SSAValue) -> None:
        """Says what a block argument is made of: as what comes in, and what an earlier run has left."""
        if not isinstance(argument.type, TileType):
            return
        found: list[Form] = [self._forms[name, number]] if (name, number) in self._forms else []
        if isinstance(leaf, DeviceTensor) and leaf.tile_type.shape == argument.type.shape:
            found.append(form(leaf.ssa))
        if found:
            current().forms[argument] = met(found)

    def leave(self, name: str, number: int, argument: SSAValue, value: SSAValue, own: set[str]) -> bool:
        """Whether a run that left ``value`` knew which of its lanes may be invalid.

        Refuses a full block that becomes a shorter one from visit to visit, where visits use what it was.
        """
        if not isinstance(argument.type, TileType):
            return True
        before, after = form(argument), form(value)
        outer = set(current().ranges) - own
        for old, new in zip(before, after, strict=True):
            tags = {tag for atom in new for tag in atom.tags} - {tag for atom in old for tag in atom.tags}
            if tags - outer and argument.uses.get_length():
                unsupported(
                    f"'{name}' has all its lanes before the loop, and those of a shorter last block after it",
                    "combine the block with it by +, *, torch.maximum or torch.minimum before its shape is changed",
                    "or choose a block size that divides the distance walked",
                    id="paths-differ",
                )
            if tags & outer:
                self._forms[name, number] = after
                return False
        return True
