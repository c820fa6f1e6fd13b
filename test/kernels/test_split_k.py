"""``split_k`` in the configuration: reductions dealt out to more cells give what they gave."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dtypes import BY_SPEC
from kopt.errors import ConfigError
from kopt.runtime.tolerance import mismatch


def matmul(x: torch.Tensor, y: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """A product with an epilogue, which waits until all parts are there."""
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype)
    for i, j in hl.tile(out.size()):
        acc = hl.zeros([i, j], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[i, k], y[k, j])
        out[i, j] = torch.relu(acc + bias[j]).to(x.dtype)
    return out


def sums(x: torch.Tensor) -> torch.Tensor:
    """A sum and nothing else: parts update the output."""
    out = torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        acc = hl.zeros([i], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = acc + x[i, k].to(torch.float32).sum(-1)
        out[i] = acc
    return out


def largest(x: torch.Tensor) -> torch.Tensor:
    """A maximum, NaN wherever a row has one."""
    out = torch.empty([x.size(0)], dtype=x.dtype)
    for i in hl.tile(x.size(0)):
        acc = hl.full([i], float("-inf"), dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = torch.maximum(acc, x[i, k].amax(-1))
        out[i] = acc
    return out


TARGETS = ["reference", "pallas:interpret", "triton:interpret"]


def run(fn, args, target: str, split_k: int, deterministic: bool, blocks: list[int]) -> torch.Tensor:
    config = {"split_k": split_k, "deterministic": deterministic, "block_sizes": blocks}
    return kopt.kernel(fn, config=config, target=target)(*args)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("split_k", [2, 3, 64])
@pytest.mark.parametrize("target", TARGETS)
def test_matmul(target: str, split_k: int, deterministic: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    x, y, bias = (torch.randn(s, generator=generator).bfloat16() for s in ([40, 600], [600, 130], [130]))
    wanted = torch.relu(x.double() @ y.double() + bias.double())
    found = run(matmul, (x, y, bias), target, split_k, deterministic, [16, 128, 128])
    assert mismatch(found, wanted.bfloat16(), BY_SPEC["bf16"], 600) is None


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_sums(target: str, deterministic: bool) -> None:
    x = torch.randn(40, 600, generator=torch.Generator().manual_seed(1))
    found = run(sums, (x,), target, 3, deterministic, [16, 128])
    assert mismatch(found, x.double().sum(-1).float(), BY_SPEC["f32"], 600) is None


@pytest.mark.parametrize("target", TARGETS)
def test_maxima_keep_nan(target: str) -> None:
    x = torch.randn(40, 600, generator=torch.Generator().manual_seed(2))
    x[3, 500] = float("nan")
    torch.testing.assert_close(run(largest, (x,), target, 3, False, [16, 128]), x.amax(-1), equal_nan=True)


def test_refused_where_there_is_nothing_to_split() -> None:
    def copy(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i] = x[i]
        return out

    with pytest.raises(ConfigError, match="its cells have no loop"):
        kopt.kernel(copy, config={"split_k": 4}, target="pallas:interpret")(torch.ones(8))


def test_factor_is_checked() -> None:
    with pytest.raises(ConfigError, match="'split_k' is a positive number"):
        kopt.kernel(sums, config={"split_k": 0})


def test_accumulators_need_no_initialised_memory() -> None:
    """The workspace is filled with zeros for atomics; on a TPU its accumulator knows that, so nothing fills it."""
    config = {"split_k": 4, "block_sizes": [16, 128, 128]}
    low = kopt.kernel(matmul).lower("bf16[64,600]", "bf16[600,256]", "bf16[256]", target="pallas:tpu7x", config=config)
    assert "zeros" not in low.source
    assert "input_output_aliases" not in low.source
    assert any("returned by the launch" in str(remark) and "parts" in str(remark) for remark in low.remarks)
