"""What waits at each phase, and what registers do not hold of it: of one candidate as of many at once."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.ir.polynomial import parameter
from kopt.ir.register_code import RegisterCode, RegisterShape, RegisterStep
from kopt.planning.register_trace import Sizing, trace
from kopt.planning.waiting import pressures, spilled, spilled_bytes

a, b = parameter("a"), parameter("b")
SHAPES = (RegisterShape((a, b)), RegisterShape((a, 1)))
READ = RegisterStep("read", (0,), shapes=(0,), key=(0,))
SUM = RegisterStep("combine", (1,), (0,), (1,), flag=True)


def rows(slow: bool) -> RegisterCode:
    """Rows that are made of what is read, and divided by the sums of what is read."""
    made = RegisterStep("compute", (2,), (0,), (0,), flag=slow)
    return RegisterCode(
        (READ, SUM, made, RegisterStep("compute", (3,), (2, 1), (0,)), RegisterStep("write", (), (3,))), SHAPES
    )


@pytest.mark.parametrize(("slow", "wanted"), [(True, 256 + 32), (False, 32)])
def test_what_waits_for_a_sum(slow: bool, wanted: int) -> None:
    """Exponentials; what is cheap is computed when it is asked for, beside the sums."""
    code = rows(slow)
    found = pressures(trace(code, Sizing(code, {"a": 256, "b": 1024}), 256))
    assert max(waiting for _, waiting in found) == wanted and found[-1][1] == 0
    assert spilled_bytes(code, {"a": 256, "b": 1024}, 256) == max(0, wanted - 42) * 4096


@pytest.mark.parametrize(("pressure", "wanted"), [(0, 0), (42, 0), (43, 4096), (142, 409600)])
def test_some_registers_hold_what_waits(pressure: int, wanted: int) -> None:
    assert spilled(pressure) == wanted and list(spilled(np.array([0, pressure]))) == [0, wanted]


def test_candidates_at_once_are_each_by_itself() -> None:
    """Also where a trace decides otherwise for some of them: sums of 128 lanes are as large as the block."""
    sums = (RegisterStep("compute", (4,), (1,), (0,)), RegisterStep("combine", (5,), (4,), (1,), flag=True))
    code = RegisterCode((*rows(True).steps[:-1], *sums, RegisterStep("compute", (6,), (3, 5, 4), (0,))), SHAPES)
    sizes = {"a": np.array([8, 256, 1024, 64, 256]), "b": np.array([128, 128, 1024, 4096, 4096])}
    alone = [spilled_bytes(code, {name: int(column[n]) for name, column in sizes.items()}, 256) for n in range(5)]
    assert list(spilled_bytes(code, sizes, 256)) == alone and len({*alone}) > 3
    assert list(spilled_bytes(code, {**sizes, "b": 1024}, 256))[1] == spilled_bytes(code, {"a": 256, "b": 1024}, 256)
