"""Calls of torch operators on the host, which allocate their results or write arrays that are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    NoneType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.definition.effects import effects
from kopt.dialects.host.operators import KEYWORDS as KNOWN_KEYWORDS
from kopt.dialects.host.operators import draws_numbers, problem
from kopt.dialects.host.out_forms import OUT_FORMS
from kopt.dialects.tile.traits import Canonicalized

KEYWORDS = "keywords"
_LITERALS = (UnitAttr, NoneAttr, NoneType, StringAttr, IntegerAttr, FloatAttr)


def keywords_of(op: Operation) -> tuple[str, ...]:
    """The names of a call's last arguments that are given by name."""
    names = op.attributes.get(KEYWORDS)
    found = names.data if isinstance(names, ArrayAttr) else ()
    return tuple(name.data for name in found if isinstance(name, StringAttr))


class _ReadsOrDraws(MemoryEffect):
    """Arrays are read, which others write in place; random numbers change the state of their generator."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        assert isinstance(op, CallOp)
        drawn = {EffectInstance(MemoryEffectKind.WRITE)} if draws_numbers(op.callee.data) else set[EffectInstance]()
        return drawn | {EffectInstance(MemoryEffectKind.READ, value) for value in op.inputs}


@irdl_op_definition
class CallOp(Op):
    """A call of a torch operator on the host, by its ATen name, that gives new arrays.

    `kopt.dialects.host.operators` lists them: functional operators only, the same on every target. ``arguments`` lists
    the arguments in the order of the operator's schema: ``unit`` stands for the next operand, anything else is a
    literal (numbers, booleans, strings, ``none``) or a list. The attribute ``keywords`` names those at the end that
    torch takes by name only.

        %s = host.call "aten.sum.dim_IntList"(%x) args [unit, [1], false] : (memref<10x100xf32>) -> (memref<10xf32>)
        %t = host.call "aten.add.Tensor"(%x, %x) args [unit, unit, 2] {keywords = ["alpha"]} : …
    """

    name = "host.call"

    inputs = var_operand_def(MemRefType)
    callee = prop_def(StringAttr)
    arguments = prop_def(ArrayAttr)
    outputs = var_result_def(MemRefType)

    traits = traits_def(_ReadsOrDraws(), Canonicalized())

    assembly_format = (
        "$callee `(` $inputs `)` `args` $arguments attr-dict `:` `(` type($inputs) `)` `->` `(` type($outputs) `)`"
    )

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        arguments: Sequence[Attribute],
        result_types: Sequence[Attribute],
        keywords: Sequence[str] = (),
    ):
        super().__init__(
            operands=[inputs],
            properties={"callee": StringAttr(callee), "arguments": _readable(arguments)},
            attributes={KEYWORDS: ArrayAttr([StringAttr(name) for name in keywords])} if keywords else {},
            result_types=[result_types],
        )

    def verify_(self) -> None:
        if (message := problem(self.callee.data)) is not None:
            raise VerifyException(message)
        _check_arguments(self)
        _check_keywords(self)


@irdl_op_definition
class CallOutOp(Op):
    """`host.call` in destination-passing form: the result's elements are written into an array that is given.

    ``callee`` is the operator's functional name; the ones that torch has an ``out=`` form of are those of
    `kopt.dialects.host.out_forms`. The result's shape and element type are the array's.

        host.call_out "aten.exp.default"(%x) args [unit] to %e : (memref<8x4xf32>) to memref<8x4xf32>
    """

    name = "host.call_out"

    inputs = var_operand_def(MemRefType)
    out = operand_def(MemRefType)
    callee = prop_def(StringAttr)
    arguments = prop_def(ArrayAttr)

    traits = traits_def(effects(read="inputs", write="out"))

    assembly_format = (
        "$callee `(` $inputs `)` `args` $arguments `to` $out attr-dict `:` `(` type($inputs) `)` `to` type($out)"
    )

    def __init__(self, callee: str, inputs: Sequence[SSAValue], arguments: Sequence[Attribute], out: SSAValue):
        super().__init__(
            operands=[inputs, out], properties={"callee": StringAttr(callee), "arguments": _readable(arguments)}
        )

    def verify_(self) -> None:
        _check_arguments(self)
        _check_keywords(self)
        if self.callee.data not in OUT_FORMS:
            raise VerifyException(f"host.call_out knows no form of '{self.callee.data}' that writes a given array")


def _check_arguments(op: CallOp | CallOutOp) -> None:
    for argument in _flat(op.arguments):
        if not isinstance(argument, _LITERALS):
            raise VerifyException(f"{op.name} takes operands (unit), numbers, strings and none, found {argument}")
    slots = _slots(op.arguments)
    if slots != len(op.inputs):
        raise VerifyException(f"{op.name} has {len(op.inputs)} operands for {slots} places in its arguments")


def _readable(arguments: Sequence[Attribute]) -> ArrayAttr[Attribute]:
    """Arguments as text reads back: ``none`` is the type of that name, whichever attribute was meant."""
    return ArrayAttr(
        [
            _readable(argument.data) if isinstance(argument, ArrayAttr) else argument
            for argument in (NoneType() if isinstance(argument, NoneAttr) else argument for argument in arguments)
        ]
    )


def _check_keywords(op: CallOp | CallOutOp) -> None:
    if KEYWORDS not in op.attributes:
        return
    names = keywords_of(op)
    given = op.attributes[KEYWORDS]
    if not isinstance(given, ArrayAttr) or len(given) != len(names) or not KNOWN_KEYWORDS.issuperset(names):
        raise VerifyException(f"{op.name} has keywords {given}, known are {', '.join(sorted(KNOWN_KEYWORDS))}")
    if len(set(names)) != len(names) or len(names) > len(op.arguments):
        raise VerifyException(f"{op.name} has keywords {given} for {len(op.arguments)} arguments")


def _flat(argument: Attribute) -> Iterator[Attribute]:
    """The arguments, and in place of lists what is in them."""
    if isinstance(argument, ArrayAttr):
        for item in argument.data:
            yield from _flat(item)
    else:
        yield argument


def _slots(argument: Attribute) -> int:
    """How many operands an argument of a call stands for: those of a list stand in it."""
    return sum(isinstance(item, UnitAttr) for item in _flat(argument))
