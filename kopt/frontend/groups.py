"""The process groups of a program, and what its IR calls them."""

from __future__ import annotations

from typing import Any

import torch


class Groups:
    """The process groups that a program names: torch's names of them, by those in the IR.

    A group is called what the parameter is called that brings it, ``world`` for the default one, and else by torch's
    own name, where that can be the name of a parameter of the emitted program.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def bring(self, name: str, group: Any) -> None:
        """An argument of the program, which may be a process group or a one-dimensional mesh."""
        found = _group_name(group)
        if found is not None and found not in self.names.values():
            self.names[name] = found

    def __getitem__(self, group_name: str) -> str:
        """What the IR calls the group of torch's name."""
        known = {theirs: ours for ours, theirs in self.names.items()}
        if group_name not in known:
            name = "world" if group_name == _world() else group_name
            name = name if name.isidentifier() else f"group_{len(self.names)}"
            self.names[name] = group_name
            return name
        return known[group_name]


def _group_name(value: Any) -> str | None:
    """torch's name of a process group or a mesh of one dimension; None for other values."""
    kind = type(value).__name__
    if kind == "DeviceMesh" and value.ndim == 1:
        return value.get_group().group_name
    if "ProcessGroup" in kind or kind == "FakeProcessGroup":
        return value.group_name
    return None


def _world() -> str | None:
    """torch's name of the default group, if there is one."""
    distributed = torch.distributed
    default = distributed.group.WORLD if distributed.is_available() and distributed.is_initialized() else None
    return default.group_name if default is not None else None
