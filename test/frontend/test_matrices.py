"""Products of matrices, and sums of products by letters: as torch."""

from __future__ import annotations

import random

import pytest
import torch

import kopt.language as hl

from .support import check, reference

SIZES = {"i": 2, "j": 3, "k": 4, "l": 5, "m": 1}
#: Letters of the first operand alone, of both, and of the second alone; kept, summed over, and in any order.
EQUATIONS = """
ij,jk->ik; ij,jk->ki; ij,jk->k; ij,jk->i; ij,jk->; ij,jk->j; ij,jk->ijk; ij,jk->jik; ij,kl->ijkl; ij,kl->lk; ij,ij->ij
ij,ij->; ij,ji->ji; ijk,ikl->ijl; ijk,lik->jil; ijk,jk->i; ijk,k->; i,j->ji; i,i->; i,i->i; ij->ji; ij->; ijk->kj
ij,jk; ji,ik; ba,a; imj,jk->ik; im,jm->ij; im,mj->imj; ij,jk,kl->il; i,j,k->kij; ij,jk,ik->; ijk,jl,kl->il; ij,j,j->i
"""
TESTED = [each.strip() for each in EQUATIONS.replace("\n", ";").split(";") if each.strip()]


def drawn(seed: int) -> str:
    """An equation of two or three operands."""
    draw = random.Random(seed)
    terms = ["".join(draw.sample("ijklm", draw.randint(1, 3))) for _ in range(draw.choice((2, 2, 3)))]
    letters = sorted(set("".join(terms)))
    return f"{','.join(terms)}->{''.join(draw.sample(letters, draw.randint(0, min(4, len(letters)))))}"


def compared(equation: str) -> None:
    sizes = SIZES | {"a": 4, "b": 3}
    draw = torch.Generator().manual_seed(len(equation))
    left = equation.partition("->")[0].split(",")
    operands = [torch.randint(-5, 6, [sizes[c] for c in term], generator=draw).float() for term in left]

    def summed(*given):
        wanted = torch.einsum(equation, *[one.to("meta") for one in operands])
        out = torch.empty([1, *wanted.shape], dtype=torch.float32)
        for i in hl.grid(1):
            out[i] = torch.einsum(equation, *[one[...] for one in given])
        return out

    torch.testing.assert_close(reference(summed, *operands)[0], torch.einsum(equation, *operands), msg=equation)


@pytest.mark.parametrize("equation", TESTED)
def test_as_torch(equation: str) -> None:
    compared(equation)


@pytest.mark.parametrize("seed", range(20))
def test_drawn(seed: int) -> None:
    compared(drawn(seed))


A, B, C = (torch.randint(-9, 9, shape).float() for shape in ((8, 16), (16, 4), (8, 4)))


@pytest.mark.parametrize("given", [None, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("summed", [None, torch.float32, torch.bfloat16])
def test_products_with_a_sum_and_a_dtype(given: torch.dtype | None, summed: torch.dtype | None) -> None:
    """The accumulator's dtype, else the one that is asked for, which the product has before it is added."""

    def product(a, b, c):
        out = torch.empty([8, 4], dtype=torch.float32, device=a.device)
        for i in hl.tile(8, block_size=4):
            acc = c[i, :] if summed is not None else None
            out[i, :] = hl.dot(a[i, :], b[:, :], acc=acc, out_dtype=given).to(torch.float32)
        return out

    start = C.to(summed or torch.float32)
    exact = (A @ B / 4 * 8).to(given or torch.float32)
    wanted = exact if summed is None else start + exact.to(summed)
    check(product, [A / 4, B * 8, start], wanted.float())
