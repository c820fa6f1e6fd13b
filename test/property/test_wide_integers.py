"""64-bit integers on a target that has none: what it computes is what torch does, or it says no."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

import kopt
from test.property.test_kernels import SEED
from test.property.wide_integers import NUMBERS, SMALL, expression

_TEXT = """\
import torch
import kopt.language as hl


def kernel(a, b):
    out = torch.empty({shape}, dtype={dtype})
    for i in hl.tile(a.size(0)):
        x, y = a[i, :], b[i, :]
        out[i, :] = {text}
    return out
"""
SHARDS, EACH = 5, 15
#: Of the kernels at small numbers, how many must be computed: the others would have to be proved, or need 64 bits.
_COMPUTED = 0.3


def _kernel(text: str, result: torch.Tensor, folder: Path, number: int) -> Any:
    path = folder / f"kernel{number}.py"
    path.write_text(_TEXT.format(shape=list(result.shape), dtype=result.dtype, text=text))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return kopt.kernel(module.kernel)


def _inputs(draw: Random, numbers: tuple[int, ...]) -> list[torch.Tensor]:
    return [torch.tensor([[draw.choice(numbers) for _ in range(6)] for _ in range(40)]) for _ in range(2)]


def _computed(kernel: Any, text: str, inputs: list[torch.Tensor]) -> bool:
    """Whether the target computes an expression, which then is right."""
    x, y = inputs
    wanted = eval(text, {"torch": torch, "x": x, "y": y})
    try:
        got = kernel.on("pallas:interpret")(x, y)
    except kopt.KoptError:
        return False
    assert torch.equal(got, wanted), f"{text}\n{x[got != wanted][:5]} {y[got != wanted][:5]}"
    return True


@pytest.mark.parametrize("shard", range(SHARDS))
def test_32_bits_serve_or_the_target_says_so(shard: int, tmp_path, record_property) -> None:
    """Comparisons, arithmetic, sums and casts of numbers that fit and of numbers that do not."""
    record_property("KOPT_FUZZ_SEED", SEED)
    draw = Random(SEED * SHARDS + shard)
    computed = 0
    for number in range(EACH):
        text, small, huge = expression(draw), _inputs(draw, SMALL), _inputs(draw, NUMBERS)
        result = eval(text, {"torch": torch, "x": small[0], "y": small[1]})
        kernel = _kernel(text, result, tmp_path, number)
        computed += _computed(kernel, text, small)
        _computed(kernel, text, huge)
    assert computed >= _COMPUTED * EACH
