"""Gathers of what another access has on the chip: one buffer serves both, the array is read once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.lowered import Lowered
from kopt.parsing import parse_module

STRICT = pytest.param("pallas:strict", marks=pytest.mark.slow)


def of_rows(logits, labels):
    losses = torch.empty([logits.size(0)], dtype=torch.float32)
    for rows in hl.tile(logits.size(0)):
        at_label = hl.load(logits, [rows.index[:, None], labels[rows][:, None]]).squeeze(1).to(torch.float32)
        values = logits[rows, :].to(torch.float32)
        losses[rows] = torch.log(torch.exp(values).sum(-1)) - at_label
    return losses


def of_one_row(logits, labels):
    losses = torch.empty([logits.size(0)], dtype=torch.float32)
    for i in hl.grid(logits.size(0)):
        values = logits[i, :].to(torch.float32)
        losses[i] = torch.log(torch.exp(values).sum(-1)) - logits[i, labels[i]].to(torch.float32)
    return losses


def several_labels(logits, labels):
    losses = torch.empty([logits.size(0), labels.size(1)], dtype=torch.float32)
    for rows in hl.tile(logits.size(0)):
        values = logits[rows, :].to(torch.float32)
        at_labels = hl.load(logits, [rows.index[:, None], labels[rows, :]]).to(torch.float32)
        losses[rows, :] = torch.log(torch.exp(values).sum(-1))[:, None] - at_labels
    return losses


def masked_labels(logits, labels):
    losses = torch.empty([logits.size(0)], dtype=torch.float32)
    for rows in hl.tile(logits.size(0)):
        label = labels[rows][:, None]
        at_label = hl.load(logits, [rows.index[:, None], label], extra_mask=label >= 0).squeeze(1).to(torch.float32)
        losses[rows] = torch.log(torch.exp(logits[rows, :].to(torch.float32)).sum(-1)) - at_label
    return losses


def other_rows(logits, labels):
    """The next row is not the one that is there."""
    losses = torch.empty([logits.size(0)], dtype=torch.float32)
    for rows in hl.tile(logits.size(0)):
        next_row = (rows.index + 1) % logits.size(0)
        at_label = hl.load(logits, [next_row[:, None], labels[rows][:, None]]).squeeze(1).to(torch.float32)
        losses[rows] = torch.log(torch.exp(logits[rows, :].to(torch.float32)).sum(-1)) - at_label
    return losses


def _loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    rows = logits.float()
    return torch.logsumexp(rows, 1) - rows.gather(1, labels.long()[:, None])[:, 0]


def _losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(logits.float(), 1)[:, None] - logits.float().gather(1, labels.long())


def _masked(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    at_labels = logits.float().gather(1, labels.long().clamp(min=0)[:, None])[:, 0]
    return torch.logsumexp(logits.float(), 1) - torch.where(labels >= 0, at_labels, 0.0)


def _next(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(logits.float(), 1) - logits.float().roll(-1, 0).gather(1, labels.long()[:, None])[:, 0]


def below(most: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, most, shape, dtype=torch.int32)


Case = tuple[Callable[..., Any], tuple[int, ...], torch.dtype, Callable[..., torch.Tensor]]
CASES: dict[str, Case] = {
    "of_rows": (of_rows, (300,), torch.float32, _loss),
    "of_bf16": (of_rows, (300,), torch.bfloat16, _loss),
    "of_one_row": (of_one_row, (300,), torch.float32, _loss),
    "several_labels": (several_labels, (300, 4), torch.float32, _losses),
    "masked_labels": (masked_labels, (300,), torch.float32, _masked),
}


def arguments(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    _, shape, dtype, _ = CASES[name]
    labels = below(1000, *shape)
    return torch.randn(300, 1000).to(dtype), torch.where(
        labels < 100, -1, labels
    ) if name == "masked_labels" else labels


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret", STRICT])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, target: str) -> None:
    kernel, _, _, expected = CASES[name]
    args = arguments(name)
    torch.testing.assert_close(kopt.kernel(kernel).on(target)(*args), expected(*args), rtol=1e-4, atol=1e-4)


def planned(low: Lowered) -> str:
    return dict(low.stages())["plan-accesses"]


@pytest.mark.parametrize("name", CASES)
def test_one_buffer_serves_both(name: str) -> None:
    low = kopt.kernel(CASES[name][0]).lower(*arguments(name), target="pallas:v6e")
    plan = planned(low)
    assert plan.count("window(rows) x2" if name != "of_one_row" else "window(i) x2") >= 2, plan
    assert " rows" not in plan.partition(" plan {")[2].partition("{\n")[0].replace("[rows]", ""), plan
    assert "make_async_copy" not in low.source, low.source
    assert "jnp.pad(logits" not in low.source, low.source
    assert low.source.count("logits_ref[") == 1, low.source


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_chip_takes_them(name: str) -> None:
    report = kopt.kernel(CASES[name][0]).lower(*arguments(name), target="pallas:v6e").report()
    assert report["legal"], report["reason"]


def test_the_plan_is_text() -> None:
    low = kopt.kernel(of_rows).lower(*arguments("of_rows"), target="pallas:interpret")
    text = planned(low)
    assert "@logits = %logits_1 window(rows) x2" in text
    assert text.count("via @logits ") == 1 and str(parse_module(text)) == text


def test_other_rows_are_fetched() -> None:
    logits, labels = torch.randn(300, 1000), below(1000, 300)
    kernel = kopt.kernel(other_rows)
    assert "make_async_copy" in kernel.lower(logits, labels, target="pallas:v6e").source
    found = kernel.on("pallas:interpret")(logits, labels)
    torch.testing.assert_close(found, _next(logits, labels), rtol=1e-4, atol=1e-4)
