"""Sums of products by letters: as torch, for equations of all forms."""

from __future__ import annotations

import random

import pytest
import torch

import kopt.language as hl

from .support import reference

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
