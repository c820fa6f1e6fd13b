"""The pass ``eliminate-output-only``: a launch is not given what it only writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.access_summary import access
from kopt.analysis.aliases import root
from kopt.analysis.coverage import unspecified
from kopt.diagnostics import location_of, remark
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.formats.integers import ints_of
from kopt.dialects.host import LaunchOp
from kopt.passes.launches import erase_unused, new_array
from kopt.walk import walk

Mode = Literal["return", "swap", "donate", "off"]

_DECIDED = {
    "return": "is returned by the launch; not an input",
    "swap": "is returned by the launch; not an input",
    "donate": "is donated in HBM; nothing is read from it",
    "off": "is only written; kept as input, since the mode is off",
}


@dataclass(frozen=True)
class EliminateOutputOnlyPass(ModulePass):
    """Removes output-only operands: nobody sees what such an operand held before the launch.

    Such an operand is written whole, or its other elements are unspecified: it is an allocation without a fill, or a
    view of one. Every read in the launch follows a store of the same cell to the same places.

    | mode | such an operand |
    |---|---|
    | ``return`` | is no operand: the launch yields a new array. What only made it (allocations, fills, copies) goes |
    | ``swap`` | the same; the caller's tensor takes over the new array when the kernel is run |
    | ``donate`` | stays an operand for its memory alone: passed in HBM, aliased, never copied from |
    | ``off`` | stays an operand like any other: passed and copied block by block |

        %out = host.alloc fill 0.0 : memref<1000xf32>
        %new = host.launch @f (%a = %x, %b = %out) writes [1] : … { … tile.store %v, %b[%i] … }
    becomes
        %new = host.launch @f (%a = %x) writes [] yields (%b : memref<1000xf32>) : … { … tile.store %v, %b[%i] … }

    It never refuses; each written operand is a remark, with the reason where it is kept. Targets of atomic updates are
    kept without a remark: the pass runs again once their accumulators say whether the first value counts.

        remark: 'out' is read at line 12 through 'v'; kept as input
        remark: 'out' is returned by the launch; not an input
    """

    name = "eliminate-output-only"

    mode: Mode = "return"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            unread = [number for number in ints_of(launch.writes) if _decide(launch, number, self.mode)]
            if unread and self.mode == "donate":
                _donate(launch, unread)
            elif unread and self.mode != "off":
                _yield(launch, unread)


def _decide(launch: LaunchOp, number: int, mode: Mode) -> bool:
    """Whether a written operand is only written; says so, or why not."""
    given, argument = launch.inputs[number], launch.body.block.args[number]
    found = access(argument, launch)
    name = _name(given, argument)
    if isinstance(found.early, RmwOp | CasOp):
        return False
    if found.early is not None:
        remark(launch, f"{name} is read{_line(found.early)}{_through(given, argument)}; kept as input")
        return False
    if found.covered:
        remark(launch, f"{name} {_DECIDED[mode]}")
        return True
    if unspecified(root(given)):
        remark(launch, f"{name} {_DECIDED[mode]} (what it had was never set; {found.covered.reason})")
        return True
    remark(launch, f"{name} keeps elements from before the launch: {found.covered.reason}; kept as input")
    return False


def _name(given: SSAValue, argument: BlockArgument) -> str:
    name = root(given).name_hint or argument.name_hint
    return f"'{name}'" if name else f"operand {argument.index}"


def _line(op: Operation) -> str:
    location = location_of(op)
    return f" at line {location.line}" if location else ""


def _through(given: SSAValue, argument: BlockArgument) -> str:
    """The view that a launch reads an array through, where it has another name."""
    view = argument.name_hint
    return f" through '{view}'" if view and view != root(given).name_hint else ""


def _yield(launch: LaunchOp, unread: Sequence[int]) -> None:
    """Makes operands arrays that the launch yields, after its other results."""
    given = [number for number in range(len(launch.inputs)) if number not in unread]
    written, yielded = launch.written, range(len(launch.inputs), len(launch.body.block.args))
    order = [*given, *yielded, *unread]
    body = Rewriter.move_region_contents_to_new_regions(launch.body)
    for number in unread:
        _move_last(body.block.args[number])
    for number in reversed(unread):
        body.block.erase_arg(body.block.args[number])
    replacement = LaunchOp(
        launch.sym_name.data,
        [launch.inputs[number] for number in given],
        [given.index(number) for number in ints_of(launch.writes) if number in given],
        body,
        launch.attributes,
        donates=[given.index(number) for number in launch.donated if number in given],
    )
    replacement.location = launch.location
    Rewriter.insert_op(replacement, InsertPoint.before(launch))
    new = dict(zip((order[number] for number in replacement.written), replacement.outputs, strict=True))
    for number, result in zip(written, launch.outputs, strict=True):
        new[number].name_hint = result.name_hint
        result.replace_all_uses_with(new[number])
    sources = list(launch.inputs)
    Rewriter.erase_op(launch)
    erase_unused(sources)


def _move_last(argument: BlockArgument) -> None:
    """Lets a new last argument of the block take over an argument's name and uses."""
    last = argument.block.insert_arg(argument.type, len(argument.block.args))
    last.name_hint = argument.name_hint
    argument.replace_all_uses_with(last)


def _donate(launch: LaunchOp, unread: Sequence[int]) -> None:
    """Gives the launch operands for their memory alone: what the host made for it is made without its elements."""
    for number in unread:
        source = launch.inputs[number]
        if not isinstance(root(source), BlockArgument) and not unspecified(source):
            launch.operands[number] = new_array(launch, number)
            erase_unused([source])
    launch.donates = launch.writes.from_list(launch.writes.elt_type, sorted({*launch.donated, *unread}))
