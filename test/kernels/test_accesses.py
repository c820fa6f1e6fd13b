"""Accesses outside of arrays: what shapes show is refused at import, what data show before a call, on every target."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["reference", "pallas:interpret", "pallas:strict", "triton:interpret"]
CHIPS = ["pallas:v6e", "triton:sm90"]
X, Y = torch.randn(64), torch.randn(60)
WIDE = torch.randn(64, 60)


def tile_of_more(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(64, block_size=16):
        out[t] = x[t] + y[t]
    return out


def next_one(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0), block_size=16):
        out[t] = x[t.index + 1]
    return out


def one_before(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0), block_size=16):
        out[t] = x[t.index - 1]
    return out


def every_other(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0), block_size=16):
        out[t] = x[2 * t.index]
    return out


def lanes_of_more(x, y):
    out = torch.empty_like(x)
    for _ in hl.tile(1):
        out[hl.arange(64)] = y[hl.arange(64)]
    return out


def block_after(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0), block_size=16):
        out[t] = x[t] + x[t.end]
    return out


def inner_loop(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0), block_size=16):
        total = hl.zeros([t])
        for k in hl.tile(x.size(0), block_size=8):
            total += y[k].sum()
        out[t] = total
    return out


def stored_after_the_end(x, y):
    out = torch.empty_like(y)
    for t in hl.tile(x.size(0), block_size=16):
        out[t] = x[t]
    return out


def added_after_the_end(x, y):
    out = torch.zeros_like(y)
    for t in hl.tile(x.size(0), block_size=16):
        hl.atomic_add(out, [t], x[t])
    return out


def a_constant(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0), block_size=16):
        place = hl.full([t], 60, dtype=torch.int32)
        out[t] = y[place]
    return out


def half_masked(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0), block_size=16):
        out[t] = hl.load(x, [t.index + 2], extra_mask=t.index < 63)
    return out


VISIBLE = [
    tile_of_more, next_one, one_before, every_other, lanes_of_more, block_after, inner_loop, stored_after_the_end,
    added_after_the_end, a_constant, half_masked,
]  # fmt: skip


def _before_numbers(message: str) -> str:
    return re.split(": (?:lane|the element) ", message)[0]


def said(kernel: Callable[..., Any], target: str, *args: Any) -> str:
    """What a call is refused with: the message and the place, without the numbers of blocks, which targets choose."""
    with pytest.raises(kopt.AccessError) as error:
        kopt.kernel(kernel).on(target)(*args)
    assert "^" in str(error.value)
    return f"{error.value.location}: {_before_numbers(error.value.message)}"


@pytest.mark.parametrize("kernel", VISIBLE, ids=lambda kernel: kernel.__name__)
def test_what_shapes_show_is_refused_at_import(kernel) -> None:
    """On interpreters and for chips, with one message and place."""
    messages = {said(kernel, target, X, Y) for target in TARGETS}
    for target in CHIPS:
        with pytest.raises(kopt.AccessError, match="is outside the array") as error:
            kopt.kernel(kernel).lower(X, Y, target=target)
        messages.add(f"{error.value.location}: {_before_numbers(error.value.message)}")
    assert len(messages) == 1 and ", shape [6" in messages.pop()


def one_element_after(x, y):
    out = torch.empty_like(x)
    for n in hl.grid(x.size(0) + 1):
        out[n] = x[0]
    return out


@pytest.mark.parametrize("target", [*TARGETS, "eager"])
def test_an_element_that_is_not_there(target: str) -> None:
    with pytest.raises(kopt.AccessError, match=": the element is outside the array"):
        kopt.kernel(one_element_after).on(target)(X, Y)


def with_neighbours(x, y):
    """Masked where there is no neighbour; the last row of a loop that visits nothing; a condition that never holds."""
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0), block_size=16):
        before = hl.load(x, [t.index - 1], extra_mask=t.index > 0)
        after = hl.load(x, [t.index + 1], extra_mask=t.index < x.size(0) - 1)
        for k in hl.tile(64, 64):
            before += y[k].sum()
        if t.begin > 64:
            before += y[t.begin]
        out[t] = before + after
    return out


def by_rows(x, rows):
    out = torch.empty_like(x)
    for t in hl.tile(rows.size(0), block_size=16):
        out[t] = x[rows[t]]
    return out


def two_steps(x, rows):
    """The rows are computed by a kernel's first loop, and read by its second."""
    twice, out = torch.empty_like(rows), torch.empty_like(x)
    for t in hl.tile(rows.size(0), block_size=16):
        twice[t] = rows[t] * 2
    for t in hl.tile(rows.size(0), block_size=16):
        out[t] = x[twice[t] // 2]
    return out


def by_number(x, rows):
    out = torch.empty_like(x)
    for i in hl.grid(rows.size(0)):
        out[i] = x[rows[i]]
    return out


def to_rows(x, rows):
    out = torch.zeros_like(x)
    for t in hl.tile(rows.size(0), block_size=16):
        out[rows[t]] = x[t]
    return out


def added_to_rows(x, rows):
    out = torch.zeros_like(x)
    for t in hl.tile(rows.size(0), block_size=16):
        hl.atomic_add(out, [rows[t]], x[t])
    return out


def while_walking(x, rows):
    """As many steps as a number that is loaded says, from where it says."""
    out = torch.zeros_like(x)
    for t in hl.tile(rows.size(0), block_size=1):
        total = hl.zeros([t])
        for k in hl.tile(rows[t.begin], rows[t.begin] + 1, block_size=4):
            total += x[k].sum()
        out[t] = total
    return out


def under_a_condition(x, rows):
    out = torch.empty_like(x)
    for i in hl.grid(rows.size(0)):
        value = x[i]
        if rows[i] > 40:
            value = x[rows[i]]
        out[i] = value
    return out


def under_a_mask(x, rows):
    out = torch.empty_like(x)
    for t in hl.tile(rows.size(0), block_size=16):
        out[t] = hl.load(x, [rows[t]], extra_mask=rows[t] > 40)
    return out


COMPUTED = [
    by_rows, two_steps, by_number, to_rows, added_to_rows, while_walking, under_a_condition, under_a_mask,
]  # fmt: skip


@pytest.mark.parametrize("kernel", COMPUTED, ids=lambda kernel: kernel.__name__)
def test_what_data_show_is_refused_before_a_call(kernel) -> None:
    """The same compiled kernel takes what is right."""
    right = torch.randperm(64).int()
    wrong = [64, 65 if kernel in (under_a_condition, under_a_mask) else -1, 2**20]
    messages = {number: set() for number in wrong}
    for target in TARGETS:
        run = kopt.kernel(kernel).lower(X, right, target=target).compile()
        expected = {to_rows: torch.zeros(64).index_copy(0, right.long(), X)}
        expected[added_to_rows] = expected[to_rows]
        expected[under_a_mask] = torch.where(right > 40, X[right], 0)
        expected[under_a_condition] = torch.where(right > 40, X[right], X)
        torch.testing.assert_close(run(X, right), expected.get(kernel, X[right]))
        for number, said in messages.items():
            bad = right.clone()
            bad[37] = number
            with pytest.raises(kopt.KoptError, match=r"is outside the array|item 37 (starts|ends) at") as error:
                run(X, bad)
            said.add(f"{error.value.location}: {_before_numbers(error.value.message)}")
    assert all(len(said) == 1 for said in messages.values()), messages


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_masked_or_never_visited_is_no_access(target: str) -> None:
    zero = torch.zeros(1)
    expected = torch.cat([zero, X[:-1]]) + torch.cat([X[1:], zero])
    torch.testing.assert_close(kopt.kernel(with_neighbours).on(target)(X, Y), expected)
    nothing = torch.zeros(0)
    assert kopt.kernel(tile_of_nothing).on(target)(nothing, nothing).shape == (0,)


def tile_of_nothing(x, y):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        out[t] = y[t.index + 3]
    return out


def test_chips_look_where_they_are_told_to() -> None:
    """And kernels that are right whatever they are given have nothing to look at."""
    rows = torch.arange(64).int()
    for target in CHIPS:
        low = kopt.kernel(by_rows).lower(X, rows, target=target)
        assert low.checks is None
        low = kopt.kernel(by_rows).lower(X, rows, target=target, config={"checks": True})
        assert low.checks is not None and low.checks.accesses is not None
    low = kopt.kernel(with_all_rows).lower(WIDE, target="pallas:interpret")
    assert low.checks is not None and low.checks.accesses is None


def with_all_rows(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        total = hl.zeros([t])
        for k in hl.tile(x.size(1)):
            total += x[t, k].sum(1)
        out[t, :] = x[t, :] - total[:, None]
    return out


def test_inside_jit_there_is_nothing_to_look_at() -> None:
    jax = pytest.importorskip("jax")
    rows = jax.numpy.arange(64)
    x = jax.numpy.arange(64.0)
    kernel = kopt.kernel(by_rows).on("pallas:interpret")
    assert jax.jit(kernel)(x, rows).tolist() == x.tolist()
    with pytest.raises(kopt.AccessError):
        kernel(x, rows + 1)


def picks_columns(x, n):
    out = torch.empty_like(n, dtype=x.dtype)
    for t in hl.tile(x.size(0), block_size=4):
        out[t, :] = torch.gather(x[t, :], 1, n[t, :])
    return out


def picks_rows(x, n):
    out = torch.empty([n.size(1), x.size(1)], dtype=x.dtype)
    for t in hl.tile(x.size(1), block_size=4):
        out[:, t] = torch.index_select(x[:, t], 0, n[0, :])
    return out


def picks_a_constant(x, n):
    out = torch.empty([x.size(0), 2], dtype=x.dtype)
    for t in hl.tile(x.size(0), block_size=4):
        out[t, :] = torch.take_along_dim(x[t, :], (hl.arange(2) * 9)[None, :].expand(4, 2), 1)
    return out


@pytest.mark.parametrize("target", [*TARGETS, "eager"])
@pytest.mark.parametrize("kernel", [picks_columns, picks_rows], ids=lambda kernel: kernel.__name__)
def test_lanes_that_a_block_lacks_are_not_picked(kernel, target) -> None:
    """Numbers that are loaded: in bounds they pick, out of bounds they are refused before the call."""
    x, right = torch.randn(6, 6), torch.tensor([[0, 5, 2]] * 6)
    compiled = kopt.kernel(kernel).on(target)
    wanted = x.gather(1, right) if kernel is picks_columns else x[right[0]]
    assert torch.equal(compiled(x, right), wanted)
    for wrong in (6, -1, 1 << 20):
        with pytest.raises(kopt.AccessError, match=f"picks lane {wrong} of dimension"):
            compiled(x, torch.where(right == 5, wrong, right))


@pytest.mark.parametrize("target", [*TARGETS, *CHIPS])
def test_lanes_that_shapes_show_to_be_none_are_refused_at_import(target) -> None:
    with pytest.raises(kopt.AccessError, match="picks lane 9 of dimension 1") as error:
        kopt.kernel(picks_a_constant).lower(torch.randn(8, 6), torch.zeros(1, 1), target=target)
    assert error.value.location is not None


@kopt.kernel
def by_turns(x: torch.Tensor, rows: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
    """Rows of two places by turns: the loop exchanges them, and computes neither."""
    out = torch.zeros([rows.size(0), steps.size(0)], dtype=x.dtype)
    for i in hl.grid(rows.size(0)):
        a, b = rows[i, 0], rows[i, 1]
        for k in hl.grid(steps.size(0)):
            out[i, k] = x[a]
            a, b = b, a
    return out


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_a_loop_exchanges_places(target):
    x, rows = torch.arange(8.0), torch.tensor([[3, 5], [0, 7], [2, 2]], dtype=torch.int32)
    assert by_turns.on(target)(x, rows, torch.zeros(4)).tolist() == [[3, 5, 3, 5], [0, 7, 0, 7], [2, 2, 2, 2]]
