"""Is a module well formed? Every operation's own invariants, and the scope of every value.

xDSL verifies the invariants but not the scopes: a use before its definition, or a use that escapes its region,
passes silently. Both are checked here, without recursion, and failures carry the operation's location.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, ErasedSSAValue, Operation, SSAValue
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from kopt.diagnostics import location_of
from kopt.errors import VerifyError


def verify(module: ModuleOp, source: str | None = None) -> None:
    """Raise ``kopt.VerifyError``, located at the operation, for the first invariant that does not hold.

    Args: ``source`` is the text that locations point into, where it is not a file on disk.
    """
    # Scopes first: they point at the use, where xDSL blames the enclosing isolated operation.
    _verify_scopes(module, source)
    for op in _post_order(module):
        _verify_op(op, source)


def _post_order(root: Operation) -> Iterator[Operation]:
    """Every operation inside ``root`` and ``root`` itself: children first, in the order of the text."""
    stack = [(root, not root.regions)]
    while stack:
        op, children_done = stack.pop()
        if children_done:
            yield op
            continue
        stack.append((op, True))
        children = [child for region in op.regions for block in region.blocks for child in block.ops]
        stack.extend((child, not child.regions) for child in reversed(children))


def _verify_op(op: Operation, source: str | None) -> None:
    """The invariants of one operation and of its blocks' ends."""
    try:
        op.verify(verify_nested_ops=False)
    except VerifyException as error:
        raise VerifyError(_message(op, error), location_of(op), source=source) from error
    except Exception as error:
        # xDSL prints the module into a verifier's exception; printing broken IR may fail and hide it.
        if isinstance(error.__context__, VerifyException):
            raise VerifyError(_message(op, error.__context__), location_of(op), source=source) from error
        raise
    if any(len(region.blocks) == 1 and not region.block.ops for region in op.regions) and not _needs_no_terminator(op):
        message = f"'{op.name}' has an empty block where a terminator is needed"
        raise VerifyError(message, location_of(op), source=source)


def _message(op: Operation, error: VerifyException) -> str:
    text = str(error).strip()
    return text if op.name in text else f"'{op.name}': {text}"


def _needs_no_terminator(op: Operation) -> bool:
    return op.has_trait(NoTerminator)


def _verify_scopes(module: ModuleOp, source: str | None) -> None:
    """Every operand is defined before its use, in a block that encloses the use."""
    order = {op: i for i, op in enumerate(module.walk())}
    for op in order:
        for index, operand in enumerate(op.operands):
            if (problem := _scope_problem(op, operand, order)) is not None:
                message = f"operand #{index} of '{op.name}'{_name(operand)} {problem}"
                raise VerifyError(message, location_of(op), source=source)


def _name(value: SSAValue) -> str:
    return f" (%{value.name_hint})" if value.name_hint else ""


def _scope_problem(op: Operation, operand: SSAValue, order: dict[Operation, int]) -> str | None:
    if isinstance(operand, ErasedSSAValue):
        return "was erased while still in use"
    owner = operand.owner
    home = owner if isinstance(owner, Block) else owner.parent
    if home is None or (isinstance(owner, Operation) and owner not in order):
        return "is defined by an operation that is not in the module"
    user = _ancestor_beside(op, home)
    if user is None:
        return "is used outside the region that defines it"
    if isinstance(owner, Block) or user.parent is not home:
        return None
    return None if order[owner] < order[user] else "is used before its definition"


def _ancestor_beside(op: Operation, home: Block) -> Operation | None:
    """``op`` or the enclosing operation that stands in the region of ``home``, or None where there is none.

    Blocks of one region are not ordered here: their order of execution is the control flow's business.
    """
    user: Operation | None = op
    while user is not None:
        if user.parent is home or user.parent_region() is home.parent:
            return user
        user = user.parent_op()
    return None
