"""The torch operators that can write their result into an array that is given, and which overload of theirs does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OutForm:
    """The overload with an ``out=`` argument; a ``pointwise`` one may write over an input of the result's shape."""

    overload: str
    pointwise: bool = False


def _pointwise(*callees: str) -> dict[str, OutForm]:
    return {callee: OutForm(f"{callee.rpartition('.')[0]}.out", pointwise=True) for callee in callees}


def _whole(*callees: str) -> dict[str, OutForm]:
    return {callee: OutForm(f"{callee.rpartition('.')[0]}.out") for callee in callees}


#: By the functional overload's name.
OUT_FORMS: dict[str, OutForm] = {
    **_whole("aten.mm.default", "aten.bmm.default", "aten.addmm.default", "aten.cat.default"),
    **_pointwise(*(f"aten.{name}.Tensor" for name in ("add", "sub", "mul", "div"))),
    **_pointwise(*(f"aten.{name}.default" for name in ("maximum", "minimum", "relu", "gelu", "silu", "sigmoid"))),
    **_pointwise(*(f"aten.{name}.default" for name in ("tanh", "exp", "log", "sqrt", "rsqrt", "neg", "abs"))),
}
