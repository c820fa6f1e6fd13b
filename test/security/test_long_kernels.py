"""Kernels of thousands of statements lower on every target: nothing recurses over chains of values."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator

import pytest
from xdsl.ir import Operation, SSAValue

import kopt
from kopt.analysis.bottom_up import bottom_up, users_of
from test.counting import calls

LANES = "!tile.tile<b0=32 x f32>"
NUMBERS = "!tile.tile<b0=32 x i32>"
KERNEL = """
func.func @f(%x: memref<4096xf32>) -> memref<64xf32> {{
  %out = host.alloc : memref<64xf32>
  tile.grid (%i: b0=32) in (64) {{
    {body}
  }}
  func.return %out : memref<64xf32>
}}
"""
STORE = f"\ntile.store %LAST, %out[%i] : {LANES}, memref<64xf32>"
LOAD = f"tile.load %x[%i] : memref<4096xf32> -> {LANES}"


def chain(first: str, step: str, last: str) -> Callable[[int], str]:
    """``%v1``, ``%v2``, … each by ``step`` from the one before; ``last`` uses the end of the chain."""

    def text(length: int) -> str:
        steps = [
            step.replace("%NEXT", f"%v{n + 1}").replace("%V", f"%v{n}").replace("%T", f"%t{n}") for n in range(length)
        ]
        return KERNEL.format(body="\n".join([first, *steps, last.replace("%LAST", f"%v{length}")]))

    return text


CHAINS = {
    "sums": chain(f"%v0 = {LOAD}", f"%NEXT = tile.add %V, %V : {LANES}", STORE),
    "functions": chain(f"%v0 = {LOAD}", f"%NEXT = tile.exp %V : {LANES}", STORE),
    "choices": chain(
        f"%v0 = {LOAD}", f"%T = tile.lt %V, %v0 : {LANES}\n%NEXT = tile.select %T, %V, %v0 : {LANES}", STORE
    ),
    "equal loads": chain(f"%v0 = {LOAD}", f"%T = {LOAD}\n%NEXT = tile.add %V, %T : {LANES}", STORE),
    "reshapes": chain(
        f"%v0 = {LOAD}",
        f"%T = tile.reshape %V : {LANES} to !tile.tile<b0=32 x 1 x f32>\n"
        f"%NEXT = tile.reshape %T : !tile.tile<b0=32 x 1 x f32> to {LANES}",
        STORE,
    ),
    "indices": chain(
        "%one = arith.constant 7 : index\n%v0 = tile.begin %i : !tile.range<b0=32>",
        "%T = arith.maxsi %V, %one : index\n%NEXT = arith.addi %T, %one : index",
        "%c = arith.constant 64 : index\n%q = arith.remui %LAST, %c : index\n"
        "%s = tile.shift %i by %q : !tile.range<b0=32>\n"
        f"%l = tile.load %x[%s] : memref<4096xf32> -> {LANES}" + STORE.replace("%LAST", "%l"),
    ),
    "gathered rows": chain(
        f"%one = tile.full 1 : {NUMBERS}\n%v0 = tile.index %i : !tile.range<b0=32>",
        f"%NEXT = tile.mul %V, %one : {NUMBERS}",
        f"%l = tile.load %x[%LAST] : memref<4096xf32> -> {LANES}" + STORE.replace("%LAST", "%l"),
    ),
}


_LONG = 450


@pytest.fixture
def few_frames() -> Iterator[None]:
    """Fewer frames than `_LONG` statements: 400 besides those that are there, of tests and of imports."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 400)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.parametrize("target", ["reference", "pallas:v6e", "triton:sm90"])
@pytest.mark.parametrize("kind", CHAINS)
def test_long_chains_lower(kind: str, target: str, few_frames: None) -> None:
    low = kopt.lower_module(kopt.parse(CHAINS[kind](_LONG)), target=target)
    compile(low.source or "pass", "emitted", "exec")


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90"])
@pytest.mark.parametrize("kind", ["functions", "equal loads"])
def test_time_is_linear_in_the_number_of_statements(kind: str, target: str) -> None:
    def work(length: int) -> int:
        module = kopt.parse(CHAINS[kind](length))
        return calls(lambda: kopt.lower_module(module, target=target))

    work(10)
    assert work(1200) < 5 * work(300)  # four times as many statements; quadratic work is sixteen times as much


@bottom_up()
def ones(value: SSAValue) -> int:
    """How many ways lead from a value to a leaf: exponential, where each value is looked at by each way."""
    op = value.owner
    return sum(map(ones, op.operands)) if isinstance(op, Operation) and op.operands else 1


@bottom_up(users_of)
def depth(value: SSAValue) -> int:
    return max((1 + depth(result) for use in value.uses for result in use.operation.results), default=0)


@bottom_up()
def refused(value: SSAValue) -> int:
    op = value.owner
    if not isinstance(op, Operation) or not op.operands:
        raise LookupError
    return min(map(refused, op.operands))


def test_recursion_from_the_other_end() -> None:
    module = kopt.parse(CHAINS["sums"](3000))
    sums = [op.results[0] for op in module.walk() if op.name == "tile.add"]
    assert ones(sums[-1]) == 2 * ones(sums[-2]) == 2**3000 * ones(sums[0].owner.operands[0])
    assert depth(sums[0]) == 2999
    with pytest.raises(LookupError):
        refused(sums[-1])
