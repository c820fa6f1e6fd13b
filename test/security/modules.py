"""Modules whose every name is a hole that a test fills, and the rules that emitted Python keeps whatever fills them."""

from __future__ import annotations

import ast
import re

SOFTMAX = """
func.func @{function}({x}: memref<100x64xf32>) -> memref<100x64xf32> {{
  {out} = host.alloc : memref<100x64xf32>
  {work} = host.call "aten.exp.default"({x}) args [unit] : (memref<100x64xf32>) -> (memref<100x64xf32>)
  tile.grid ({i}: b0=32) in (100) {{
    {v} = tile.load {work}[{i}, :] : memref<100x64xf32> -> !tile.tile<b0=32 x 64 x f32>
    {m} = tile.reduce max {v} [1] : !tile.tile<b0=32 x 64 x f32>
    {w} = tile.broadcast {m} dims [0] : !tile.tile<b0=32 x f32> to !tile.tile<b0=32 x 64 x f32>
    {d} = tile.sub {v}, {w} : !tile.tile<b0=32 x 64 x f32>
    tile.store {d}, {out}[{i}, :] : !tile.tile<b0=32 x 64 x f32>, memref<100x64xf32>
  }}
  func.return {out} : memref<100x64xf32>
}}
"""

PROGRAM = """
func.func @{function}({x}: memref<8xf32>) -> memref<8xf32> {{
  {work} = host.call "aten.exp.default"({x}) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  {out} = symm.all_reduce add {work} group "tp" : memref<8xf32> to memref<8xf32>
  func.return {out} : memref<8xf32>
}}
"""

#: Two extents that differ from call to call, of which one is computed with.
OPEN = """
func.func @f(%x: memref<?xf32>, %y: memref<?xf32>) -> memref<?xi32> attributes {{tile.extents = [{first}, {second}]}} {{
  %n = tile.dim %x 0 : memref<?xf32>
  %m = tile.dim %y 0 : memref<?xf32>
  %out = host.alloc {{tile.extents = [{first}]}} : memref<?xi32>
  tile.grid (%i: b0=1024) in (%n) {{
    %v = tile.load %x[%i] : memref<?xf32> -> !tile.tile<b0=1024 x f32>
    %k = tile.cast %v : !tile.tile<b0=1024 x f32> to !tile.tile<b0=1024 x i32>
    %l = tile.splat %n : index to !tile.tile<b0=1024 x i32>
    %w = tile.add %k, %l : !tile.tile<b0=1024 x i32>
    tile.store %w, %out[%i] : !tile.tile<b0=1024 x i32>, memref<?xi32>
  }}
  tile.grid (%j: b1=1024) in (%m) {{
    %v = tile.load %y[%j] : memref<?xf32> -> !tile.tile<b1=1024 x f32>
    tile.store %v, %y[%j] : !tile.tile<b1=1024 x f32>, memref<?xf32>
  }}
  func.return %out : memref<?xi32>
}}
"""

#: The names that emitted modules import what they use by.
IMPORTED = {"jax", "jnp", "pl", "pltpu", "P", "functools", "torch", "triton", "tl", "dist", "symm_mem"}
BUILTINS = set(
    "ValueError abs any bool enumerate float int isinstance iter len list max min next range sum tuple zip".split()
)
#: What hostile texts want called: it may stand in strings and as a part of names only.
INJECTED = re.compile(r"\b(os|sys|system|remove|pwned|compile|__\w+__)\b")
IMPORTS = {
    "import jax", "import jax.numpy as jnp", "from jax.experimental import pallas as pl", "import functools",
    "from jax.experimental.pallas import tpu as pltpu", "from jax.sharding import PartitionSpec as P", "import torch",
    "import triton", "import triton.language as tl", "import torch.distributed as dist",
    "from torch.distributed import _symmetric_memory as symm_mem",
}  # fmt: skip


def check_emitted(source: str) -> ast.Module:
    """Parses an emitted module and refuses what no printer of ours writes."""
    tree = ast.parse(source)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {ast.unparse(node) for node in nodes} <= IMPORTS
    imported = {alias.asname or alias.name for node in nodes for alias in node.names}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len({function.name for function in functions}) == len(functions)
    made = {function.name for function in functions}
    for function in functions:
        _check_function(function, made, imported)
    assert not INJECTED.search(ast.unparse(_without_strings(tree)))
    return tree


def _check_function(function: ast.FunctionDef, made: set[str], imported: set[str]) -> None:
    """Nothing imported or built in is assigned; every name that is read is known."""
    stored = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    stored |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    stored |= {node.name for node in ast.walk(function) if isinstance(node, ast.FunctionDef)} - {function.name}
    read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    called = {n.func.id for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert not stored & imported and not function.name.startswith("__") and function.name not in IMPORTED
    assert read <= stored | imported | BUILTINS | made, read - stored
    assert not called & BUILTINS & stored


def _without_strings(tree: ast.Module) -> ast.Module:
    class Blank(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.AST:
            return ast.Constant("") if isinstance(node.value, str) else node

        def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
            return ast.Constant("")

    return Blank().visit(ast.parse(ast.unparse(tree)))
