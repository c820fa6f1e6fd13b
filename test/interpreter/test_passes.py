"""Passes on blocks change no result: the IR examples, before and after, with inserted masks taken at their word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import bf16

from kopt import pass_manager
from kopt.context import make_context
from kopt.interpreter import run
from kopt.interpreter.rounding import rounded
from kopt.parsing import parse_module

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "ir"
CLEAN = "canonicalize,cse,dce"
PIPELINES = [
    CLEAN,
    f"{CLEAN},functionalise-host",
    f"{CLEAN},functionalise-host,eliminate-output-only",
    f"{CLEAN},functionalise-host,eliminate-output-only{{mode=donate}}",
    f"{CLEAN},functionalise-host,insert-masks",
    f"{CLEAN},split-odd-blocks,fold-into-accesses,convert-slices-to-gathers,pad-to-power-of-two,insert-masks",
]


def arguments(name: str) -> list[np.ndarray]:
    """Random arguments of an example."""
    random = np.random.default_rng(0)
    if name == "gather":
        return [random.standard_normal((300, 200), np.float32), random.integers(0, 300, 1000).astype(np.int32)]
    shapes = {"softmax": [(1000, 2560)], "matmul": [(1000, 600), (600, 500)]}[name]
    arrays = [random.standard_normal(shape, np.float32) for shape in shapes]
    return [rounded(array, bf16) for array in arrays] if name == "matmul" else arrays


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", ["softmax", "matmul", "gather"])
def test_results_stay(name: str, pipeline: str) -> None:
    """Missing masks would show as NaN, other mistakes as other numbers."""
    text = (EXAMPLES / f"{name}.mlir").read_text()
    before, after = parse_module(text), parse_module(text)
    pass_manager.run(after, make_context(), pass_manager.parse_pipeline(pipeline), verify_each=True)
    wanted = run(before, name, arguments(name))
    found = run(after, name, arguments(name), masked="insert-masks" in pipeline)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
