"""The generator draws from all of the frontend's tables, and the judge finds what is wrong."""

from __future__ import annotations

import torch

from test.property.eager import Eager, Language
from test.property.judge import judge, module_of
from test.property.operations import WITHOUT_CALLS, calls, tables

KERNEL = """
import torch
import kopt.language as hl


def inputs():
    return [torch.linspace(-2, 2, 15).reshape(5, 3)]


def kernel(x):
    out = torch.empty([5], dtype=torch.float32)
    for i in hl.tile(5, block_size=2):
        total = hl.zeros([i])
        for j in hl.tile(3, block_size=2):
            total = total + torch.exp(x[i, j]).sum(1)
        out[i] = total
    return (out,)
"""


def test_every_name_of_the_tables_is_drawn() -> None:
    """A new entry whose arguments no pattern fits needs one."""
    silent = [name for name in tables() if name not in WITHOUT_CALLS and not calls()[name]]
    assert not silent, f"no pattern of test/property/operations.py fits {silent}"
    assert not set(WITHOUT_CALLS) - set(tables())


def test_the_judge_runs_kernels_block_by_block(tmp_path) -> None:
    """What a kernel of tiles means, in torch alone."""
    module = module_of(KERNEL, tmp_path)
    (wanted,) = judge(module).wanted
    torch.testing.assert_close(wanted, module.inputs()[0].exp().sum(1))


def test_the_judge_finds_small_errors(tmp_path) -> None:
    """A result off by a few hundred ulps is wrong, one off by one is not."""
    verdict = judge(module_of(KERNEL, tmp_path))
    (wanted,) = verdict.wanted
    assert not verdict.problems([wanted * (1 + 2**-23)])
    assert verdict.problems([wanted * (1 + 2**-14)])
    assert verdict.problems([wanted.bfloat16()])


def test_what_torch_leaves_undefined_is_not_judged(tmp_path) -> None:
    """Casts of what no integer holds differ from run to run."""
    text = KERNEL.replace("torch.exp(x[i, j])", "(x[i, j] * 1e30).to(torch.int32).to(torch.float32)")
    verdict = judge(module_of(text, tmp_path))
    assert not verdict.problems([verdict.wanted[0] + 5])


def test_tiles_index_tensors_of_torch() -> None:
    """A tile is a slice that ends with the tensor."""
    x = torch.arange(10)
    with Eager():
        parts = [x[tile] for tile in Language.tile(10, block_size=4)]
    assert [part.tolist() for part in parts] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
