"""The closed form of a pipeline's steps, against going through them one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt.planning.steps import Moved, Pipeline
from kopt.planning.trips import Trips

AXES = "abcd"
COUNTS = st.lists(st.integers(1, 4), min_size=1, max_size=4)
BLOCKS = st.lists(st.tuples(st.integers(1, 9), st.frozensets(st.sampled_from(AXES)), st.booleans()), max_size=4)


def regular(count):
    return Trips(np.asarray(count), np.asarray(count) > 0, np.asarray(np.asarray(count) > 1, float))


def pipeline(counts, blocks):
    order = AXES[: len(counts)]
    return Pipeline(order, dict(zip(order, map(regular, counts), strict=True)), [Moved(*block) for block in blocks])


def step_by_step(steps, order, blocks, compute):
    """The time of a list of indices, and what comes and leaves: a byte a second, half a second a step."""
    total = 0.0
    moved = {False: 0.0, True: 0.0}
    for size, _, leaves in blocks:
        moved[leaves] += size

    def changed(now, then, leaves):
        if now is None or then is None:
            return 0
        turned = {tag for tag, one, other in zip(order, now, then, strict=True) if one != other}
        return sum(size for size, axes, out in blocks if out == leaves and axes & turned)

    total = sum(moved.values()) + 0.5 * len(steps)
    for before, now, then in zip([None, *steps], steps, [*steps[1:], None], strict=False):
        turning = -1 if then is None else next(n for n, (a, b) in enumerate(zip(now, then, strict=True)) if a != b)
        comes, leaves = changed(now, then, False), changed(before, now, True)
        moved[False] += comes
        moved[True] += changed(now, then, True)
        total += max(compute(turning), comes + leaves)
    return total, moved[False], moved[True]


@settings(deadline=None)
@given(COUNTS, BLOCKS, st.lists(st.integers(0, 9), min_size=5, max_size=5))
def test_closed_form_is_step_by_step(counts, blocks, seconds):
    def compute(turning):
        return sum(seconds[turning + 1 :])  # what is done for each visit to an axis, or deeper

    run = pipeline(counts, blocks).run(compute, 1.0, 0.5)
    steps = list(product(*map(range, counts)))
    expected = step_by_step(steps, AXES[: len(counts)], blocks, compute)
    assert run.steps == len(steps)
    assert (run.seconds, run.bytes_in, run.bytes_out) == pytest.approx(expected)


@settings(deadline=None)
@given(st.lists(COUNTS.filter(lambda counts: len(counts) == 3), min_size=1, max_size=5), BLOCKS)
def test_candidates_at_once_are_candidates_one_by_one(candidates, blocks):
    together = pipeline(np.array(candidates).T, blocks).run(lambda n: 1.0, 1.0, 0.5).seconds
    alone = [pipeline(counts, blocks).run(lambda n: 1.0, 1.0, 0.5).seconds for counts in candidates]
    assert np.broadcast_to(together, len(alone)) == pytest.approx(alone)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any), st.integers(1, 3), st.integers(1, 3))
def test_lists_of_trips_are_counted_exactly(items, columns, sums):
    """A grouped product: columns, groups, the tiles that a group has, tiles of its sum."""
    counts = np.array(items)
    some = (counts > 0).mean()
    jagged = Trips(counts.mean(), some, (counts > 1).mean() / some, frozenset("b"))
    trips = {"a": regular(columns), "b": regular(len(items)), "c": jagged, "d": regular(sums)}
    blocks = [(7, frozenset("abd"), False), (3, frozenset("abc"), True)]
    run = Pipeline("abcd", trips, [Moved(*block) for block in blocks]).run(lambda n: 1.0, 1.0, 0.5)
    steps = [
        (a, b, c, d)
        for a, (b, count) in product(range(columns), enumerate(items))
        for c, d in product(range(count), range(sums))
    ]
    _, comes, leaves = step_by_step(steps, "abcd", blocks, lambda n: 1.0)
    assert (run.steps, run.bytes_in, run.bytes_out) == pytest.approx((len(steps), comes, leaves))


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_blocks_at_loaded_numbers_move_where_the_numbers_change(groups, tiles, columns, sums):
    """A grouped product over a list of tiles: the matrix stays while the group does, the rows while the tile does."""
    tiles = tiles[: len(groups)]
    changes = [np.not_equal(numbers, np.roll(numbers, -1)) for numbers in (groups, tiles)]
    trips = {"a": regular(columns), "b": regular(len(groups)), "c": regular(sums)}
    weights = Moved(7, frozenset("abc"), listed={"b": changes[0]})
    rows, out = (
        Moved(size, axes, leaves, {"b": changes[1]})
        for size, axes, leaves in ((2, frozenset("bc"), False), (3, frozenset("ab"), True))
    )
    run = Pipeline("abc", trips, [weights, rows, out]).run(lambda n: 4.0, 1.0, 0.5)
    steps = list(product(range(columns), range(len(groups)), range(sums)))
    keys = [((n, groups[t], k), (tiles[t], k), (n, tiles[t])) for n, t, k in steps]
    total, comes, leaves = 12 + 0.5 * len(steps), 9.0, 3.0
    for number, (now, then) in enumerate(zip(keys, [*keys[1:], None], strict=True)):
        before = keys[number - 1] if number else now
        inward = 0 if then is None else 7 * (now[0] != then[0]) + 2 * (now[1] != then[1])
        outward = 3 * (before[2] != now[2])
        comes, leaves, total = comes + inward, leaves + outward, total + max(4.0, inward + outward)
    assert (run.bytes_in, run.bytes_out) == pytest.approx((comes, leaves))
    assert run.seconds == pytest.approx(total)
