"""Mutants that are still IR: operations of a parsed module are changed, and numbers and types of a text everywhere.

Most get past the parser and the verifier, where tokens that are replaced one by one do not.
"""

from __future__ import annotations

import io
import math
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType, ModuleOp, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint, Rewriter

import kopt
from kopt.dialects.tile.elementwise import ELEMENTWISE

_NUMBERS = (0, 1, 2, 3, 5, 7, 8, 16, 17, 31, 32, 64, 100, 128, 129, 256, 1000, 1024, 4096, -1)
_TYPES = ("f32", "bf16", "f16", "i32", "i64", "i8", "ui8", "i1", "f64", "index", "f8E4M3FN")
_SIZE = re.compile(r"(?<![\w.%@])\d+(?=\s*x\s|x)|(?<==)\d+(?![\w.])|(?<=[(, ])\d+(?=[),\]])")


def rewritten_of(sources: Sequence[str], random: random.Random) -> str:
    """One of the texts with some sizes, types or operations changed."""
    text = random.choice(sources)
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        text = random.choice((_size, _type))(text, random)
    if random.random() < 0.3:
        return text
    try:
        module = kopt.parse(text)
    except kopt.KoptError:
        return text
    for _ in range(random.choice([1, 1, 2, 3])):
        random.choice(REWRITES)(module, random)
    return _printed(module)


def _printed(module: ModuleOp) -> str:
    """A module that may be broken, in the generic form where it is too broken for its own."""
    try:
        return str(module)
    except Exception:  # printers may rely on what verifiers hold
        stream = io.StringIO()
        Printer(stream, print_generic_format=True).print_op(module)
        return stream.getvalue()


def _size(text: str, random: random.Random) -> str:
    """Another number wherever one stands."""
    found = sorted(set(_SIZE.findall(text)))
    if not found:
        return text
    old, new = random.choice(found), str(random.choice(_NUMBERS))
    return re.sub(rf"(?<![\w.%@-]){old}(?![\w.])(?!\s*:)|(?<=x){old}(?=x)|(?<=<){old}(?=x)", new, text)


def _type(text: str, random: random.Random) -> str:
    """Another element type wherever one stands."""
    found = sorted(set(re.findall(r"\b(?:f32|bf16|f16|i32|i64|i8|i1)\b", text)))
    return re.sub(rf"\b{random.choice(found)}\b", random.choice(_TYPES), text) if found else text


def _ops(module: ModuleOp, keep: Callable[[Operation], bool] = lambda _: True) -> list[Operation]:
    inner = (op for function in module.ops for op in function.walk() if op is not function)
    return [op for op in inner if op.next_op is not None and keep(op)]


def _values(module: ModuleOp) -> list[SSAValue]:
    return [
        v for op in module.walk() for v in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args))
    ]


def _operand(module: ModuleOp, random: random.Random) -> None:
    """Another value of the same type, nearly always."""
    if ops := _ops(module, lambda op: bool(op.operands)):
        op = random.choice(ops)
        number = random.randrange(len(op.operands))
        same = random.random() < 0.9
        others = [v for v in _values(module) if not same or v.type == op.operands[number].type]
        if others:
            op.operands[number] = random.choice(others)


def _erase(module: ModuleOp, random: random.Random) -> None:
    """An operation whose results others of their types replace."""
    if ops := _ops(module):
        op = random.choice(ops)
        values = [v for v in _values(module) if not isinstance(v.owner, Block) and v.owner is not op]
        found = [[v for v in values if v.type == result.type] for result in op.results]
        if all(found):
            for result, others in zip(op.results, found, strict=True):
                result.replace_all_uses_with(random.choice(others))
            Rewriter.erase_op(op, safe_erase=False)


def _double(module: ModuleOp, random: random.Random) -> None:
    """An operation twice; the second's results in the place of the first's."""
    if ops := _ops(module):
        op = random.choice(ops)
        block, copy = op.parent, op.clone()
        if block is not None:
            Rewriter.insert_op(copy, InsertPoint.after(op))
            for old, new in zip(op.results, copy.results, strict=True):
                old.replace_uses_with_if(new, lambda use: use.operation is not copy and random.random() < 0.7)


def _move(module: ModuleOp, random: random.Random) -> None:
    """An operation elsewhere in its block, or in another block."""
    if ops := _ops(module):
        op, at = random.choice(ops), random.choice(ops)
        if op is not at and not any(parent is op for parent in _parents(at)):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(at))


def _parents(op: Operation) -> list[Operation]:
    found = []
    parent = op.parent_op()
    while parent is not None:
        found.append(parent)
        parent = parent.parent_op()
    return found


def _property(module: ModuleOp, random: random.Random) -> None:
    """Another value for a property: of another operation, or nearly the same."""
    if ops := _ops(module, lambda op: bool(op.properties)):
        op = random.choice(ops)
        key = random.choice(sorted(op.properties))
        others = [other.properties[key] for other in ops if key in other.properties]
        op.properties[key] = random.choice([*others, _near(op.properties[key], random)])


def _near(attribute: Attribute, random: random.Random) -> Attribute:
    if isinstance(attribute, IntegerAttr):
        low, high = (0, 2) if attribute.type == i1 else _range(attribute.type)
        return IntegerAttr(random.choice([n for n in (*_NUMBERS, 0, 1) if low <= n < high]), attribute.type)
    if isinstance(attribute, ArrayAttr) and attribute.data:
        data = list(attribute.data)
        change: Sequence[Any] = random.choice((data[1:], data[::-1], [*data, data[0]], data[:1]))
        return ArrayAttr(change)
    if isinstance(attribute, DenseArrayBase):
        values = list(attribute.get_values())
        if values:
            values[random.randrange(len(values))] = random.choice(_NUMBERS)
        return DenseArrayBase.from_list(attribute.elt_type, values)
    return attribute


def _range(type: Attribute) -> tuple[float, float]:
    """From which number to which other one a type has integers."""
    return type.value_range() if isinstance(type, IntegerType) else (-math.inf, math.inf)


def _drop_property(module: ModuleOp, random: random.Random) -> None:
    if ops := _ops(module, lambda op: bool(op.properties)):
        op = random.choice(ops)
        del op.properties[random.choice(sorted(op.properties))]


def _kind(module: ModuleOp, random: random.Random) -> None:
    """Another elementwise operation on the same operands."""
    if ops := _ops(module, lambda op: type(op) in _CLASSES):
        op = random.choice(ops)
        others = [kind for kind in _CLASSES if _CLASSES[kind] == _CLASSES[type(op)]]
        other = random.choice(others).create(operands=op.operands, result_types=[r.type for r in op.results])
        Rewriter.replace_op(op, [other])


#: Elementwise operations and how many operands they take.
_CLASSES: dict[type[Operation], int] = {kind: kind.ROW.arity for kind in ELEMENTWISE.values()}
REWRITES: list[Callable[[ModuleOp, random.Random], None]] = [
    _operand, _operand, _operand, _erase, _double, _move, _move, _property, _property, _drop_property, _kind,
]  # fmt: skip
