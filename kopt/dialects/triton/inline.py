"""Triton code of the kernel's author."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from keyword import iskeyword

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import prop_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.types import TileType


class _ActsWithoutResults(MemoryEffect):
    """Code that gives nothing is there for what it does."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return set() if op.results else {EffectInstance(MemoryEffectKind.WRITE)}


@irdl_op_definition
class InlineOp(Op):
    """A call of a ``@triton.jit`` function that the kernel's author wrote: ``%r = triton.inline "add"(%x, %y) …``.

    ``functions`` has its text and that of what it uses, by name, users last. For a function this is the text after
    ``def name``, for a constant the text after the name. Lanes of operands outside their ranges are 0. Only Triton
    runs it; other targets refuse it.

        %r = triton.inline "_inline"(%x) functions = {_inline = "(x):\\n    return x + 1"} : (A) -> A
    """

    name = "triton.inline"

    callee = prop_def(StringAttr)
    functions = prop_def(DictionaryAttr)
    args = var_operand_def(TileType)
    outs = var_result_def(TileType)

    traits = traits_def(_ActsWithoutResults())

    assembly_format = "$callee `(` $args `)` `functions` `=` $functions attr-dict `:` functional-type($args, $outs)"

    def __init__(self, callee: str, functions: Mapping[str, str], args: Sequence[SSAValue], types: Sequence[Attribute]):
        super().__init__(
            operands=[args],
            properties={
                "callee": StringAttr(callee),
                "functions": DictionaryAttr({name: StringAttr(text) for name, text in functions.items()}),
            },
            result_types=[types],
        )

    def verify_(self) -> None:
        if self.callee.data not in self.functions.data:
            raise VerifyException(f"triton.inline has no text of '{self.callee.data}'")
        for name, text in self.functions.data.items():
            if not name.isidentifier() or iskeyword(name) or not isinstance(text, StringAttr):
                raise VerifyException(f"triton.inline's functions are names in Python with their texts, found {name!r}")
            problem = _syntax_problem(text.data)
            if problem is not None:
                raise VerifyException(f"the text of '{name}' is no Python: {problem}")


def _syntax_problem(text: str) -> str | None:
    """What is wrong with what follows ``def name``, or the name of a constant."""
    keyword = "def " if text.lstrip().startswith("(") else ""
    try:
        ast.parse(f"{keyword}name{text}\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return getattr(error, "msg", None) or str(error) or type(error).__name__
    return None
