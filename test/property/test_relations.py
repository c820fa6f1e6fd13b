"""What may be changed of a kernel without another bit: each relation changes the text, and means the same."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
import torch

from test.property import exploring
from test.property.exploring import Tally
from test.property.judge import module_of, results
from test.property.relations import RELATIONS, related

KERNEL = """
import torch
import kopt
import kopt.language as hl


def inputs():
    return [torch.linspace(-2, 2, 15).reshape(5, 3)]


def kernel(x):
    out = torch.zeros([5, 3], dtype=torch.float32)
    more = torch.zeros([5], dtype=torch.float32)
    sums = torch.zeros([3], dtype=torch.int32)
    for i in hl.tile(5, block_size=2):
        total = hl.zeros([i])
        for j in hl.tile(3, block_size=2):
            row = torch.exp(x[i, j] * 2).sum(1)
            total = total + row
        whole = torch.abs(x[i, :].neg())
        out[i, :] = whole
        hl.store(more, [i], total, extra_mask=total > 0.1)
        hl.atomic_add(sums, [slice(None)], whole.int().sum(0))
    return (out, more, sums)
"""


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("target", ["eager", "reference", "triton:interpret"])
def test_relations_change_the_text_and_no_bit(name: str, target: str, tmp_path: Path) -> None:
    text = next(
        found for seed in range(20) if (found := related(KERNEL, name, random.Random(seed))) != related_to_nothing()
    )
    wanted, got = (results(module_of(each, tmp_path), target) for each in (KERNEL, text))
    pairs = zip(wanted, got[: len(wanted)], strict=True)  # `flag` is one argument more
    assert all(one.equal(two) for one, two in pairs)


def related_to_nothing() -> str:
    """The kernel as `related` writes it."""
    return f"{ast.unparse(ast.parse(KERNEL))}\n"


def test_a_dead_store_that_is_none_is_found(tmp_path: Path) -> None:
    """Zeros after the values are what a wrong relation would be: the comparison sees them."""
    text = KERNEL.replace("        out[i, :] = whole\n", "        out[i, :] = whole\n        out[i, :] = whole * 0\n")
    wanted, got = (results(module_of(each, tmp_path), "reference") for each in (KERNEL, text))
    assert not torch.equal(wanted[0], got[0])


POWER = """
import torch
import torch.nn.functional as F
import kopt
import kopt.language as hl


def inputs():
    return [torch.ones(5)]


def kernel(x):
    out = torch.zeros([5])
    for i in hl.tile(5, block_size=2):
        one = torch.scalar_tensor(1)
        out[i] = F.tanhshrink(torch.exp(one))[None]
    return (out,)
"""


def test_bits_of_functions_that_a_pass_approximates_may_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power of e of a constant that a branch gives becomes one of 2: without that pass nothing differs."""
    branch = "        if x[0] > 0:\n            one = torch.scalar_tensor(1)\n        out[i]"
    changed, target = POWER.replace("        out[i]", branch), "triton:interpret"
    wanted, got = (results(module_of(each, tmp_path), target)[0] for each in (POWER, changed))
    assert not torch.equal(wanted, got)
    assert _told(POWER, changed, target, tmp_path, monkeypatch) == []


def test_other_bits_that_no_pass_approximates_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = POWER.replace("scalar_tensor(1)", "scalar_tensor(1.0000002)")
    assert _told(POWER, changed, "triton:interpret", tmp_path, monkeypatch)[0].endswith(": result 0 has other bits")


def _told(text: str, changed: str, target: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said of a kernel and the text that it is changed to."""
    monkeypatch.setattr(exploring, "related", lambda *_: changed)
    tally = Tally((target,), related={target: 1}, relation="renamed")
    assert tally.count(module_of(text, folder)) == []
    return tally.changed(text, folder)
