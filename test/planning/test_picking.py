"""What it takes to pick rows and elements: of what copies bring, and of a block that is there."""

from __future__ import annotations

import pytest

from kopt.ir.launch_model import LaunchModel
from kopt.planning.at_sizes import AtSizes
from kopt.planning.blocks import Blocks
from kopt.planning.picking import picked
from kopt.planning.tpu_work import Cycles, product
from kopt.plans.plan import Buffer, Plan
from kopt.targets.chips import TPU_CHIPS
from kopt.targets.costs import VECTOR_CYCLES, tpu_costs
from test.planning.launches import access, axis, begin, operand, parameter

V6E = TPU_CHIPS["v6e"]
COMPARED = 2 * VECTOR_CYCLES["elementwise"] * 64 * 512 / 1024


@pytest.mark.parametrize(
    ("kind", "lanes", "taken"),
    [
        ("one_hot", [], Cycles()),
        ("pick", [64], Cycles(vpu=COMPARED)),
        ("one_hot", [64, 256], Cycles(vpu=COMPARED, mxu=product(64, 512, 256, "bf16", tpu_costs(V6E)))),
    ],
)
def test_numbers_are_compared_with_all_rows_of_a_block(kind: str, lanes: list[int], taken: Cycles) -> None:
    size = parameter("b0")
    x = operand("x", (512, 256))
    one = access("x", "load", x, [(begin("i", size), size), (begin("j", 256), 256)], ("i", "j"))
    model = LaunchModel("picked", (axis("i", size, 512), axis("j", 256, 256)), (x,), (one,), ())
    launch = AtSizes(model, {"b0": 512}, V6E, {})
    buffer = Buffer("x", "x", kind, ("j",))
    plan = Plan(("i", "j"), frozenset("j"), (buffer,), {"x": "x"})
    assert picked(buffer, lanes, launch, Blocks(model, plan, launch.sizes, launch.trips)) == taken
