"""Launches as a chip's kernels are emitted: where a chip lacks float8_e4m3fn, bytes stand for it. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kopt.ir.launch_model import E4M3, Factor, LaunchModel, Work
from kopt.ir.polynomial import Coefficient
from kopt.targets.chips import GpuChip

#: The type that numbers of float8_e4m3fn have in products of chips that lack it.
_WIDER = "f16"
#: Operations of integers, and one of floats, that make a number of a byte; and those that make a byte of a number.
CONVERTED, _TO_BYTES = 8, 16


def emitted_types(model: LaunchModel, chip: GpuChip) -> LaunchModel:
    """The model with products of f16 in place of those of float8_e4m3fn, whose operands are converted lane by lane."""
    if chip.e4m3 or not any(work.dtype == E4M3 or work.unit == "conversion" for work in model.work):
        return model
    products = [work for work in model.work if work.unit == "product" and work.dtype == E4M3]
    paths = {work.path for work in products}
    of_bytes = {access.id for access in model.accesses if model.operand(access.operand).dtype == E4M3}
    factors = tuple(_converted(one, one.load in of_bytes) if one.path in paths else one for one in model.factors)
    staying = {(one.path, one.side, one.shape) for one in factors if one.stays}
    return replace(
        model,
        work=tuple(made for one in model.work for made in _emitted(one, staying)),
        factors=factors,
    )


def _emitted(work: Work, staying: Collection[tuple[tuple[str, ...], str, tuple[Coefficient, ...]]]) -> tuple[Work, ...]:
    """A conversion as operations; a product with those of its operands: what stays is converted once."""
    if work.unit == "conversion":
        count = work.count * (_TO_BYTES if work.dtype == E4M3 else CONVERTED)
        shape, tags = tuple(size for _, size in work.dims), {tag for tag, _ in work.dims}
        stays = work.dtype != E4M3 and any((work.path, side, shape) in staying for side in ("lhs", "rhs"))
        path = work.path[:-1] if stays and work.path[-1] not in tags else work.path
        return (replace(work, unit="elementwise", count=count, path=path),)
    if work.unit != "product" or work.dtype != E4M3:
        return (work,)
    *batch, m, k, n = work.dims
    made = []
    for side, dims in (("lhs", (*batch, m, k)), ("rhs", (*batch, k, n))):
        stays = (work.path, side, tuple(size for _, size in dims)) in staying
        path = work.path[:-1] if stays else work.path
        made.append(replace(work, unit="elementwise", dims=dims, dtype=_WIDER, count=work.count * CONVERTED, path=path))
    return (replace(work, dtype=_WIDER), *made)


def _converted(factor: Factor, loaded: bool) -> Factor:
    if loaded:
        return replace(factor, load="", of=(factor.load,), bits=16)
    return replace(factor, bits=max(16, factor.bits))
