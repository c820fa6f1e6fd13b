"""One launch as several, each of which writes some of its outputs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.effects import is_trivially_dead
from kopt.analysis.windows import Accesses, Window
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from kopt.passes.cloning import clone_with_new_tags
from kopt.walk import walk


def nested_groups(windows: Sequence[Window]) -> list[list[Window]]:
    """Outputs that one order of the grid serves, together: of any two, one moves with all that the other moves with."""
    groups: list[list[Window]] = []
    for window in windows:
        for group in groups:
            if all(_nested(window, other) for other in group):
                group.append(window)
                break
        else:
            groups.append([window])
    return groups


def _nested(a: Window, b: Window) -> bool:
    return a.grid_dims <= b.grid_dims or b.grid_dims <= a.grid_dims


def can_split(launch: LaunchOp) -> bool:
    """Whether no output depends on what the launch has written to another: none is loaded or gives previous values."""
    args = launch.body.block.args
    written = {args[number] for number in launch.written}
    accesses = [op for op in walk(launch) if isinstance(op, Accesses) and op.memory in written]
    return not any(isinstance(op, LoadOp) or any(r.first_use is not None for r in op.results) for op in accesses)


def split(launch: LaunchOp, groups: Sequence[Sequence[SSAValue]]) -> list[LaunchOp]:
    """Puts one copy of a launch for each group of its written arguments in its place; a copy writes its group only."""
    args = launch.body.block.args
    parts = []
    for number, group in enumerate(groups):
        parts.append(_part(launch, f"{launch.sym_name.data}_{number}", [args.index(value) for value in group]))
    Rewriter.erase_op(launch)
    return parts


def _part(launch: LaunchOp, name: str, numbers: Sequence[int]) -> LaunchOp:
    """The launch that writes some of its body's arguments, by number."""
    copy = clone_with_new_tags(launch)
    body = copy.detach_region(0)
    copy.erase()  # values know their users: one without a body is none
    args, given = body.block.args, len(launch.inputs)
    others = [args[number] for number in launch.written if number not in numbers]
    for op in [op for op in walk(body) if isinstance(op, Accesses) and op.memory in others]:
        Rewriter.erase_op(op)
    _drop_unused(body)
    for arg in [arg for arg in others if arg.index >= given]:
        body.block.erase_arg(arg)
    writes = [number for number in sorted(numbers) if number < given]
    donates = [number for number in launch.donated if number in writes]
    part = LaunchOp(name, launch.inputs, writes, body, launch.attributes, donates=donates)
    part.location = launch.location
    Rewriter.insert_op(part, InsertPoint.before(launch))
    for number, new in zip(sorted(numbers), part.outputs, strict=True):
        old = launch.version_of(number)
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    return part


def _drop_unused(body: Region) -> None:
    """Erases what nothing uses any more, loads too."""
    for op in reversed(walk(body)):
        if is_trivially_dead(op):
            Rewriter.erase_op(op)
