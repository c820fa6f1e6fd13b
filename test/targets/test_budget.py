"""What a chip's memory holds: the queries are monotonic, and stand in the order that their memories do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt.targets.budget import Budget
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS
from kopt.targets.tiling import window_bytes

TPUS = st.sampled_from(list(TPU_CHIPS.values())).map(Budget)
GPUS = st.sampled_from(list(GPU_CHIPS.values())).map(Budget)
SIZES = st.integers(0, 1 << 28)


@settings(deadline=None)
@given(TPUS, SIZES, SIZES)
def test_what_fits_also_fits_smaller(budget, first, second):
    small, large = sorted((first, second))
    for query in (budget.holds_windows, budget.holds_array, budget.holds_updated, lambda n: budget.accumulates(n, n)):
        assert query(small) or not query(large)


@settings(deadline=None)
@given(TPUS, SIZES)
def test_no_query_admits_more_than_there_is(budget, size):
    if budget.holds_windows(size) or budget.holds_array(size) or budget.holds_updated(size):
        assert size <= budget.vmem
    if budget.accumulates(size, size):
        assert budget.blocks([(size, 2)], size) <= budget.vmem
    limit = budget.vmem_limit(size)
    assert limit is None or budget.scoped_vmem < limit <= budget.vmem
    assert budget.cell_bytes() <= budget.window_bytes() and budget.scoped_vmem <= budget.vmem


@pytest.mark.parametrize(
    ("operands", "scratch", "said"),
    [
        # What libtpu says of exp over 104,857,600 f32 in 50 blocks: the output apart from the inputs, and donated.
        ([((2097152,), 32, 2)] * 2, 0, 32 << 20),
        ([((2097152,), 32, 2)] * 3, 0, 48 << 20),
    ],
)
def test_blocks_are_counted_as_libtpu_does(operands, scratch, said):
    assert Budget.blocks([(window_bytes(shape, bits), depth) for shape, bits, depth in operands], scratch) == said


def test_the_other_kind_of_chip_is_a_mistake():
    with pytest.raises(AssertionError, match="sm90 is no TPU"):
        Budget(GPU_CHIPS["sm90"]).holds_array(1)
    with pytest.raises(AssertionError, match="v5e is no GPU"):
        Budget(TPU_CHIPS["v5e"]).shares(1)
