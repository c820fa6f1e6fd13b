"""What calls take of VMEM: buffers as libtpu 0.0.42 pads them, and spills near those that it reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kopt
from examples.registry import BY_NAME
from kopt.analysis.launch_models import launch_models
from kopt.analysis.revisit_order import grid_of
from kopt.analysis.spills import pressure, spilled_bytes
from kopt.analysis.vmem import buffer_bytes, vmem_buffers, vmem_bytes
from kopt.dialects.pallas import CallOp
from kopt.passes.pipelines import before_models, pipeline
from kopt.planning.candidates import candidates
from kopt.planning.cost import costs
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk

V6E = TPU_CHIPS["v6e"]
GOLDEN = Path(__file__).parents[2] / "benchmarks" / "golden" / "chosen-pallas-v6e.jsonl"


def calls(name: str, *specs: str, chip: str = "v6e", **config) -> list[CallOp]:
    """The final calls of an example."""
    low = BY_NAME[name].kernel.lower(*specs, target=f"pallas:{chip}", config=config)
    return walk(kopt.run_pipeline(low.module.clone(), pipeline(low.target, low.config)), CallOp)


def test_buffers_say_what_they_are() -> None:
    """Weights stay where they are: there is one of them."""
    (call,) = calls("layer_norm", "bf16[4096,2560]", "bf16[2560]", "bf16[2560]", block_sizes=[256])
    found = [(buffer.name, buffer.shape, buffer.count, buffer.bytes, buffer.use) for buffer in vmem_buffers(call)]
    block, row = 256 * 2560 * 2, 2560 * 2
    assert found == [
        ("x", (256, 2560), 2, block, "window"),
        ("weight", (2560,), 1, row, "window"),
        ("bias", (2560,), 1, row, "window"),
        ("out", (256, 2560), 2, block, "window"),
    ]
    assert buffer_bytes(call) == 4 * block + 2 * row


def test_pipelines_hold_two_blocks() -> None:
    (call,) = calls("matmul", "bf16[1024,8192]", "bf16[8192,1024]", block_sizes=[512, 512, 1024], loop_type="pipeline")
    buffers = {(buffer.use, buffer.count, buffer.shape) for buffer in vmem_buffers(call)}
    assert {("pipeline", 2, (512, 1024)), ("pipeline", 2, (1024, 512))} <= buffers


@pytest.mark.parametrize(
    ("name", "specs", "sizes", "libtpu"),
    [
        ("exp", ["bf16[4096,2560]"], [2048, 512], 8388608),
        ("softmax", ["bf16[4096,2560]"], [256], 7741440),  # all exponentials wait for their sum
        ("softmax_decomposed", ["bf16[4096,2560]"], [256], 6574080),  # in 16 bits
        ("softmax_two_pass", ["bf16[4096,2560]"], [512, 1280], 16986112),
        ("layer_norm", ["bf16[4096,2560]", "bf16[2560]", "bf16[2560]"], [256], 8026112),
        ("matmul", ["bf16[4096,4096]", "bf16[4096,4096]"], [1024, 1024, 1024], 44904448),
        ("sum_columns", ["bf16[4096,2560]"], [256], 4195328),
    ],
)
def test_predictions_are_close_to_what_libtpu_says(name: str, specs: list[str], sizes: list[int], libtpu: int) -> None:
    (call,) = calls(name, *specs, block_sizes=sizes)
    assert buffer_bytes(call) <= libtpu and abs(vmem_bytes(call, V6E) / libtpu - 1) <= 0.05


def test_what_is_read_again_does_not_wait() -> None:
    """Of f32 nothing is unpacked: a block that is read twice is read twice."""
    (call,) = calls("rms_norm", "f32[4096,2560]", "f32[2560]", block_sizes=[256])
    assert pressure(grid_of(call), V6E) <= 64


def test_few_values_are_in_registers() -> None:
    (call,) = calls("softmax", "bf16[4096,256]", block_sizes=[16])
    assert 0 < pressure(grid_of(call), V6E) < 42 and spilled_bytes(grid_of(call), V6E) == 0


@pytest.mark.parametrize(
    ("name", "specs"),
    [
        ("exp", ["bf16[4096,2560]"]),
        ("softmax", ["bf16[4096,2560]"]),
        ("layer_norm", ["bf16[4096,2560]", "bf16[2560]", "bf16[2560]"]),
        ("matmul", ["bf16[4096,4096]"] * 2),
        ("sum_columns", ["bf16[4096,2560]"]),
    ],
)
def test_the_planner_counts_the_same(name: str, specs: list[str]) -> None:
    """The buffers of the cheapest plan take what those of the call do that becomes of it."""
    low = BY_NAME[name].kernel.lower(*specs, target="pallas:v6e")
    module = kopt.run_pipeline(low.module.clone(), before_models(low.config))
    (model,) = launch_models(module)
    found = [cost for cost in costs(model, {}, candidates(model), V6E) if cost.seconds is not None]
    (call,) = walk(kopt.run_pipeline(low.module.clone(), pipeline(low.target, low.config)), CallOp)
    assert min(found, key=lambda cost: cost.seconds).vmem_bytes == buffer_bytes(call)


@pytest.mark.parametrize("chip", ["v5e", "v6e", "tpu7x"])
@pytest.mark.parametrize("name", ["softmax", "matmul", "exp"])
def test_what_is_chosen_fits(name: str, chip: str) -> None:
    specs = ["f32[8192,8192]"] * (2 if name == "matmul" else 1)
    assert all(
        vmem_bytes(call, TPU_CHIPS[chip]) <= TPU_CHIPS[chip].vmem_bytes for call in calls(name, *specs, chip=chip)
    )


def test_what_is_recorded_fits() -> None:
    rows = [json.loads(line)["row"] for line in GOLDEN.read_text().splitlines()]
    taken = [launch["vmem_bytes"] for row in rows for launch in row.get("launches", ())]
    assert len(taken) > 200 and all(map(Budget(V6E).holds_windows, taken))


def test_what_does_not_fit_is_refused_with_what_does() -> None:
    """Each buffer is named, and no size that fits can be doubled."""
    with pytest.raises(kopt.LoweringError, match=r"the buffers of 'exp' take 1,024.0 MiB of VMEM: v5e has 128.0") as at:
        calls("exp", "f32[16384,8192]", chip="v5e", block_sizes=[8192, 8192])
    *table, fits = at.value.notes
    assert [line.split(":")[0] for line in table] == ["'x' takes 512.0 MiB", "'out' takes 512.0 MiB"]
    assert at.value.location is not None and at.value.location.file.endswith("exp.py")
    assert fits == "block_sizes [2048, 4096] fit"
    assert calls("exp", "f32[16384,8192]", chip="v5e", block_sizes=[2048, 4096])
