"""What kopt knows of torch, as calls: the tests run each line on every target, docs/language.md shows them.

A line is one call over the inputs that its group names: ``x y z`` are tensors of one shape and dtype, ``n`` is an
integer tensor of that shape. Nothing here needs torch, so that the page is made without it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

FLOATS = ("f32", "bf16", "f16")
NUMBERS = (*FLOATS, "i32")
INTEGERS = ("i32", "i64", "i16", "i8", "ui8")
TARGETS = ("reference", "pallas", "triton")


@dataclass(frozen=True)
class Group:
    """Calls with the same inputs. ``form`` is how a kernel gives them: ``lanes`` (any shape, tiled), ``rows`` (rank 3,
    the first dimension tiled) or ``whole`` (a matrix in one piece). ``adds`` says that results combine many elements,
    so that the order of the additions shows."""

    title: str
    form: str
    domain: str
    dtypes: tuple[str, ...]
    lines: str
    adds: bool = False

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """One call a line."""
        return tuple(line for line in map(str.strip, self.lines.splitlines()) if line)


@dataclass(frozen=True)
class Refusal:
    """Calls that a target says no to, in what words, and why. ``calls`` is a regular expression."""

    target: str
    calls: str
    dtypes: tuple[str, ...]
    says: str
    reason: str


def names_of(call: str) -> set[str]:
    """The operations that a call names: of ``torch``, of ``torch.nn.functional``, and methods.

    Those of ``torch.linalg`` have the names that torch gives them, such as ``linalg_vector_norm``.
    """
    return set(re.findall(r"\.([a-z_]\w*)\(", call.replace("linalg.", "linalg_")))


REAL = Group(
    "Functions of one number",
    "lanes",
    "real",
    NUMBERS,
    """
    torch.exp(x)
    torch.exp2(x)
    torch.expm1(x)
    torch.sin(x)
    torch.cos(x)
    torch.sinh(x)
    torch.cosh(x)
    torch.tanh(x)
    torch.atan(x)
    torch.asinh(x)
    torch.erf(x)
    torch.erfc(x)
    torch.sinc(x)
    torch.sigmoid(x)
    torch.rad2deg(x)
    torch.deg2rad(x)
    """,
)
ACTIVATIONS = Group(
    "Activations",
    "lanes",
    "real",
    FLOATS,
    """
    F.silu(x)
    F.gelu(x)
    F.gelu(x, approximate="tanh")
    F.softplus(x)
    F.softplus(x, beta=2, threshold=5)
    F.logsigmoid(x)
    F.elu(x)
    F.elu(x, 0.5)
    F.celu(x, 0.5)
    F.selu(x)
    F.leaky_relu(x)
    F.leaky_relu(x, 0.2)
    F.mish(x)
    F.hardswish(x)
    F.hardsigmoid(x)
    F.hardtanh(x, -0.5, 2.0)
    F.relu6(x)
    F.softsign(x)
    F.tanhshrink(x)
    F.dropout(x, 0.0)
    """,
)
POSITIVE = Group(
    "Functions of a positive number",
    "lanes",
    "positive",
    NUMBERS,
    """
    torch.log(x)
    torch.log2(x)
    torch.log10(x)
    torch.log1p(x)
    torch.sqrt(x)
    torch.rsqrt(x)
    torch.reciprocal(x)
    torch.acosh(x + 1)
    torch.float_power(x, 2).to(torch.float32)
    torch.float_power(3, x).to(torch.float32)
    """,
)
UNIT = Group(
    "Functions of a number between -1 and 1",
    "lanes",
    "unit",
    NUMBERS,
    """
    torch.tan(x)
    torch.asin(x)
    torch.acos(x)
    torch.atanh(x)
    torch.logit(x * 0.25 + 0.5)
    torch.logit(x, 0.25)
    """,
)
SIGNS = Group(
    "Signs and rounding",
    "lanes",
    "real",
    (*NUMBERS, "i64", "i8", "ui8"),
    """
    torch.abs(x)
    torch.neg(x)
    -x
    +x
    abs(x)
    torch.sign(x)
    torch.sgn(x)
    torch.square(x)
    torch.relu(x)
    torch.floor(x)
    torch.ceil(x)
    torch.round(x)
    torch.trunc(x)
    torch.positive(x)
    torch.signbit(x)
    torch.isnan(x)
    torch.isinf(x)
    torch.isfinite(x)
    torch.nan_to_num(x)
    torch.logical_not(x)
    x.clone()
    x.contiguous()
    x.detach()
    """,
)
FLOATING = Group(
    "Functions of floating-point numbers",
    "lanes",
    "special",
    FLOATS,
    """
    torch.frac(x)
    torch.round(x, decimals=1)
    torch.nan_to_num(x, 1.0, 2.0, -2.0)
    torch.nan_to_num(x, posinf=5.0)
    torch.copysign(x, y)
    torch.hypot(x, y)
    torch.logaddexp(x, y)
    torch.logaddexp(1 / (x * 0), 1 / (x * 0))
    torch.addcdiv(x, y, z)
    torch.addcdiv(x, y, z, value=0.5)
    torch.lerp(x, y, 0.3)
    torch.lerp(x, y, 0.7)
    torch.lerp(x, y, z)
    """,
)
ARITHMETIC = Group(
    "Arithmetic",
    "lanes",
    "nonzero",
    (*NUMBERS, "i64", "i16", "i8", "ui8"),
    """
    torch.add(x, y)
    torch.add(x, y, alpha=2)
    torch.sub(x, y)
    torch.sub(x, y, alpha=3)
    torch.rsub(x, y)
    torch.mul(x, y)
    torch.div(x, y)
    torch.div(x, y, rounding_mode="floor")
    torch.div(x, y, rounding_mode="trunc")
    torch.floor_divide(x, y)
    torch.remainder(x, y)
    torch.fmod(x, y)
    x + 2
    2 - x
    x * 3
    x / 4
    7 / x
    x // 3
    7 // x
    x % 3
    7 % x
    x + 0.5
    x * 0.25
    x**2
    x**3
    torch.maximum(x, y)
    torch.minimum(x, y)
    torch.fmax(x, y)
    torch.fmin(x, y)
    torch.max(x, y)
    torch.min(x, y)
    torch.atan2(x, y)
    torch.addcmul(x, y, z)
    torch.addcmul(x, y, z, value=2)
    torch.clamp(x, -2, 3)
    torch.clamp(x, min=1)
    torch.clamp(x, max=1)
    torch.clamp(x, y, z)
    torch.clamp_min(x, 1)
    torch.clamp_max(x, 1)
    """,
)
POWERS = Group(
    "Powers",
    "lanes",
    "positive",
    FLOATS,
    """
    torch.pow(x, y)
    x**y
    x**0.5
    x**-0.5
    x**-1
    x**2.5
    2.0**x
    torch.pow(x, 4)
    torch.xlogy(x, y)
    """,
)
INTEGER_POWERS = Group(
    "Powers of integers",
    "lanes",
    "real",
    ("i32",),
    """
    torch.pow(x, 4)
    torch.pow(x, y & 3)
    x**2
    """,
)
COMPARISONS = Group(
    "Comparison, logic and choice",
    "lanes",
    "special",
    (*NUMBERS, "i64", "i8", "ui8", "bool"),
    """
    torch.eq(x, y)
    torch.ne(x, y)
    torch.lt(x, y)
    torch.le(x, y)
    torch.gt(x, y)
    torch.ge(x, y)
    x > 0
    0 >= x
    x == 1
    torch.logical_and(x, y)
    torch.logical_or(x, y)
    torch.logical_xor(x, y)
    (x > y) & (x > 0) | ~(y > 0) ^ (z > 0)
    torch.where(x > y, x, z)
    torch.where(x > y, x, 1)
    torch.where(x > y, 2, z)
    torch.where(x > y, 1.5, 0.0)
    x.where(x > y, z)
    x.masked_fill(x > y, 1)
    torch.maximum(x, y)
    torch.minimum(x, y)
    """,
)
BITS = Group(
    "Bits",
    "lanes",
    "bits",
    INTEGERS,
    """
    torch.bitwise_and(x, y)
    torch.bitwise_or(x, y)
    torch.bitwise_xor(x, y)
    torch.bitwise_not(x)
    torch.bitwise_left_shift(x, y & 7)
    torch.bitwise_right_shift(x, y & 7)
    x & 3
    x | y
    x ^ 5
    ~x
    x << 1
    x >> 2
    """,
)
LOGIC = Group(
    "Booleans",
    "lanes",
    "bits",
    ("bool",),
    """
    x & y
    x | y
    x ^ y
    ~x
    x + y
    x * 2
    """,
)
CASTS = Group(
    "Casts",
    "lanes",
    "counts",
    (*NUMBERS, "i64", "i16", "i8", "ui8", "bool", "f8E4M3FN", "f8E5M2"),
    """
    x.float()
    x.half()
    x.bfloat16()
    x.int()
    x.long()
    x.short()
    x.char()
    x.byte()
    x.bool()
    x.to(torch.float8_e4m3fn).float()
    x.to(torch.float8_e5m2).float()
    x.to(torch.float8_e5m2)
    x.to(dtype=torch.float32)
    x.type(torch.float32)
    x.to(y)
    x.to(True)
    x.type_as(y)
    x.double().float()
    """,
)
DOUBLE = Group(
    "64-bit floating point",
    "lanes",
    "positive",
    ("f64",),
    """
    torch.exp(x)
    x + y
    x.float()
    torch.sqrt(x)
    torch.sigmoid(x)
    """,
)
ROUNDING_CASTS = Group(
    "Casts that round",
    "lanes",
    "real",
    FLOATS,
    """
    x.int()
    x.long()
    x.half().float()
    x.bfloat16().float()
    x.to(torch.float8_e4m3fn).to(torch.float32)
    x.to(torch.float8_e5m2).to(torch.float32)
    x.float().view(torch.int32)
    x.bool()
    """,
)
REDUCTIONS = Group(
    "Reductions",
    "rows",
    "nonzero",
    (*NUMBERS, "i64", "i8", "ui8"),
    """
    torch.sum(x, dim=-1)
    torch.sum(x, dim=(1, 2))
    torch.sum(x, dim=1, keepdim=True)
    torch.sum(x, -1, dtype=torch.float32)
    torch.sum(x, -1, dtype=torch.int32)
    torch.prod(x, 1, dtype=torch.int32)
    x.sum(axis=2)
    torch.prod(x, dim=1)
    torch.amax(x, dim=-1)
    torch.amax(x, dim=(1, 2), keepdim=True)
    torch.amin(x, dim=1)
    torch.max(x, dim=-1).values
    torch.max(x, dim=1).indices
    torch.min(x, dim=-1)[0]
    torch.min(x, dim=1, keepdim=True)[1]
    torch.argmax(x, dim=-1)
    torch.argmax(x, dim=1, keepdim=True)
    torch.argmin(x, dim=-1)
    torch.argmin(x, dim=1)
    torch.aminmax(x, dim=1)[0]
    torch.any(x, dim=-1)
    torch.all(x, dim=1)
    (x > 1).any(2)
    (x > 1).all(dim=2, keepdim=True)
    (x > 1).sum(1)
    torch.count_nonzero(x > 1, dim=-1)
    torch.logsumexp(x, dim=-1)
    """,
    adds=True,
)
MOMENTS = Group(
    "Means, variances, norms",
    "rows",
    "real",
    FLOATS,
    """
    torch.mean(x, dim=-1)
    torch.mean(x, dim=(1, 2))
    torch.mean(x, dim=1, keepdim=True)
    torch.var(x, dim=-1)
    torch.var(x, dim=(1, 2), correction=0)
    torch.var(x, 1, unbiased=False, keepdim=True)
    torch.var_mean(x, dim=-1)[0]
    torch.var_mean(x, dim=-1, correction=0)[1]
    torch.std(x, dim=-1)
    torch.std_mean(x, dim=1)[0]
    torch.logsumexp(x, dim=1, keepdim=True)
    torch.logcumsumexp(x, dim=1)
    torch.logsumexp(x, dim=(1, 2))
    torch.softmax(x, dim=-1)
    torch.softmax(x, 1)
    F.softmax(x, dim=-1, dtype=torch.float32)
    torch.log_softmax(x, dim=-1)
    F.log_softmax(x, dim=1)
    torch.norm(x, dim=-1)
    torch.norm(x, 1, 1)
    torch.norm(x, float("inf"), -1)
    torch.norm(x, 3, -1, keepdim=True)
    torch.linalg.vector_norm(x, 3, dim=-1)
    F.softmin(x, dim=1)
    F.glu(x, 1)
    F.normalize(x, dim=-1)
    F.layer_norm(x, [9])
    F.rms_norm(x, [9])
    """,
    adds=True,
)
EVERYTHING = Group(
    "Reductions of everything",
    "whole",
    "nonzero",
    ("f32", "i32"),
    """
    x.sum()
    x.prod()
    x.amax()
    x.amin()
    x.max()
    x.min()
    x.argmax()
    x.argmin()
    x.any()
    x.all()
    x.sum(0)
    x.amax(0)
    x.argmax(0)
    x.sum((0, 1), keepdim=True)
    x.float().mean()
    x.float().var()
    x.float().std()
    x.float().softmax(0)
    x.float().logsumexp(0)
    x.float().norm()
    torch.ravel(x)
    torch.msort(x)
    torch.hstack([x, y])
    torch.vstack([x, y])
    """,
    adds=True,
)
EVERY_SHAPE = (*NUMBERS, "i64", "ui8", "bool")
SHAPES = Group(
    "Shapes",
    "rows",
    "real",
    EVERY_SHAPE,
    """
    x.view(-1, 54)
    x.reshape(x.shape[0], 3, 18)
    x.reshape(-1, 2, 3, 9)
    torch.reshape(x, (-1, 9, 6))
    x.view_as(y)
    x.reshape_as(y)
    torch.transpose(x, 1, 2)
    x.permute(0, 2, 1)
    torch.permute(x, (0, 2, 1))
    x.mT
    x.movedim(1, 2)
    torch.squeeze(x[:, :, :1], -1)
    x[:, :1, :].squeeze(1)
    x[:, :1, :1].squeeze(1, -1)
    torch.unsqueeze(x, 1)
    x.unsqueeze(-1)
    x[:, :, :1].expand(-1, -1, 4)
    x[:, :1].expand_as(y)
    torch.broadcast_to(x[:, :1], (x.shape[0], 5, 9))
    torch.broadcast_tensors(x[:, :1], y)[0]
    torch.flatten(x, 1)
    torch.flatten(x, 1, 2)
    torch.unflatten(x, 2, (3, 3))
    x.unflatten(1, (2, -1))
    torch.stack([x, y], dim=1)
    torch.stack([x, y], dim=-1)
    torch.cat([x, y], dim=1)
    torch.cat([x, y, x], -1)
    torch.chunk(x, 3, dim=1)[1]
    torch.chunk(x, 2, dim=2)[1]
    torch.split(x, 4, dim=2)[2]
    torch.split(x, [2, 4], dim=1)[1]
    x.split_with_sizes([1, 5], 1)[1]
    torch.tensor_split(x, 4, dim=1)[1]
    torch.tensor_split(x, [1, 3], dim=1)[1]
    torch.unbind(x, 1)[2]
    torch.select(x, 2, 4)
    torch.narrow(x, 1, 2, 3)
    torch.flip(x, [1])
    x.flip(1, 2)
    x.flip(-1)
    F.pad(x, (1, 2))
    F.pad(x, (0, 3, 2, 1), value=1)
    x.repeat(1, 2, 1)
    x.repeat(1, 1, 3)
    torch.tile(x, (1, 1, 2))
    x.tile(2)
    torch.tile(x, (1, 3, 2))
    torch.repeat_interleave(x, 2, dim=1)
    torch.gather(x, 2, n % 9)
    torch.gather(x, 1, n[:, :2] % 6)
    torch.take_along_dim(x, n % 9, dim=2)
    torch.index_select(x, 2, torch.arange(4) * 2)
    x[:, None, 1:5:2, ...]
    x[:, -1]
    x[:, 2:, :-3]
    """,
)
PRODUCTS = Group(
    "Matrix products",
    "rows",
    "real",
    ("f32", "bf16", "f16"),
    """
    torch.matmul(x, y.transpose(1, 2))
    x @ y.mT
    torch.bmm(x, y.mT)
    torch.baddbmm(x[:, :, :6], x, y.mT)
    torch.baddbmm(x[:, :, :6], x, y.mT, beta=0.5, alpha=2)
    torch.einsum("bij,bkj->bik", x, y)
    torch.einsum("bij,bij->bi", x, y)
    torch.einsum("bij->bji", x)
    torch.einsum("bij->bi", x)
    torch.einsum("bij,bkj->bijk", x, y)
    torch.einsum("bij,bij->b", x, y)
    x @ y[:, 0, :, None]
    """,
    adds=True,
)
MATRICES = Group(
    "Products of matrices in one piece",
    "whole",
    "real",
    ("f32", "bf16", "f16"),
    """
    torch.mm(x, y.t())
    x.T @ y
    torch.matmul(x, y[0])
    torch.matmul(x[0], y.T)
    torch.mv(x, y[0])
    torch.dot(x[0], y[0])
    torch.inner(x, y)
    torch.inner(x[:, None, :], y)
    torch.addmm(x[:, :6], x, y.T)
    torch.addmm(x[:, :6], x, y.T, beta=2, alpha=0.5)
    torch.outer(x[0], y[0])
    torch.ger(x[0], y[1])
    F.linear(x, y)
    F.linear(x, y, x[:, 0])
    torch.einsum("ij,kj", x, y)
    torch.einsum("ij,kj", x, y[:, :1])
    torch.einsum("ij,ij->", x, y)
    torch.einsum("i,j->ij", x[0], y[0])
    torch.einsum("ij,kj,kl->il", x, y, x)
    """,
    adds=True,
)
INTEGER_PRODUCTS = Group(
    "Products of integers",
    "rows",
    "words",
    ("i32", "i16", "i8"),
    """
    torch.matmul(x, y.transpose(1, 2))
    torch.bmm(x, y.mT)
    torch.baddbmm(x[:, :, :6], x, y.mT)
    torch.einsum("bij,bkj->bik", x, y)
    """,
    adds=True,
)
INTEGER_MATRICES = Group(
    "Products of matrices of integers",
    "whole",
    "words",
    ("i32",),
    """
    torch.mm(x, y.t())
    torch.addmm(x[:, :6], x, y.T)
    torch.einsum("ij,kj->ik", x, y)
    """,
    adds=True,
)
SCANS = Group(
    "Scans and sorts",
    "rows",
    "nonzero",
    ("f32", "bf16", "i32"),
    """
    torch.cumsum(x, dim=-1)
    torch.cumsum(x, dim=1)
    torch.cumsum(x, dim=1, dtype=torch.float32)
    torch.cumprod(x, dim=1, dtype=torch.float32)
    torch.cummax(x, dim=-1).values
    torch.cummax(x, dim=1).indices
    torch.cummin(x, 1)[0]
    torch.sort(x, dim=-1).values
    torch.sort(x, 1, descending=True)[0]
    torch.sort(x, dim=-1, stable=True).indices
    torch.argsort(x, dim=1, stable=True)
    torch.topk(x, 3, dim=-1).values
    torch.kthvalue(x, 2, dim=1).values
    """,
    adds=True,
)
CREATION = Group(
    "Creation",
    "rows",
    "real",
    EVERY_SHAPE,
    """
    torch.zeros_like(x)
    torch.ones_like(x)
    torch.full_like(x, 1)
    torch.full_like(x, 2, dtype=torch.float32)
    x.new_zeros((x.shape[0], 4))
    x.new_ones([x.shape[0], 4])
    x.new_full((x.shape[0], 4), 1)
    x.new_full((x.shape[0], 4), 0.5, dtype=torch.bool)
    x.new_tensor(1) + x
    x + torch.zeros([6, 9], dtype=x.dtype)
    x + torch.ones(9, dtype=x.dtype)
    x + torch.full((6, 1), 2, dtype=x.dtype)
    x + torch.arange(9, dtype=torch.int32)
    x + torch.arange(1, 18, 2, dtype=torch.int32)
    torch.arange(2, 8, dtype=torch.int32)[None, :, None] + x
    x + torch.tensor(3, dtype=x.dtype)
    x + torch.scalar_tensor(2.0)
    torch.scalar_tensor(2).exp() + x
    """,
)
GROUPS = (
    REAL,
    ACTIVATIONS,
    POSITIVE,
    UNIT,
    SIGNS,
    FLOATING,
    ARITHMETIC,
    POWERS,
    INTEGER_POWERS,
    COMPARISONS,
    BITS,
    LOGIC,
    CASTS,
    ROUNDING_CASTS,
    DOUBLE,
    REDUCTIONS,
    MOMENTS,
    EVERYTHING,
    SHAPES,
    PRODUCTS,
    MATRICES,
    INTEGER_PRODUCTS,
    INTEGER_MATRICES,
    SCANS,
    CREATION,
)

_EVERY = (*FLOATS, *INTEGERS, "bool", "f8E4M3FN", "f8E5M2")
_PRODUCTS = r"(torch|x)\.prod\(((?!dtype).)*\)"
_WIDE = "may not fit 32 bits"
REFUSALS = (
    Refusal("pallas", ".*", ("f64",), "a TPU has no f64", "a TPU has no f64"),
    Refusal("pallas", r".*float_power.*", _EVERY, "a TPU has no f64", "a TPU has no f64"),
    Refusal("pallas", r".*double\(\).*", tuple(d for d in _EVERY if d != "f32"), "no f64", "a TPU has no f64"),
    Refusal("pallas", r"x.long\(\)", (*FLOATS, "f8E4M3FN", "f8E5M2"), _WIDE, "the numbers may not fit 32 bits"),
    Refusal(
        "pallas", _PRODUCTS, ("i32", "i64", "i8", "ui8"), _WIDE, "torch multiplies in 64 bits; say `dtype=torch.int32`"
    ),
)

#: Answered while a kernel is imported, and what has no one value to compare: not in the table.
WITHOUT_VALUES = {
    **dict.fromkeys(("dim", "size", "numel", "element_size", "is_contiguous", "is_floating_point"), "a Python value"),
    **dict.fromkeys(("empty", "empty_like", "new_empty"), "unspecified elements"),
    **dict.fromkeys(
        ("rand", "randn", "randint", "rand_like", "randn_like", "randint_like"), "by a seed of torch's generator"
    ),
}


def refusal(target: str, call: str, dtype: str) -> Refusal | None:
    """Why a target refuses a call on inputs of a dtype; None where it does not."""
    for rule in REFUSALS:
        if rule.target == target and dtype in rule.dtypes and re.fullmatch(rule.calls, call):
            return rule
    return None
