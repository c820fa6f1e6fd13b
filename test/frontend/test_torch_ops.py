"""torch functions on device values: each against torch, in f32 and, where it computes, in bf16 and int32."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

import kopt.language as hl

from .support import imported, reference

torch.manual_seed(1)
A = torch.randn(24, 20) * 2
B = torch.randn(24, 20).abs() + 0.5
C = torch.randn(24, 20)


def elementwise(f, x, y, z, dtype):
    out = torch.empty(x.shape, dtype=dtype, device=x.device)
    for tile0, tile1 in hl.tile(x.shape, block_size=[16, 8]):
        out[tile0, tile1] = f(x[tile0, tile1], y[tile0, tile1], z[tile0, tile1])
    return out


def rows(f, x, y, dtype, shape):
    out = torch.empty(shape, dtype=dtype, device=x.device)
    for tile in hl.tile(x.size(0), block_size=16):
        out[tile, ...] = f(x[tile, :], y[tile, :])
    return out


UNARY = """exp exp2 expm1 sin cos tan tanh sigmoid relu erf erfc neg abs sign square floor ceil round trunc frac
sinh cosh atan asinh rad2deg isnan isinf isfinite logical_not nan_to_num clone""".split()
POSITIVE = "log log2 log10 log1p sqrt rsqrt reciprocal".split()
BINARY = """add sub mul div maximum minimum fmax fmin atan2 copysign hypot logaddexp eq ne lt le gt ge floor_divide
remainder fmod logical_and logical_or logical_xor""".split()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", [*UNARY, *POSITIVE])
def test_unary(name, dtype):
    source = (B if name in POSITIVE else A).to(dtype)
    function = getattr(torch, name)
    compare(lambda x, y, z: function(x), source, source, source)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    if dtype == torch.int32 and name in ("copysign", "hypot", "logaddexp", "fmax", "fmin"):
        dtype = torch.float16
    function = getattr(torch, name)
    compare(lambda x, y, z: function(x, y), (A * 5).to(dtype), (B * 4).to(dtype), C.to(dtype))


def compare(f, x, y, z):
    """One function of device values against the same on torch tensors."""
    expected = f(x, y, z)
    got = reference(elementwise, f, x, y, z, expected.dtype)
    exact = not expected.dtype.is_floating_point
    tolerance = 0 if exact else 1e-5 if expected.dtype == torch.float32 else 2e-2
    torch.testing.assert_close(got.double(), expected.double(), atol=tolerance, rtol=tolerance, equal_nan=True)


EXPRESSIONS = {
    "to as another": lambda x, y, z: x.to(y.to(torch.bfloat16)) + x.type_as(y),
    "where number": lambda x, y, z: torch.where(x > 0, x, 0.0),
    "where both numbers": lambda x, y, z: torch.where(x > y, 1.0, -1.0),
    "where method": lambda x, y, z: x.where(y > 1, z),
    "clamp": lambda x, y, z: torch.clamp(x, -0.5, 0.5),
    "clamp min": lambda x, y, z: x.clamp(min=0.1),
    "clamp tensors": lambda x, y, z: torch.clamp(x, -y, y),
    "gelu": lambda x, y, z: F.gelu(x),
    "gelu tanh": lambda x, y, z: F.gelu(x, approximate="tanh"),
    "silu": lambda x, y, z: F.silu(x) * y,
    "softplus": lambda x, y, z: F.softplus(x, beta=2, threshold=5),
    "leaky_relu": lambda x, y, z: F.leaky_relu(x, 0.2),
    "elu": lambda x, y, z: F.elu(x),
    "mish": lambda x, y, z: F.mish(x),
    "hardswish": lambda x, y, z: F.hardswish(x),
    "logsigmoid": lambda x, y, z: F.logsigmoid(x),
    "lerp": lambda x, y, z: torch.lerp(x, y, 0.3),
    "lerp tensor": lambda x, y, z: torch.lerp(x, y, z),
    "lerp to the ends": lambda x, y, z: torch.lerp(x * 1e8, y, 1.0) + torch.lerp(z, y * 1e8, 0.0),
    "lerp to tensors of ends": lambda x, y, z: torch.lerp(x * 1e8, y, y * 0 + 1) + torch.lerp(z, y * 1e8, x * 0),
    "addcmul": lambda x, y, z: torch.addcmul(x, y, z, value=0.5),
    "addcdiv": lambda x, y, z: torch.addcdiv(x, z, y, value=2),
    "add alpha": lambda x, y, z: torch.add(x, y, alpha=2),
    "rsub": lambda x, y, z: 1.0 - x,
    "rdiv": lambda x, y, z: 1.0 / y,
    "pow 2": lambda x, y, z: x**2,
    "pow 3": lambda x, y, z: x.pow(3),
    "pow half": lambda x, y, z: y**0.5,
    "pow tensor": lambda x, y, z: y**z,
    "rpow": lambda x, y, z: 2.0**x,
    "div floor": lambda x, y, z: torch.div(x, y, rounding_mode="floor"),
    "div trunc": lambda x, y, z: torch.div(x, y, rounding_mode="trunc"),
    "masked_fill": lambda x, y, z: x.masked_fill(x > 0, 7),
    "masked_fill of integers": lambda x, y, z: ((x * 9).int() + 2**30).masked_fill(x > 0, -2.5),
    "masked_fill of integers by a float": lambda x, y, z: ((x * 9).int() + 2**30).masked_fill(x > 0, z.sum() * 0 - 2.5),
    "masked_fill of booleans": lambda x, y, z: (x > 1).masked_fill(y > 1, 0.5),
    "casts": lambda x, y, z: x.to(torch.bfloat16).float() + y.half().to(torch.float32),
    "int cast": lambda x, y, z: (x * 3).to(torch.int32) + 1,
    "bool add alpha": lambda x, y, z: torch.add(x > 0, y > 1, alpha=2) ^ torch.add(y > 0, z > 1, alpha=0),
    "bool arithmetic": lambda x, y, z: (x > 0) + (y > 1).to(torch.int32) * 2,
    "bit operations": lambda x, y, z: ((x * 9).int() & 7) | ((y * 9).int() << 2) ^ 3,
    "shift right": lambda x, y, z: (x * 99).int() >> 2,
    "invert": lambda x, y, z: ~(x > 0),
    "not equal chain": lambda x, y, z: (x > 0) & (x < y) | (z > 0),
    "integer division": lambda x, y, z: (x * 9).int() // 4 + (x * 9).int() % 4,
    "integer true division": lambda x, y, z: (x * 9).int() / 4,
    "weak float": lambda x, y, z: (x * 9).int() * 0.5,
    "min of two": lambda x, y, z: torch.min(x, y) + torch.max(x, z),
    "python min": lambda x, y, z: x.minimum(y).abs(),
    "zeros_like": lambda x, y, z: torch.zeros_like(x) + torch.ones_like(y) * torch.full_like(z, 3.0),
    "int64": lambda x, y, z: (x * 100).long() * 1000003,
    "unsigned": lambda x, y, z: (y * 20).to(torch.uint8) + 250,
    "f64": lambda x, y, z: x.double() * y.double(),
    "clamp integers by a number": lambda x, y, z: (x * 9).int().clamp(0.5, 3.5),
    "clamp zeros": lambda x, y, z: 1 / (x * 0).clamp(min=0) + 2 / (z * 0).clamp(max=0.0),
    "clamp crossed": lambda x, y, z: x.clamp(1.0, -1.0) + z.clamp(min=float("nan")),
    "hardtanh": lambda x, y, z: F.hardtanh(x, -0.5, 0.7) + F.relu6(z * 4) + F.hardtanh((y * 3).int(), -2, 2),
    "negative divisors": lambda x, y, z: (x * 9).int() % -4 + torch.fmod((z * 9).int(), -4) * 10,
    "sub alpha": lambda x, y, z: torch.sub(x, y, alpha=3) + torch.rsub(x, z, alpha=2),
    "round trip bits": lambda x, y, z: x.view(torch.int32).view(torch.float32),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression(name):
    compare(EXPRESSIONS[name], A, B, C)


BF16 = ["silu", "gelu", "where number", "pow 3", "lerp", "rsub", "addcmul", "softplus", "clamp", "weak float"]


@pytest.mark.parametrize("name", BF16)
def test_expression_in_bf16(name):
    compare(EXPRESSIONS[name], A.bfloat16(), B.bfloat16(), C.bfloat16())


ROWS = {
    "sum": lambda x, y: x.sum(-1),
    "sum keepdim": lambda x, y: x.sum(dim=1, keepdim=True) + x,
    "sum axis": lambda x, y: torch.sum(x, axis=1),
    "mean": lambda x, y: torch.mean(x, dim=-1),
    "prod": lambda x, y: torch.prod(y, dim=-1),
    "amax": lambda x, y: torch.amax(x, dim=-1),
    "amin": lambda x, y: x.amin(-1, keepdim=True),
    "max": lambda x, y: torch.max(x, dim=-1)[0],
    "max indices": lambda x, y: torch.max(x, -1).indices,
    "min values": lambda x, y: x.min(dim=1).values,
    "argmax": lambda x, y: x.argmax(-1),
    "argmin": lambda x, y: torch.argmin(x, dim=1, keepdim=True),
    "var": lambda x, y: torch.var(x, dim=-1),
    "var biased": lambda x, y: x.var(-1, unbiased=False),
    "var correction": lambda x, y: torch.var(x, dim=-1, correction=0, keepdim=True),
    "std": lambda x, y: x.std(-1),
    "var_mean": lambda x, y: torch.var_mean(x, dim=-1, correction=0)[0] + torch.var_mean(x, dim=-1)[1],
    "logsumexp": lambda x, y: torch.logsumexp(x, dim=-1),
    "softmax": lambda x, y: torch.softmax(x, dim=-1),
    "softmax method": lambda x, y: x.softmax(1),
    "log_softmax": lambda x, y: F.log_softmax(x, dim=1),
    "norm": lambda x, y: torch.norm(x, dim=-1),
    "norm 1": lambda x, y: torch.norm(x, 1, -1),
    "any": lambda x, y: (x > 2).any(-1),
    "all": lambda x, y: torch.all(x > -2, dim=-1),
    "int sum": lambda x, y: (x * 9).int().sum(-1),
    "bool sum": lambda x, y: (x > 0).sum(-1),
    "cumsum": lambda x, y: torch.cumsum(x, dim=1),
    "cumprod": lambda x, y: torch.cumprod(y, dim=-1),
    "view": lambda x, y: x.view(-1, 4, 5).sum(1),
    "reshape": lambda x, y: x.reshape(x.shape[0], 10, 2)[:, :, 0],
    "permute": lambda x, y: x.reshape(-1, 4, 5).permute(0, 2, 1).reshape(x.shape[0], 20),
    "transpose": lambda x, y: x.unsqueeze(1).transpose(1, 2).squeeze(2),
    "flatten": lambda x, y: x.view(-1, 4, 5).flatten(1),
    "unflatten": lambda x, y: x.unflatten(1, (2, 10)).sum(2),
    "chunk": lambda x, y: x.chunk(2, -1)[0] * x.chunk(2, -1)[1],
    "split": lambda x, y: torch.split(x, [5, 15], dim=1)[1],
    "split all": lambda x, y: torch.cat([*x.split(7, 1), *x.split([4, 0, 16], 1), *x.split([20], 1)], 1),
    "chunks": lambda x, y: torch.stack([torch.cat(x.chunk(6, 1)[::-1], 1), torch.cat(y.chunk(3, 1)[::-1], 1)]).sum(0),
    "tensor_split": lambda x, y: torch.cat([*x.tensor_split(3, 1)[::-1], *y.tensor_split([3, -5, 40], 1)[::-1]], 1),
    "unbind all": lambda x, y: torch.stack(x.unbind(1)[::-1], 1),
    "cat": lambda x, y: torch.cat([x[:, :0], x, y[:, 3:3], y, x], dim=1),
    "hstack": lambda x, y: torch.hstack([x, y[:, :3]]),
    "mean of two": lambda x, y: x.view(-1, 4, 5).mean((1, 2)) + y.view(-1, 4, 5).mean(1).var(-1),
    "pad of two": lambda x, y: F.pad(x.view(-1, 4, 5), (1, 0, 2, 1), value=2.0).flatten(1),
    "matrices": lambda x, y: x.view(-1, 4, 5).mT.flatten(1) + y.view(-1, 4, 5).flip(1, 2).flatten(1),
    "logcumsumexp": lambda x, y: torch.logcumsumexp(x * 30, 1) / 30,
    "lists of numbers": lambda x, y: x[:, :2] + torch.tensor([[1.0, 2.0], [3.0, 4.0]])[1, :] * torch.tensor([2, 5]),
    "index_select": lambda x, y: torch.index_select(x, 1, torch.arange(4, device=x.device) * 5),
    "stack": lambda x, y: torch.stack([x, y], dim=-1),
    "stack first": lambda x, y: torch.stack([x, y], dim=1),
    "expand": lambda x, y: x.sum(-1, keepdim=True).expand(-1, 6),
    "broadcast_to": lambda x, y: torch.broadcast_to(x[:, None, :], (x.shape[0], 3, 20)),
    "narrow": lambda x, y: x.narrow(1, 3, 4) + x[:, 3:7],
    "subscripts": lambda x, y: x[:, None, 2:10:2] * y[:, 0][:, None, None],
    "negative": lambda x, y: x[:, -1] + x[..., -2],
    "gather": lambda x, y: torch.gather(x, 1, (y * 2).long() % 20),
    "flip": lambda x, y: x.flip(1),
    "pad": lambda x, y: F.pad(x, (1, 2), value=3.0),
    "repeat_interleave": lambda x, y: x.repeat_interleave(2, dim=1),
    "unbind": lambda x, y: x.view(-1, 10, 2).unbind(-1)[1],
    "layer_norm": lambda x, y: F.layer_norm(x, (20,)),
    "layer_norm of zeros": lambda x, y: torch.copysign(y, F.layer_norm(x.abs() * -0.0, (20,))),
    "rms_norm": lambda x, y: F.rms_norm(x, (20,), weight=torch.arange(20, device=x.device) * 0.5),
    "rms_norm of small numbers": lambda x, y: F.rms_norm(x * 1e-4, (20,)) + F.rms_norm(y, (20,), eps=0.5),
    "outer sum": lambda x, y: (x[:, :, None] * y[:, None, :]).sum((1, 2)),
}
_W = torch.randn(20, 6)


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    f = ROWS[name]
    expected = f(A, B)
    got = reference(rows, f, A, B, expected.dtype, expected.shape)
    tolerance = 1e-4 if expected.dtype.is_floating_point else 0
    torch.testing.assert_close(got.double(), expected.double(), atol=tolerance, rtol=tolerance)


def product(f, x, w, dtype, shape):
    out = torch.empty(shape, dtype=dtype, device=x.device)
    for tile in hl.tile(x.size(0), block_size=16):
        out[tile, ...] = f(x[tile, :], w[...])
    return out


PRODUCTS = {
    "matmul": lambda x, w: torch.matmul(x, w),
    "operator": lambda x, w: x @ w,
    "mm": lambda x, w: torch.mm(x, w),
    "vector": lambda x, w: x @ w[:, 0],
    "linear": lambda x, w: F.linear(x, w.T, w[0, :]),
    "einsum": lambda x, w: torch.einsum("ij,jk->ik", x, w),
    "addmm": lambda x, w: torch.addmm(torch.matmul(x, w), x, w, alpha=2, beta=0.5),
    "bmm": lambda x, w: torch.bmm(x[None, :, :], w[None, :, :])[0, :, :],
    "broadcast": lambda x, w: torch.matmul(torch.stack([x, x * 2]), w)[1, :, :],
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, dtype):
    f = PRODUCTS[name]
    x, w = A.to(dtype), _W.to(dtype)
    expected = f(x, w)
    got = reference(product, f, x, w, expected.dtype, expected.shape)
    tolerance = 1e-4 if dtype == torch.float32 else 5e-2
    torch.testing.assert_close(got.double(), expected.double(), atol=tolerance, rtol=tolerance)


def test_dot_accumulates():
    def kernel(x, y):
        out = torch.empty([x.size(0), y.size(1)], dtype=torch.float32, device=x.device)
        for tile_m, tile_n in hl.tile(out.shape):
            acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
            for tile_k in hl.tile(x.size(1), block_size=8):
                acc = hl.dot(x[tile_m, tile_k], y[tile_k, tile_n], acc=acc)
            out[tile_m, tile_n] = acc
        return out

    x, y = A.bfloat16(), _W.bfloat16()
    torch.testing.assert_close(reference(kernel, x, y), x.float() @ y.float(), atol=1e-3, rtol=1e-3)
    text = str(imported(kernel, x, y).module)
    assert text.count("tile.cast") == 0


def test_int8_product():
    def kernel(x, y):
        out = torch.empty([x.size(0), y.size(1)], dtype=torch.int32, device=x.device)
        for tile in hl.tile(x.size(0)):
            out[tile, :] = hl.dot(x[tile, :], y[:, :])
        return out

    x, y = (A * 9).to(torch.int8), (_W * 9).to(torch.int8)
    assert torch.equal(reference(kernel, x, y), x.int() @ y.int())


def scans(x):
    out = torch.empty([3, *x.shape], dtype=x.dtype, device=x.device)
    for tile in hl.tile(x.size(0)):
        v = x[tile, :]
        out[0, tile, :] = hl.cumsum(v, dim=1, reverse=True)
        out[1, tile, :] = hl.associative_scan(torch.maximum, v, dim=1)
        out[2, tile, :] = hl.associative_scan(lambda a, b: a + b, v, dim=1)
    return out


def test_scans():
    expected = torch.stack([A.flip(1).cumsum(1).flip(1), A.cummax(1).values, A.cumsum(1)])
    torch.testing.assert_close(reference(scans, A), expected, atol=1e-4, rtol=1e-4)


def reduces(x):
    out = torch.empty([x.size(0), 2], dtype=x.dtype, device=x.device)
    for tile in hl.tile(x.size(0)):
        out[tile, 0] = hl.reduce(lambda a, b: torch.minimum(a, b), x[tile, :], dim=1)
        out[tile, 1] = hl.reduce(lambda a, b: a + b, x[tile, :], dim=1)
    return out


def test_reduce():
    torch.testing.assert_close(reference(reduces, A), torch.stack([A.amin(1), A.sum(1)], -1))


def test_math_constants():
    compare(lambda x, y, z: x * math.pi + math.sqrt(2.0), A, B, C)
