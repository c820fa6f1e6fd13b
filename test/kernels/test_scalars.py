"""Scalars of a kernel's IR on every target: as the reference computes them, of both signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import kopt
from kopt.interpreter import run

#: ``%n`` is -5 to 2 and ``%d`` 7 to -7, odd; ``%p`` 0 to 7 and ``%q`` 0 to 2; ``%b`` is true where ``%n`` is less.
INTEGERS = """
addi %n, %d : index; subi %n, %d : index; muli %n, %d : index; divsi %n, %d : index; floordivsi %n, %d : index
ceildivsi %n, %d : index; remsi %n, %d : index; divui %p, %c3 : index; remui %p, %c3 : index; andi %n, %d : index
ori %n, %d : index; xori %n, %d : index; minsi %n, %d : index; maxsi %n, %d : index; minui %p, %q : index
maxui %p, %q : index; select %b, %n, %d : index; cmpi eq, %n, %d : index; cmpi ne, %n, %d : index
cmpi slt, %n, %d : index; cmpi sle, %n, %d : index; cmpi sgt, %n, %d : index; cmpi sge, %n, %d : index
"""
#: What Triton has no form for.
OTHERS = """
shrsi %n, %q : index; shrui %p, %q : index; shli %n, %q : index; trunci %i : i32 to i1; trunci %i : i32 to i8
extsi %i1 : i1 to i32; extui %i1 : i1 to i32; extsi %i8 : i8 to i32; extui %i8 : i8 to i32; sitofp %i : i32 to f32
sitofp %i1 : i1 to f32; fptosi %x : f32 to i32; negf %x : f32; addf %x, %h : f32; subf %x, %h : f32
mulf %x, %h : f32; divf %x, %h : f32
"""
PREFIX = """
    %p = tile.begin %g : !tile.range<b0=1>
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %q = arith.remui %p, %c3 : index
    %n = arith.subi %p, %c5 : index
    %less = arith.subi %c3, %p : index
    %even = arith.muli %less, %c2 : index
    %d = arith.addi %even, %c1 : index
    %b = arith.cmpi slt, %n, %d : index
    %i = arith.index_cast %n : index to i32
"""
CASTS = """
    %i1 = arith.trunci %i : i32 to i1
    %i8 = arith.trunci %i : i32 to i8
    %x = arith.sitofp %i : i32 to f32
    %h = arith.constant 2.5 : f32
"""
TORCH = {"i32": torch.int32, "i8": torch.int8, "i1": torch.bool, "f32": torch.float32}
CELLS = 8


def rows(table: str) -> list[str]:
    return [each.strip() for each in table.replace("\n", ";").split(";") if each.strip()]


def kernel(lines: list[str]) -> tuple[str, list[torch.Tensor]]:
    """A kernel that stores what each line computes in each cell, and the arrays for it."""
    types = ["i1" if line.startswith("cmpi") else line.split()[-1] for line in lines]
    stored = ["i32" if type == "index" else type for type in types]
    body = "".join(
        f"    %v{n} = arith.{line}\n    %t{n} = tile.splat %v{n} : {type} to !tile.tile<{element}>\n"
        f"    tile.store %t{n}, %o{n}[%p] : !tile.tile<{element}>, memref<{CELLS}x{element}>\n"
        for n, (line, type, element) in enumerate(zip(lines, types, stored, strict=True))
    )
    parameters = ", ".join(f"%o{n}: memref<{CELLS}x{element}>" for n, element in enumerate(stored))
    casts = CASTS if any("%i" in line or "%x" in line for line in lines) else ""
    grid = f"tile.grid (%g: b0=1) in ({CELLS}) {{{PREFIX}{casts}{body}  }}"
    return f"func.func @f({parameters}) {{\n  {grid}\n  func.return\n}}", [
        torch.zeros(CELLS, dtype=TORCH[element]) for element in stored
    ]


@pytest.mark.parametrize(
    ("target", "table"), [("pallas:interpret", INTEGERS), ("pallas:interpret", OTHERS), ("triton:interpret", INTEGERS)]
)
def test_as_the_reference(target: str, table: str) -> None:
    lines = rows(table)
    text, arrays = kernel(lines)
    wanted: list[Any] = [array.numpy().copy() for array in arrays]
    run(kopt.parse(text), "f", wanted)
    kopt.lower_module(kopt.parse(text), target=target).compile()(*arrays)
    for line, array, want in zip(lines, arrays, wanted, strict=True):
        np.testing.assert_array_equal(array.numpy(), want, err_msg=line)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("ceildivsi %n, %d : index", [0, 0, -1, -2, 1, 0, 0, 0]),
        ("floordivsi %n, %d : index", [-1, -1, -1, -2, 1, 0, -1, -1]),
        ("divsi %n, %d : index", [0, 0, -1, -2, 1, 0, 0, 0]),
        ("remsi %n, %d : index", [-5, -4, 0, 0, 0, 0, 1, 2]),
        ("extsi %i1 : i1 to i32", [-1, 0, -1, 0, -1, 0, -1, 0]),
        ("extui %i8 : i8 to i32", [251, 252, 253, 254, 255, 0, 1, 2]),
        ("sitofp %i1 : i1 to f32", [-1, 0, -1, 0, -1, 0, -1, 0]),
    ],
)
def test_the_reference_is_mlir(line: str, wanted: list[int]) -> None:
    """Numbers that MLIR's description gives."""
    text, arrays = kernel([line])
    found: list[Any] = [array.numpy() for array in arrays]
    run(kopt.parse(text), "f", found)
    assert list(found[0]) == wanted
