"""`kopt.program`: what it records, what it refuses, and that ranks compute what torch's collectives give."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

import kopt

from . import stand_in_graphs, traced
from .launching import torchrun

SPECS = ("f32[20,24]", "f32[24,40]", "f32[40,24]")


def results(folder: Path, case: str, ranks: int, seconds: int = 120) -> tuple[int, list]:
    """The launcher's exit code, and what each rank that lived wrote."""
    environment = {"TRITON_INTERPRET": "1", "KOPT_TIME_LIMIT": str(seconds)}
    code, errors = torchrun(ranks, "traced_rank.py", str(folder), case, **environment)
    files = [folder / f"result_{rank}.json" for rank in range(ranks)]
    found = [json.loads(file.read_text()) for file in files if file.exists()]
    assert found, errors[:4000]
    return code, found


@pytest.mark.slow
def test_ranks_agree_with_torch(tmp_path: Path) -> None:
    """Kernels, library calls, both kinds of collectives, arguments that are updated: repeated calls."""
    assert results(tmp_path, "right", 4) == (0, [dict.fromkeys(traced.SHAPES, 0)] * 4)


@pytest.mark.slow
def test_the_example_runs_under_torchrun() -> None:
    code, errors = torchrun(2, "../../examples/programs/tensor_parallel.py", TRITON_INTERPRET="1")
    assert code == 0, errors[:4000]


@pytest.mark.slow
def test_a_missing_rank_is_named(tmp_path: Path) -> None:
    _, (first, last) = results(tmp_path, "missing", 2, seconds=5)
    assert first[0] == "RankError" and "rank 1 of group 'tp' did not call library(f32[8,12]) within 5 s" in first[1]
    assert last is None


@pytest.mark.slow
def test_different_shapes_are_compared(tmp_path: Path) -> None:
    _, found = results(tmp_path, "mismatched", 2)
    assert [kind for kind, _ in found] == ["ArgumentError"] * 2
    assert "rank 0 calls library(f32[8,12]), rank 1 library(f32[16,12])" in found[0][1]


@pytest.mark.slow
def test_a_killed_rank_is_an_error(tmp_path: Path) -> None:
    code, found = results(tmp_path, "killed", 2)
    assert code != 0 and [kind for kind, _ in found] == ["RankError"] and "is gone" in found[0][1]


def test_the_emitted_program() -> None:
    """One symmetric buffer a product, the kernel writes where the product did, results are fresh."""
    source = traced.tensor_parallel.lower(*SPECS, "tp").source
    assert "def tensor_parallel(x, up, down, *, tp):" in source
    assert source.count("empty_strided_p2p") == 1 and "one_shot_all_reduce_out" in source
    assert source.count("@triton.jit") == 2 and re.search(r"BLOCK_\d: tl.constexpr[,)]", source)
    assert not re.search(r"\bkopt\b", source)


def test_the_library_moves_what_algorithms_cannot_combine() -> None:
    @kopt.program(all_reduce="one_shot")
    def largest(x, tp):
        return functional.all_reduce(x, "max", tp), functional.all_reduce(x, "sum", tp)

    source = largest.lower("i32[8,4]", "tp").source
    assert source.count("dist.all_reduce(") == 2 and "symm_mem" not in source


def test_captured_runs_are_partitions() -> None:
    stages = kopt.program(traced.tensor_parallel.fn, all_reduce="one_shot", capture=True).lower(*SPECS, "tp").stages()
    assert "host.partition capture" in dict(stages)["host-partition"]


def test_one_process_needs_no_group() -> None:
    """Kernels and torch calls alone are a program too."""

    @kopt.program
    def plain(x, w):
        return traced.scaled_relu(x @ w, 2.0) + 1, traced.row_sums(x)

    x, w = torch.randn(20, 24), torch.randn(24, 30)
    got = plain(x, w)
    torch.testing.assert_close(got[0], torch.relu(x @ w) * 2 + 1, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(got[1], x.sum(-1), rtol=1e-5, atol=1e-5)


def _in_place(x):
    dist.all_reduce(x)
    return x


def _sum(x, tp):
    return functional.all_reduce(x, "sum", tp)


def _product(x, tp):
    return functional.all_reduce(x, "product", tp)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: kopt.program(_product).lower("f32[8,4]", "tp"), "by 'product' is not supported"),
        (lambda: kopt.program(_sum, target="reference")("f32[8,4]", "tp"), "programs have no target"),
        (lambda: kopt.program(_product, all_reduce="tree"), "'all_reduce' is one of library"),
        (lambda: kopt.program(3), "a program is made of a Python function"),
        (lambda: kopt.program(_sum)(torch.ones(8, 4), "nobody"), "there is no process group 'nobody'"),
    ],
)
def test_refusals(make, message: str) -> None:
    with pytest.raises(kopt.KoptError, match=message):
        make()


def test_collectives_in_place_are_refused() -> None:
    """torch.distributed's own collectives write their arguments; the note names what to use."""
    dist.init_process_group(
        "gloo",
        store=dist.HashStore(),  # pyright: ignore
        rank=0,
        world_size=1,
    )
    try:
        with pytest.raises(kopt.UnsupportedError, match="'allreduce_' is not supported") as caught:
            kopt.program(_in_place).lower("f32[8,4]")
    finally:
        dist.destroy_process_group()
    assert caught.value.location is not None and "_functional_collectives" in caught.value.notes[0]


@kopt.program(capture=True)
def captured(x, y, table):
    table.add_(x)
    total = torch.exp(x) @ y
    order = torch.argsort(total, 0)  # ends a run: its result is its own
    return torch.relu(total) + order, table * 2


def test_captured_runs_are_replayed(monkeypatch) -> None:
    """Other arguments at other addresses in each call; results of earlier calls stay as they were."""
    graphs = stand_in_graphs.install(monkeypatch)
    function = captured.lower("f32[6,8]", "f32[8,8]", "f32[6,8]").compile().executable.function
    kept = []
    for number in range(4):
        given = [torch.randn(shape) for shape in ((6, 8), (8, 8), (6, 8))]
        wanted = [tensor.clone() for tensor in given]
        got = function(*given)
        x, y, table = wanted
        total = torch.exp(x) @ y
        table.add_(x)
        kept.append((got, (torch.relu(total) + torch.argsort(total, 0), table * 2), (given[2], table)))
        assert len(graphs) >= 2 and [graph.replays for graph in graphs] == [number + 1] * len(graphs)
    for got, wanted, (argument, table) in kept:
        torch.testing.assert_close(argument, table)
        for a, b in zip(got[:2], wanted, strict=True):  # the updated argument comes last
            torch.testing.assert_close(a, b)
