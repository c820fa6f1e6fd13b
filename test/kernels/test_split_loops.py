"""Split reductions of every type, number of parts and form of loop; strict: two cores, races watched, NaN memory."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.runtime.tolerance import mismatch
from kopt.specs import spec_of
from test.kernels.atomic_cases import random

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int32]
#: What the emitted kernel has in each form of loop, and in that one only.
FORMS = {"grid": "pl.program_id(3)", "pipeline": "emit_pipeline", "fori": "make_async_copy"}
on_forms = pytest.mark.parametrize("loop_type", FORMS)


def split(x, y, splits):
    """The sum of the parts' products, and the largest."""
    wide = torch.float32 if x.dtype.is_floating_point else torch.int32
    out = torch.zeros([x.size(1), y.size(1)], dtype=x.dtype)
    top = torch.full([x.size(1), y.size(1)], -(2**15), dtype=x.dtype)
    for i, j, part in hl.tile([x.size(1), y.size(1), x.size(0)], block_size=[16, 128, x.size(0) // splits]):
        acc = hl.zeros([i, j], dtype=wide)
        for k in hl.tile(part.begin, part.end, block_size=16):
            acc = hl.dot(x[k, i].t(), y[k, j], acc=acc, out_dtype=wide)
        hl.atomic_add(out, [i, j], acc)
        hl.atomic_max(top, [i, j], acc)
    return out, top


def check(target, dtype, splits, loop_type):
    pytest.importorskip("jax")
    columns = 130 if splits < 64 else 100  # few enough cells to watch races
    x, y = random(32 * splits, 16, dtype=dtype), random(32 * splits, columns, dtype=dtype)
    low = kopt.kernel(split).lower(x, y, splits, target=target, config={"loop_type": loop_type})
    assert [form for form, text in FORMS.items() if text in low.source] == [loop_type]
    parts = torch.stack([a.t() @ b for a, b in zip(x.double().split(32), y.double().split(32), strict=True)])
    total, top = low.compile()(x, y, splits)
    assert mismatch(total, parts.sum(0).to(dtype), spec_of(x).dtype, len(x)) is None
    assert mismatch(top, parts.amax(0).to(dtype), spec_of(x).dtype, 32) is None


@on_forms
@pytest.mark.parametrize(("splits", "dtype"), [(3, DTYPES[0]), *((1, dtype) for dtype in DTYPES)])
def test_interpreted(splits, dtype, loop_type):
    """Several parts in other types are below."""
    check("pallas:interpret", dtype, splits, loop_type)


@pytest.mark.slow
@on_forms
@pytest.mark.parametrize(("splits", "dtype"), [(n, DTYPES[0]) for n in (1, 3, 64)] + [(3, d) for d in DTYPES[1:]])
def test_strict(splits, dtype, loop_type):
    check("pallas:strict", dtype, splits, loop_type)
