"""Arithmetic of bf16 numbers that is rounded to bf16: in bf16 on TPUs that have it, with torch's own bits."""

import operator

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dialects.tile import ROUNDED_ONCE, TABLE

FUNCTIONS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "neg": lambda x, y: -x,
    "abs": lambda x, y: abs(x),
}
SHAPE = (48, 200)


def kernel_of(function):
    def arithmetic(x, y):
        out = torch.empty_like(x)
        for i, j in hl.tile(out.size(), block_size=[16, 128]):
            out[i, j] = function(x[i, j], y[i, j])
        return out

    return arithmetic


def operands():
    """Numbers of all sizes whose results are 0 or normal, with ties, zeros of both signs, infinities and NaN."""
    torch.manual_seed(5)
    x, y = (torch.randn(SHAPE) * torch.exp2(torch.randint(-12, 13, SHAPE)) for _ in range(2))
    special = torch.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, 3.0e38])
    x[:7, :7], y[:7, :7] = special[:, None], special
    return x.bfloat16(), y.bfloat16()


def test_all_are_here():
    assert {row.name for row in TABLE if row.rule is ROUNDED_ONCE} == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("target", ["reference", "pallas:strict", "triton:interpret"])
def test_values(name, target):
    """Bit for bit, but for which zero and which NaN."""
    x, y = operands()
    found = kopt.kernel(kernel_of(FUNCTIONS[name]), target=target)(x, y)
    torch.testing.assert_close(found, FUNCTIONS[name](x, y), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ir_values(name):
    """The ops themselves, in all lowerings: a pass is not what makes them right."""
    x, y = operands()
    inputs = "%a" if name in ("neg", "abs") else "%a, %b"
    tile = "!tile.tile<b0=16 x b1=128 x bf16>"
    array = f"memref<{SHAPE[0]}x{SHAPE[1]}xbf16>"
    text = f"""
        func.func @f(%x: {array}, %y: {array}) -> {array} {{
          %o = host.alloc : {array}
          tile.grid (%i: b0=16, %j: b1=128) in ({SHAPE[0]}, {SHAPE[1]}) {{
            %a = tile.load %x[%i, %j] : {array} -> {tile}
            %b = tile.load %y[%i, %j] : {array} -> {tile}
            %r = tile.{name} {inputs} : {tile}
            tile.store %r, %o[%i, %j] : {tile}, {array}
          }}
          func.return %o : {array}
        }}
    """
    expected = FUNCTIONS[name](x, y)
    for target in ("reference", "pallas:interpret", "triton:interpret"):
        found = kopt.lower_module(kopt.parse(text), target=target).compile()(x, y)
        torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["v6e", "tpu7x", "v5e"])
def test_compiles(chip):
    """libtpu takes each of them, on chips with bf16 and without."""

    def all_of_them(x, y):
        out = torch.empty_like(x)
        for i, j in hl.tile(out.size(), block_size=[16, 128]):
            a, b = x[i, j], y[i, j]
            out[i, j] = torch.maximum(torch.minimum(a + b, a * b), -abs(a - b))
        return out

    lowered = kopt.kernel(all_of_them).lower(*operands(), target=f"pallas:{chip}")
    assert ("float32" in lowered.source) == (chip == "v5e")
    report = lowered.report(estimates=False)
    assert report["legal"], report["reason"]
