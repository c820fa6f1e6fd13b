"""Blocks at loaded numbers: at which turns they change, of a kernel that is imported."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.analysis.launch_models import launch_models
from kopt.planning.at_sizes import AtSizes
from kopt.planning.candidates import candidates, gpu_candidate
from kopt.planning.gpu_cost import GpuLaunch
from kopt.planning.loaded import listed_changes
from kopt.planning.tpu_cost import TpuLaunch
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS

TILES, GROUPS = [0, 1, 1, 2, 0], [0, 0, 1, 1, 1]


@kopt.kernel
def grouped(x, weights, tiles, groups):
    rows, inner, columns = hl.specialize(x.size(1)), x.size(2), weights.size(2)
    out = torch.empty([tiles.size(0), rows, columns], dtype=x.dtype)
    for n, t in hl.tile([columns, tiles.size(0)], block_size=[None, 1]):
        acc = hl.zeros([rows, n], dtype=torch.float32)
        for k in hl.tile(inner):
            acc = torch.addmm(acc, x[tiles[t.begin], :, k], weights[groups[t.begin], k, n])
        out[t.begin, :, n] = acc.to(x.dtype)
    return out


@pytest.fixture(scope="module")
def model():
    specs = ("bf16[3,128,512]", "bf16[2,512,512]", "i32[5]", "i32[5]")
    low = grouped.lower(*specs, target="pallas:v6e", config={"block_sizes": [128, 128]})
    (found,) = launch_models(low.module, ("b0", "b1", "b2"))
    return found


def changes(model, operand, **contents):
    return listed_changes(model, model.of(operand), "b1", 5, contents, {"b0": 128, "b1": 1, "b2": 128})


@pytest.mark.parametrize(("operand", "numbers"), [("x", TILES), ("weights", GROUPS)])
def test_a_block_changes_where_its_number_does_and_where_the_axis_begins_anew(model, operand, numbers):
    expected = [now != then for now, then in zip(numbers, [*numbers[1:], numbers[0]], strict=True)]
    assert changes(model, operand, tiles=TILES, groups=GROUPS).tolist() == expected


def test_nothing_is_said_where_no_numbers_tell(model):
    assert changes(model, "x", groups=GROUPS) is None
    assert changes(model, "out", tiles=TILES, groups=GROUPS) is None
    assert changes(model, "x", tiles=np.array([0, 1])) is None  # shorter than the axis


@pytest.mark.parametrize(
    ("operand", "contents", "wanted"),
    [
        ("weights", {"tiles": TILES, "groups": GROUPS}, 5 / 2),
        ("x", {"tiles": TILES, "groups": GROUPS}, 5 / 3),
        ("x", {"tiles": [0] * 5}, 5),
        ("x", {"groups": GROUPS}, 1),  # nothing tells
        ("x", {}, 1),
    ],
)
def test_programs_of_a_gpu_that_share_a_block(model, operand, contents, wanted):
    """Along the axis whose numbers choose the block: as many as there are programs for each change."""
    launch = GpuLaunch(model, {"b0": 128, "b1": 1, "b2": 128}, gpu_candidate(model), GPU_CHIPS["sm90"], {}, contents)
    (access,) = model.of(operand)
    assert launch._run_of_blocks(access, "b1") == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        ([0, 1, 1, 2, 0], [True, False, True, True, False]),
        ([0, 0, 0, 0, 0], [False] * 5),
        ([0, 1, 2, 3, 4], [True] * 5),
        ([0, 1, 2, 3], None),  # a block has no number
        ([0, 1, 2, 3, 4, 9], [True] * 5),  # numbers that no block has do not count
    ],
)
def test_as_many_numbers_as_blocks(model, held, wanted):
    found = changes(model, "x", tiles=held)
    assert (found if wanted is None else found.tolist()) == wanted


def test_what_is_at_no_loaded_number_is_not_asked_of(model):
    """Accesses whose blocks are those of the axes alone say nothing."""
    sizes = {"b0": 128, "b1": 1, "b2": 128}
    assert listed_changes(model, model.of("out"), "b1", 5, {"tiles": TILES}, sizes) is None
    assert listed_changes(model, [], "b1", 5, {"tiles": TILES}, sizes) is None
    # Numbers that go with one axis do not tell of another.
    assert listed_changes(model, model.of("x"), "b0", 5, {"tiles": TILES}, sizes) is None


@pytest.mark.parametrize(
    ("contents", "listed"),
    [
        ({"tiles": TILES, "groups": GROUPS}, {"x": {"b1": TILES}, "weights": {"b1": GROUPS}}),
        ({"tiles": TILES}, {"x": {"b1": TILES}}),
        ({}, {}),
    ],
)
def test_windows_of_a_tpu_that_come_where_numbers_change(model, contents, listed):
    """Along the axis whose numbers choose the block; a window by the numbers of axes alone has no list."""
    sizes, chip = {"b0": 128, "b1": 1, "b2": 128}, TPU_CHIPS["v6e"]
    plan = next(candidates(model))
    windows = tuple(replace(one, kind="window" if one.kind == "dma" else one.kind) for one in plan.buffers)
    launch = TpuLaunch(AtSizes(model, sizes, chip, {}, contents), replace(plan, buffers=windows))
    found = {one.operand: {tag: turns.tolist() for tag, turns in launch._listed(one).items()} for one in windows}
    changing = {
        name: {tag: [now != then for now, then in pairwise([*numbers, numbers[0]])] for tag, numbers in axes.items()}
        for name, axes in listed.items()
    }
    assert found == {"tiles": {}, "groups": {}, "out": {}, "x": {}, "weights": {}} | changing
    assert all(not launch._listed(one) for one in plan.buffers if one.kind == "dma")  # no window
