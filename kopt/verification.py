"""Is a module well formed? Every operation's own invariants, and the scope of every value and tag.

xDSL verifies the invariants but not the scopes: a use before its definition, or a use that escapes its region,
passes silently. Both are checked here, and failures carry the operation's location.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS, CmpfOp, CmpiOp
from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from kopt.analysis.effects import is_terminator
from kopt.analysis.scope import check_scope
from kopt.diagnostics import location_of
from kopt.dialects.definition import Op
from kopt.errors import VerifyError

#: How many predicates the comparisons have, which xDSL prints by their numbers and does not check.
_PREDICATES = {CmpfOp: len(CMPF_COMPARISON_OPERATIONS), CmpiOp: len(CMPI_COMPARISON_OPERATIONS)}


def verify(module: ModuleOp, source: str | None = None) -> None:
    """Raise ``kopt.VerifyError``, located at the operation, for the first invariant that does not hold.

    Args: ``source`` is the text that locations point into, where it is not a file on disk.
    """
    # Scopes first: they point at the use, where xDSL blames the enclosing isolated operation.
    check_scope(module, source)
    for op in _post_order(module):
        _verify_op(op, source)


def verify_sizes(module: ModuleOp) -> None:
    """Raise ``kopt.VerifyError``, located at the operation, for the first one whose types do not fit each other.

    That is all that other block sizes in a module's types can break.
    """
    for op in _post_order(module):
        if isinstance(op, Op):
            try:
                op.verify_own()
            except VerifyException as error:
                raise VerifyError(_message(op, error), location_of(op)) from error


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
        # What xDSL asks of every op besides is how blocks end, and whether its operands are there: scopes tell that.
        if isinstance(op, Op) and not op.successors and (op.next_op is not None or is_terminator(type(op))):
            op.verify_()
        else:
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
    _verify_arrays(op, source)
    if isinstance(op, CmpfOp | CmpiOp) and not 0 <= (number := op.predicate.value.data) < _PREDICATES[type(op)]:
        raise VerifyError(f"'{op.name}' has no predicate {number}", location_of(op), source=source)
    if isinstance(op, FuncOp) and len(op.body.blocks) > 1:
        message = f"a function is one block, found {len(op.body.blocks)}: its control flow is that of scf and tile"
        raise VerifyError(message, location_of(op), source=source)


def _verify_arrays(op: Operation, source: str | None) -> None:
    """The arrays that an operation gives, or its blocks take, hold elements of a known width."""
    for value in (*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)):
        if isinstance(type := value.type, MemRefType) and not isinstance(type.element_type, FixedBitwidthType):
            message = f"'{op.name}': arrays hold integers or floats, found {type.element_type}"
            raise VerifyError(message, location_of(op), source=source)


def _message(op: Operation, error: VerifyException) -> str:
    text = str(error).strip()
    return text if op.name in text else f"'{op.name}': {text}"


def _needs_no_terminator(op: Operation) -> bool:
    return op.has_trait(NoTerminator)
