"""Single elements below 32 bits, of arrays without dimensions, of long ones: a TPU has few scalars, of 32 bits."""

import pytest
import torch

import kopt
import kopt.language as hl

DTYPES = {
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f8e4m3fn": torch.float8_e4m3fn,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}


@kopt.kernel
def scaled(x, scale):
    """A product with what has no dimensions, where that is above one half."""
    out = torch.empty_like(x)
    for row in hl.tile(x.size(0)):
        factor = hl.load(scale, []).to(torch.float32)
        if factor > 0.5:
            out[row, :] = x[row, :] * factor
        else:
            out[row, :] = x[row, :]
    return out


@kopt.kernel
def picked(x, table, at):
    """A product with elements at loaded numbers, a masked one, one that is known, and the cell's own."""
    out = torch.empty_like(x)
    for row in hl.tile(x.size(0), block_size=1):
        number = at[row.begin]
        masked = hl.load(table, [number, 1], extra_mask=number > 2).to(torch.float32)
        loaded = table[row.begin, number].to(torch.float32) + table[0, 1].to(torch.float32)
        out[row, :] = x[row, :] * (loaded + masked + table[row.begin, row.begin].to(torch.float32))
    return out


@kopt.kernel
def first_rows(x, counts, at):
    """The sum of as many rows as a narrow number says."""
    out = torch.empty_like(x)
    for row in hl.tile(x.size(0), block_size=1):
        total = hl.zeros([x.size(1)])
        for each in hl.tile(0, counts[at[row.begin]]):
            total += x[each, :].sum(0)
        out[row.begin, :] = total
    return out


@kopt.kernel
def counted(table, at):
    """Adds to elements at loaded numbers, in place; gives the last of them, twice."""
    last = torch.empty([], dtype=table.dtype)
    for row in hl.grid(at.size(0)):
        table[at[row]] = table[at[row]] + 1
    for _ in hl.grid(1):
        hl.store(last, [], table[at[0]])
        hl.store(last, [], hl.load(last, []) + hl.load(last, []))
    return last


@kopt.kernel
def total_of(x):
    """A sum that has no dimensions."""
    out = torch.zeros([], dtype=x.dtype)
    for row in hl.tile(x.size(0)):
        hl.atomic_add(out, [], x[row].sum())
    return out


@kopt.kernel
def looked_up(x, table, at):
    """Sums of rows, by elements of a table at loaded numbers, where those are above one."""
    out = torch.empty_like(x)
    for row in hl.tile(x.size(0), block_size=1):
        total = x[row, :] * table[at[row.begin]].to(torch.float32)
        for each in hl.grid(at.size(0)):
            if table[at[each]].to(torch.float32) > 1:
                total += x[each, :]
        out[row, :] = total
    return out


AT = torch.tensor([3, 0, 4, 4, 1], dtype=torch.int32)


def _numbers(dtype, *shape):
    return torch.randint(0, 6, shape).float().to(dtype)


def _agrees(target, dtype):
    x, table = torch.randn(5, 130), _numbers(dtype, 5, 5)
    for number in (0, 1):
        factor = torch.tensor(number).to(dtype)
        torch.testing.assert_close(scaled.on(target)(x, factor), x)
    number = AT.long()
    masked = torch.where(AT > 2, table.float()[number, 1], 0.0)
    own = table.float()[torch.arange(5), torch.arange(5)]
    factors = table.float()[torch.arange(5), number] + table.float()[0, 1] + masked + own
    torch.testing.assert_close(picked.on(target)(x, table, AT), x * factors[:, None])


@pytest.mark.parametrize("dtype", DTYPES.values())
def test_single_elements(dtype):
    _agrees("pallas:interpret", dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int8, torch.bool])
def test_single_elements_as_a_chip_reads_them(dtype):
    _agrees("pallas:strict", dtype)


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("dtype", [torch.int8, torch.int16])
def test_loop_bounds(target, dtype):
    x, counts = torch.randn(5, 40), torch.tensor([0, 5, 2, 1, 4], dtype=dtype)
    wanted = torch.stack([x[: counts[at]].sum(0) for at in AT])
    torch.testing.assert_close(first_rows.on(target)(x, counts, AT), wanted)


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int8])
def test_written(target, dtype):
    table, at = _numbers(dtype, 5), torch.tensor([3, 0, 4, 1], dtype=torch.int32)
    wanted = table + torch.tensor([1, 1, 0, 1, 1]).to(dtype)
    last = counted.on(target)(table, at)
    torch.testing.assert_close(table, wanted)
    torch.testing.assert_close(last, wanted[3] * 2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_without_dimensions(dtype):
    x = torch.randn(3000).to(dtype)
    torch.testing.assert_close(total_of.on("pallas:interpret")(x), x.sum(), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_tables_beyond_scalar_memory(dtype):
    x, table, at = torch.randn(5, 40), _numbers(dtype, 140000), torch.tensor([3, 0, 139999, 70000, 3])
    above = (table[at].float() > 1)[:, None]
    wanted = x * table[at].float()[:, None] + torch.where(above, x, 0.0).sum(0)
    torch.testing.assert_close(looked_up.on("pallas:interpret")(x, table, at), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_single_elements_compile(dtype):
    calls = [(scaled, ("f32[5,130]", f"{dtype}[]")), (picked, ("f32[5,130]", f"{dtype}[5,5]", "i32[5]"))]
    if dtype in ("f32", "bf16", "bool"):
        calls += [(looked_up, ("f32[5,256]", f"{dtype}[140000]", "i32[5]"))]
    if dtype in ("bf16", "i8"):
        calls += [(counted, (f"{dtype}[16]", "i32[5]"))]
    calls += {"i8": [(first_rows, ("f32[5,256]", "i8[5]", "i32[5]"))], "bf16": [(total_of, ("bf16[3000]",))]}.get(
        dtype, []
    )
    for kernel, arguments in calls:
        report = kernel.lower(*arguments, target="pallas:tpu7x").report(estimates=False)
        assert report["legal"], report["reason"]
