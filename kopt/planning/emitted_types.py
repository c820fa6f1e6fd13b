"""Launches as a chip's kernels are emitted: where a chip lacks float8_e4m3fn, bytes stand for it. Pure."""

from __future__ import annotations

from dataclasses import replace

from kopt.ir.launch_model import E4M3, Factor, LaunchModel, Work
from kopt.targets.chips import GpuChip

#: The type that numbers of float8_e4m3fn have in products of chips that lack it.
_WIDER = "f16"
#: Operations of integers, and one of floats, that make a number of a byte.
_CONVERTED = 8


def emitted_types(model: LaunchModel, chip: GpuChip) -> LaunchModel:
    """The model with products of f16 in place of those of float8_e4m3fn, whose operands are converted lane by lane."""
    converted = [work for work in model.work if work.unit == "product" and work.dtype == E4M3]
    if chip.e4m3 or not converted:
        return model
    of_bytes = {access.id for access in model.accesses if model.operand(access.operand).dtype == E4M3}
    return replace(
        model,
        work=(
            *(replace(one, dtype=_WIDER) if one in converted else one for one in model.work),
            *(one for product in converted for one in _conversions(product)),
        ),
        factors=tuple(_converted(one) if one.load in of_bytes else one for one in model.factors),
    )


def _conversions(product: Work) -> tuple[Work, ...]:
    *batch, m, k, n = product.dims
    return tuple(
        replace(product, unit="elementwise", dims=(*batch, *dims), dtype=_WIDER, count=product.count * _CONVERTED)
        for dims in ((m, k), (k, n))
    )


def _converted(factor: Factor) -> Factor:
    return replace(factor, load="", of=(factor.load,), bits=16)
