"""Kernels with block sizes in their source: those are taken as they are, where a configuration's are made to fit."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


def with_blocks(kernel: Callable[..., Any], sizes: Sequence[int]) -> Callable[..., Any]:
    """The kernel whose tiles are as large as ``sizes`` says, in order of appearance."""
    tree = ast.parse(inspect.getsource(kernel))
    numbers = iter(sizes)
    for loop in _loops(tree):
        assert isinstance(loop.iter, ast.Call)
        many = isinstance(loop.target, ast.Tuple)
        count = len(loop.target.elts) if isinstance(loop.target, ast.Tuple) else 1
        own: list[ast.expr] = [ast.Constant(next(numbers)) for _ in range(count)]
        loop.iter.keywords.append(ast.keyword("block_size", ast.List(own, ast.Load()) if many else own[0]))
    return _loaded(f"import torch\nimport kopt.language as hl\n\n\n{ast.unparse(tree)}\n", kernel.__name__)


def _loops(node: ast.AST) -> Iterator[ast.For]:
    """The loops over tiles, in order of appearance."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.For) and ast.unparse(child.iter).startswith("hl.tile("):
            yield child
        yield from _loops(child)


def _loaded(text: str, name: str) -> Callable[..., Any]:
    """A function of a module's text, which stands in a file so that its source is found."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", prefix="kernel_", delete=False) as file:
        file.write(text)
    path = Path(file.name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)
