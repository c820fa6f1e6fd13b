"""The arrays of a launch: what is read and written, and in which ways the host may hand them over."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import effects_on_memory, root
from kopt.analysis.launch_models.launch import Launch
from kopt.dialects.host import AllocOp, LaunchOp, ViewOp
from kopt.dialects.symm.space import group_of
from kopt.ir.launch_model import Operand

#: What the host may do to an array before and after a launch, by whether the launch writes it.
_VIEWS = {False: frozenset({"permute", "pad", "cast", "slice"}), True: frozenset({"permute", "pad", "cast"})}


def operands(launch: Launch) -> tuple[Operand, ...]:
    """The arrays that accesses address, in the order of the program."""
    effects = set(effects_on_memory(launch.grid))
    arrays = {value: name for value, name in launch.operands.items() if isinstance(value.type, MemRefType)}
    return tuple(_operand(value, name, effects) for value, name in arrays.items())


def _operand(value: SSAValue, name: str, effects: set[tuple[MemoryEffectKind, SSAValue]]) -> Operand:
    type = value.type
    assert isinstance(type, MemRefType)
    element = type.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 32
    read, written = ((kind, value) in effects for kind in (MemoryEffectKind.READ, MemoryEffectKind.WRITE))
    views = frozenset[str]() if group_of(type) else _VIEWS[written]
    return Operand(name, type.get_shape(), str(element), bits, read, written, _is_temporary(value), views)


def _is_temporary(value: SSAValue) -> bool:
    """Whether nothing but one launch uses an array, and its first elements have no meaning."""
    if isinstance(value, BlockArgument) and isinstance(launch := value.block.parent_op(), LaunchOp):
        return _is_own(launch, value.index)
    source = root(value)
    if not isinstance(source.owner, AllocOp) or source.owner.fill is not None:
        return False
    todo, users = [source], set()
    while todo:
        for use in todo.pop().uses:
            if isinstance(use.operation, ViewOp):
                todo += use.operation.results
            else:
                users.add(_at_top(use.operation))
    return len(users) == 1


def _is_own(launch: LaunchOp, number: int) -> bool:
    """Whether an argument of a launch is memory of its own, of which nobody takes the result."""
    if number not in launch.written or launch.version_of(number).first_use is not None:
        return False
    return number >= len(launch.inputs) or _is_temporary(launch.inputs[number])


def _at_top(op):
    """The operation of a function's body that holds another."""
    while (parent := op.parent_op()) is not None and parent.name not in ("func.func", "host.launch"):
        op = parent
    return op
