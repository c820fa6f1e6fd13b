"""What loops carry and branches merge: names, attributes, structures; and what they refuse to."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch

import kopt.language as hl
from kopt.dialects import tile
from kopt.errors import UnsupportedError
from kopt.frontend import import_kernel
from kopt.frontend.loops.inner import MAX_RUNS
from kopt.walk import walk

from .support import check, imported

torch.manual_seed(3)
X = torch.randn(8, 16)
FEW = torch.arange(8) % 3


class Both(NamedTuple):
    """Two values by name."""

    total: Any
    most: Any


def over_rows(body: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose rows are what ``body`` makes of them."""

    def kernel(x, few):
        out = torch.empty([8], device=x.device)
        for i in hl.tile(8, block_size=4):
            out[i] = body(x, few, i)
        return out

    return kernel


def named_inside(x, few, i):
    for j in hl.tile(16, block_size=8):
        last = x[i, j].sum(1)
        begin = j.begin
    return last + begin


def tuple_inside(x, few, i):
    for j in hl.tile(16, block_size=8):
        pair = (x[i, j].sum(1), x[i, j].amax(1))
    return pair[0] * pair[1]


def structures_inside(x, few, i):
    for j in hl.tile(16, block_size=8):
        both = Both(x[i, j].sum(1), [x[i, j].amax(1)])
        by_name = {"begin": j.begin, "both": (x[i, j], both.total + 1)}
    return both.total * both.most[0] + by_name["begin"] - by_name["both"][1]


def other_type_before(x, few, i):
    last = hl.full([i], 5, dtype=torch.int32)
    for j in hl.tile(16, block_size=8):
        last = x[i, j].sum(1)
    return last


def other_structure_before(x, few, i):
    last = 3
    for j in hl.tile(16, block_size=8):
        last = (x[i, j].sum(1), j.begin)
    return last[0] + last[1]


def in_several_dimensions(x, few, i):
    total, visits = hl.zeros([i]), 0
    for j, k in hl.tile([4, 4], block_size=[2, 4]):
        visits += 1
        total += x[i, j].sum(1) + x[i, k].amax(1)
    return total * visits


def of_the_loops_own_shape(x, few, i):
    total = hl.zeros([4, 8])
    for j in hl.tile(16, block_size=8):
        total = total + x[i, j]
    return total.sum(1)


def from_a_number(x, few, i):
    total = 0.0
    for j in hl.tile(16, block_size=8):
        total = total + x[i, j]
    return total.sum(1)


def from_one_column(x, few, i):
    total = x[i, 0:1]
    for j in hl.tile(16, block_size=8):
        total = total * 0 + x[i, j] if few[0] > 5 else total + x[i, j]
    return total.sum(1)


def augmented(x, few, i):
    """By values of the device on either side, on names and on elements of lists."""
    left, right, several = x[i, 0], 3, [x[i, 1], 2.0]
    left -= 2
    right -= left
    left /= right + 100
    several[0] -= left
    several[1] -= several[0]
    for j in hl.tile(16, block_size=8):
        right -= x[i, j].sum(1)
        left **= 2
    return left + right * several[1]


def of_augmented() -> torch.Tensor:
    left = X[:, 0] - 2
    right = 3 - left
    left = left / (right + 100)
    return left**4 + (right - X.sum(1)) * (2 - (X[:, 1] - left))


def attribute_made_inside(x, few, i):
    kept = SimpleNamespace(total=hl.zeros([i]), visits=0)
    for j in hl.tile(16, block_size=8):
        kept.total = kept.total + x[i, j].sum(1)
        kept.visits += 1
        kept.seen = 1
    return kept.total * kept.visits + kept.seen


def changed_in_one_arm(x, few, i):
    kept = SimpleNamespace(first=1, second=2, both=3)
    if i.begin > 3:
        kept.first = 10
        kept.both = kept.both + kept.first
    else:
        kept.second = 20
        kept.both = kept.both + kept.first * 100
    return x[i, 0] * 0 + kept.first * 10000 + kept.second * 1000 + kept.both


def flag_in_one_arm(x, few, i):
    found, word = False, "same"
    if i.begin > 3:
        found = True
        word = "same"
    return (x[i, 0] if found else x[i, 1]) if word == "same" else x[i, 2]


def halves() -> torch.Tensor:
    return X[:, 8:].sum(1)


BODIES: dict[Callable[..., Any], torch.Tensor] = {
    named_inside: halves() + 8,
    tuple_inside: halves() * X[:, 8:].amax(1),
    structures_inside: halves() * X[:, 8:].amax(1) + 8 - halves() - 1,
    other_type_before: halves(),
    other_structure_before: halves() + 8,
    in_several_dimensions: 2 * (X[:, :4].sum(1) + 2 * X[:, :4].amax(1)),
    of_the_loops_own_shape: X.sum(1),
    from_a_number: X.sum(1),
    from_one_column: X.sum(1) + X[:, 0] * 8,
    augmented: of_augmented(),
    attribute_made_inside: X.sum(1) * 2 + 1,
    changed_in_one_arm: torch.tensor([1.0] * 4 + [10.0] * 4) * 10000
    + torch.tensor([20.0] * 4 + [2.0] * 4) * 1000
    + torch.tensor([103.0] * 4 + [13.0] * 4),
    flag_in_one_arm: torch.cat([X[:4, 1], X[4:, 0]]),
}


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_carried_and_merged(body: Callable[..., Any]) -> None:
    check(over_rows(body), [X, FEW], BODIES[body])


def block_of_one_visit(x, few, i):
    for j in hl.tile(16, block_size=8):
        last = x[i, j]
    return last.sum(1)


def block_in_a_tuple(x, few, i):
    for j in hl.tile(16, block_size=8):
        last = (x[i, j], x[i, 0])
    return last[0].sum(1)


def number_of_python_inside(x, few, i):
    for j in hl.tile(16, block_size=8):
        last = 3
        x[i, j] = last
    return last


def read_before_it_is_there(x, few, i):
    for j in hl.tile(16, block_size=8):
        if j.begin > 0:
            x[i, j] = last  # noqa: F821 # pyright: ignore
        last = x[i, j].sum(1)
    return last


def tuple_read_before_it_is_there(x, few, i):
    for j in hl.tile(16, block_size=8):
        if few[0] > 900:
            x[i, 0] = last[0]  # noqa: F821 # pyright: ignore
        last = (x[i, j].sum(1), x[i, j].amax(1))
    return last[0]


def other_type_before_no_visit(x, few, i):
    last = hl.full([i], 5, dtype=torch.int32)
    for j in hl.tile(few[0], block_size=8):
        last = x[i, j].sum(1)
    return last


def other_structure_before_while(x, few, i):
    last, n = (1, 2), few[0]
    while n < 5:
        n = n + 1
        last = x[i, n]
    return last


def other_type_that_is_read(x, few, i):
    last = hl.full([i], 5, dtype=torch.int32)
    for j in hl.tile(16, block_size=8):
        last = x[i, j].sum(1) + last
    return last


def other_structure_that_is_read(x, few, i):
    last = (x[i, 0], x[i, 1])
    for j in hl.tile(16, block_size=8):
        last = (*last, x[i, j].sum(1) + last[0])
    return last[0]


def deleted_inside(x, few, i):
    last = x[i, 0]
    for j in hl.tile(16, block_size=8):
        x[i, j] = last[:, None]
        last = x[i, 0]
        del last
    return last  # noqa: F821


def attribute_of_one_visit(x, few, i):
    kept = SimpleNamespace(total=hl.zeros([i]))
    for j in hl.tile(16, block_size=8):
        kept.seen = x[i, j].sum(1)
        kept.total = kept.total + kept.seen
    return kept.total + kept.seen


def assigned_by_one_arm(x, few, i):
    if i.begin > 3:
        last = x[i, 0]
    return last


def assigned_by_the_other_arm(x, few, i):
    if i.begin > 3:
        x[i, 0] = 0
    else:
        last = x[i, 0]
    return last


def read_by_the_other_arm(x, few, i):
    if i.begin > 3:
        last = x[i, 0]
    else:
        x[i, 0] = last
    return x[i, 0]


def other_structure_in_each_arm(x, few, i):
    if i.begin > 3:
        last = (x[i, 0], x[i, 1])
    else:
        last = (x[i, 0],)
    return last[0]


def other_word_in_each_arm(x, few, i):
    word = "low"
    if i.begin > 3:
        word = "high"
    return x[i, 0] if word == "high" else x[i, 1]


def word_or_number(x, few, i):
    word = "low"
    if i.begin > 3:
        word = x[i, 0]
    return word


def other_array_in_each_arm(x, few, i):
    array = x
    if i.begin > 3:
        array = few
    return array[i, 0]


ENDED = "'last' has no value here: it belongs to one visit of a loop that has ended"
REFUSED: dict[Callable[..., Any], str] = {
    block_of_one_visit: ENDED,
    block_in_a_tuple: ENDED,
    number_of_python_inside: ENDED,
    read_before_it_is_there: "'last' has no value here: it is not assigned before this loop",
    tuple_read_before_it_is_there: "'last' has no value here: it is not assigned before this loop",
    other_type_before_no_visit: "it is of another type before a loop, which may visit nothing",
    other_structure_before_while: "'last' has no value here: it is of another type before a loop",
    other_type_that_is_read: "'last' changes its dtype from torch.int32 to torch.float32",
    other_structure_that_is_read: "'last' changes its structure in the loop",
    deleted_inside: "'last' changes its structure in the loop",
    attribute_of_one_visit: "'kept.seen' has no value here: it belongs to one visit of a loop that has ended",
    assigned_by_one_arm: "'last' has no value here: one arm of the branch does not assign it",
    assigned_by_the_other_arm: "'last' has no value here: one arm of the branch does not assign it",
    read_by_the_other_arm: "'last' has no value here: one arm of the branch does not assign it",
    other_structure_in_each_arm: "'last' has another structure in each arm of the branch",
    other_word_in_each_arm: "'word' is str 'high' on one path and str 'low' on the other",
    word_or_number: "'word' is a device tensor [b0=4] of torch.float32 on one path and str 'low' on the other",
    other_array_in_each_arm: "'array' is a host tensor [8] of torch.int64 on one path and a host tensor [8, 16] of",
}


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: body.__name__)
def test_what_is_not_carried(body: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError) as caught:
        import_kernel(over_rows(body), (X, FEW), {})
    assert REFUSED[body] in str(caught.value) and f"{__file__}:" in str(caught.value)


def shifted(number: int, loop: str) -> Callable[..., Any]:
    """A loop that hands values from name to name: each run of its body tells the type of one more of them."""

    def by_for(x):
        out = torch.empty_like(x[:, 0])
        for i in hl.tile(8, block_size=4):
            values = (0,) * number
            for j in hl.tile(16, block_size=8):
                values = (*values[1:], x[i, j].sum(1))
            out[i] = values[0] + sum(values)
        return out

    def by_while(x):
        out = torch.empty_like(x[:, 0])
        for i in hl.tile(8, block_size=4):
            values, n = (0,) * number, i.begin - i.begin
            while n < 2:
                values = (*values[1:], x[i, n])
                n = n + 1
            out[i] = values[0] + sum(values)
        return out

    return {"for": by_for, "while": by_while}[loop]


@pytest.mark.parametrize("loop", ["for", "while"])
def test_types_that_settle_in_time(loop: str) -> None:
    """A body is recorded once for each name, and once more."""
    (found,) = walk(imported(shifted(MAX_RUNS - 1, loop), X).module, tile.ForOp, tile.WhileOp)
    blocks = [str(result.type) for result in found.results if isinstance(result.type, tile.TileType)]
    assert blocks == ["!tile.tile<b0=4 x f32>"] * (MAX_RUNS - 1)
    with pytest.raises(UnsupportedError, match="the types of this loop's carried values do not settle"):
        imported(shifted(MAX_RUNS, loop), X)
