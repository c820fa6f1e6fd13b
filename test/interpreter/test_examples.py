"""The IR examples compute what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from kopt.interpreter import run
from kopt.parsing import parse_module

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "ir"


def example(name: str, *args: np.ndarray) -> list[np.ndarray]:
    """Run an example file."""
    path = EXAMPLES / f"{name}.mlir"
    return run(parse_module(path.read_text(), str(path)), name, list(args))


def test_softmax() -> None:
    """Against torch."""
    x = torch.randn(1000, 2560, generator=torch.Generator().manual_seed(0))
    np.testing.assert_allclose(example("softmax", x.numpy())[0], torch.softmax(x, 1).numpy(), rtol=1e-5)


def test_matmul() -> None:
    """Against torch in f32, rounded to bf16."""
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(*shape, generator=generator).bfloat16().float() for shape in ((1000, 600), (600, 500)))
    expected = (x @ y).bfloat16().float().numpy()
    np.testing.assert_allclose(example("matmul", x.numpy(), y.numpy())[0], expected, rtol=1e-2, atol=1e-4)


def test_gather() -> None:
    """Rows and single elements."""
    random = np.random.default_rng(0)
    table, ids = random.standard_normal((300, 200), np.float32), random.integers(0, 300, 1000).astype(np.int32)
    rows, picked = example("gather", table, ids)
    np.testing.assert_array_equal(rows, table[ids])
    np.testing.assert_array_equal(picked, table.reshape(-1)[ids * 200])
