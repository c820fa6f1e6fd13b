"""``hl.inline_triton``, ``hl.triton_kernel`` and ``hl.inline_asm_elementwise``: code that only Triton runs."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from xdsl.ir import Attribute

from kopt import dtypes
from kopt.dialects.tile import TileType
from kopt.dialects.triton import InlineOp
from kopt.frontend.broadcasting import common_dims
from kopt.frontend.dtypes import element_type
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, describe, is_device, is_number

_NAME = "_inline"


def inline_triton(triton_source: Any, args: Any, output_like: Any) -> Any:
    """``hl.inline_triton``: the text becomes a function of its own, whose last line is what it gives."""
    if not isinstance(triton_source, str):
        unsupported(f"hl.inline_triton needs a text, found {describe(triton_source)}", id="operand")
    named = args if isinstance(args, Mapping) else dict(enumerate(args)) if isinstance(args, Sequence) else None
    if named is None:
        unsupported("the args of hl.inline_triton are a list, a tuple or a dict", "write args=(x, y)", id="operand")
    values = {_parameter(key): value for key, value in named.items() if not is_number(value)}
    spelt = {key: repr(value) if is_number(value) else _parameter(key) for key, value in named.items()}
    text = _formatted(textwrap.dedent(triton_source).strip(), spelt)
    lines = text.splitlines() if output_like is None else _returning(text)
    body = "\n".join(f"    {line}" for line in lines)
    return _emit(_NAME, {_NAME: f"({', '.join(values)}):\n{body}"}, list(values.values()), output_like)


def _parameter(key: Any) -> str:
    return str(key) if isinstance(key, str) and key.isidentifier() else f"arg{key}"


def _formatted(text: str, spelt: Mapping[Any, str]) -> str:
    """The text with its placeholders spelt out."""
    try:
        return text.format(*(spelt.get(n, "") for n in range(len(spelt))), **{str(k): v for k, v in spelt.items()})
    except (KeyError, IndexError, ValueError) as error:
        unsupported(
            f"hl.inline_triton's text and args do not match: {error}", "name each placeholder in args", id="operand"
        )


def _returning(text: str) -> list[str]:
    """The lines of a text whose last statement is an expression, which is returned."""
    try:
        last = ast.parse(text).body[-1]
    except (SyntaxError, IndexError) as error:
        unsupported(f"hl.inline_triton's text is no Python: {error}", id="operand")
    if not isinstance(last, ast.Expr):
        unsupported("hl.inline_triton's text must end in an expression", "or say output_like=None", id="operand")
    lines = text.splitlines()
    return [*lines[: last.lineno - 1], f"return {lines[last.lineno - 1]}", *lines[last.lineno :]]


def triton_kernel(triton_source_or_fn: Any, args: Any, output_like: Any) -> Any:
    """``hl.triton_kernel``: a ``@triton.jit`` function, itself or its name in the kernel's module."""
    function = triton_source_or_fn
    if isinstance(function, str):
        functions: Any = current().functions
        found = [f.__globals__[function] for f in reversed(functions) if function in f.__globals__]
        if not found:
            unsupported(f"there is no function '{function}' in the kernel's module", id="operand")
        function = found[0]
    if not _is_jit(function):
        unsupported("hl.triton_kernel needs a @triton.jit function or its name", id="operand")
    texts: dict[str, str] = {}
    _collect(function, texts)
    return _emit(function.fn.__name__, texts, list(args), output_like)


def _is_jit(value: Any) -> bool:
    return type(value).__module__.startswith("triton.") and inspect.isfunction(getattr(value, "fn", None))


def _collect(function: Any, texts: dict[str, str]) -> None:
    """The text of a function, behind those of the functions and constants that it uses."""
    name = function.fn.__name__
    if name in texts:
        return
    for used in function.fn.__code__.co_names:
        value = function.fn.__globals__.get(used)
        if _is_jit(value):
            _collect(value, texts)
        elif type(value).__name__ == "constexpr":
            texts[used] = f" = tl.constexpr({value.value!r})"
    source = textwrap.dedent(inspect.getsource(function.fn))
    texts[name] = source[source.index(f"def {name}") + len(f"def {name}") :].rstrip()


def inline_asm_elementwise(
    asm: str, constraints: str, args: Any, dtype: Any, is_pure: bool = True, pack: int = 1
) -> Any:
    """``hl.inline_asm_elementwise``: assembly in each lane."""
    kinds = [dtype] if isinstance(dtype, torch.dtype) else dtype
    if not isinstance(kinds, list | tuple) or not all(isinstance(kind, torch.dtype) for kind in kinds):
        unsupported(
            f"the dtype of hl.inline_asm_elementwise is one or several torch dtypes, found {dtype!r}", id="operand"
        )
    values = [as_tensor(value) for value in args]
    dims = common_dims(values) if values else ()
    types = [TileType(dims, element_type(kind)) for kind in kinds]
    names = [f"arg{number}" for number in range(len(values))]
    spelt = ", ".join(f"tl.{_triton_dtype(type.element_type)}" for type in types)
    given = f"({spelt},)" if isinstance(dtype, list | tuple) else spelt
    call = f"{asm!r}, {constraints!r}, [{', '.join(names)}], {given}, is_pure={bool(is_pure)}, pack={int(pack)}"
    text = f"({', '.join(names)}):\n    return tl.inline_asm_elementwise({call})"
    return _results(InlineOp(_NAME, {_NAME: text}, [value.ssa for value in values], types), isinstance(dtype, tuple))


def _triton_dtype(element: Attribute) -> str:
    found = dtypes.from_ir(element)
    assert found is not None
    return found.triton


def _emit(callee: str, texts: Mapping[str, str], args: Sequence[Any], output_like: Any) -> Any:
    for value in args:
        if isinstance(value, torch.Tensor) and value.ndim or not (is_device(value) or is_number(value)):
            unsupported(
                f"{describe(value)} cannot be given to Triton code", "load what it needs: x[tile]", id="operand"
            )
    several = isinstance(output_like, tuple | list)
    likes = list(output_like) if several else [] if output_like is None else [output_like]
    if not all(isinstance(like, DeviceTensor) for like in likes):
        unsupported("output_like is a device tensor, several, or None", id="operand")
    types = [like.tile_type for like in likes]
    return _results(InlineOp(callee, texts, [as_tensor(value).ssa for value in args], types), several)


def _results(op: InlineOp, several: bool) -> Any:
    current().append(op)
    values = tuple(DeviceTensor(result) for result in op.outs)
    return values if several else values[0] if values else None


FUNCTIONS = {
    "inline_triton": inline_triton,
    "triton_kernel": triton_kernel,
    "inline_asm_elementwise": inline_asm_elementwise,
}
