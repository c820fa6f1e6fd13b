"""A plan of the memory changes no result: random programs, in which reused memory begins as poison."""

from __future__ import annotations

import random

import numpy as np
import pytest

import kopt
from kopt.interpreter import run

ARRAY = "memref<4x4xf32>"
VIEW = "memref<4x4xf32, strided<[1, 4]>>"
STEPS = 14


def program(seed: int) -> str:
    """Arrays that are allocated first and written and read in random order, by calls and copies, through views too."""
    rng = random.Random(seed)
    lines = [f"%a{n} = host.alloc{rng.choice(['', ' fill 1.0'])} : {ARRAY}" for n in range(STEPS)]
    known, views = ["%x"], [f"%t = host.permute %x [1, 0] : {ARRAY} to {VIEW}"]
    for n in range(STEPS):
        one, two, view = rng.choice(known[-3:]), rng.choice(known), rng.choice(views[-2:]).split()[0]
        target = rng.choice([f"%a{n}", f"%a{n}", rng.choice(known[1:] or [f"%a{n}"])])
        lines += [views[-1]] if n == 0 else []
        lines += _step(rng.choice(("tanh", "add", "mm", "copy", "turned", "turned")), n, one, two, view, target)
        if target == f"%a{n}":
            known.append(target)
            views.append(f"%t{n} = host.permute {target} [1, 0] : {ARRAY} to {VIEW}")
            lines.append(views[-1])
    body = "\n".join(f"  {line}" for line in lines)
    results = f"({ARRAY}, {ARRAY})"
    return f"func.func @f(%x: {ARRAY}) -> {results} {{\n{body}\n  func.return {known[-1]}, %x : {ARRAY}, {ARRAY}\n}}"


def _step(kind: str, n: int, one: str, two: str, view: str, target: str) -> list[str]:
    if kind == "mm" and target in (one, two):
        kind = "add"
    binary = f"({ARRAY}, {ARRAY}) to {ARRAY}"
    return {
        "tanh": [f'host.call_out "aten.tanh.default"({one}) args [unit] to {target} : ({ARRAY}) to {ARRAY}'],
        "add": [f'host.call_out "aten.add.Tensor"({one}, {two}) args [unit, unit] to {target} : {binary}'],
        "mm": [f'host.call_out "aten.mm.default"({one}, {two}) args [unit, unit] to {target} : {binary}'],
        "copy": [f"host.copy {one} to {target} : {ARRAY}, {ARRAY}"],
        "turned": [
            f'%n{n} = host.call "aten.add.Tensor"({one}, {view}) args [unit, unit] : ({ARRAY}, {VIEW}) -> ({ARRAY})',
            f"host.copy %n{n} to {target} : {ARRAY}, {ARRAY}",
        ],
    }[kind]


@pytest.mark.parametrize("pipeline", ["plan-buffers", "host-partition,host-hoist-allocs,plan-buffers"])
def test_a_plan_changes_no_result(pipeline: str) -> None:
    """Before and after, alone and with captured partitions; some of the programs do reuse memory."""
    reuses = 0
    for seed in range(30):
        x = np.random.default_rng(seed).standard_normal((4, 4), np.float32) / 2
        wanted = run(kopt.parse(program(seed)), "f", [x.copy()])
        module = kopt.parse(program(seed))
        kopt.run_pipeline(module, f"{pipeline},verify-symm")
        reuses += "host.reuse" in str(module)
        for got, expected in zip(run(module, "f", [x.copy()]), wanted, strict=True):
            np.testing.assert_array_equal(got, expected, f"seed {seed}")
    assert reuses > 5
