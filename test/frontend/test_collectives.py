"""Collectives on host tensors: which are recorded, and which are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from kopt.dialects import symm
from kopt.errors import UnsupportedError
from kopt.frontend import import_kernel
from kopt.frontend.groups import Groups
from kopt.walk import walk

X = torch.zeros(12, 5)
C10D, SYMMETRIC = torch.ops._c10d_functional, torch.ops.symm_mem
Call = Callable[[torch.Tensor], torch.Tensor]

#: The op and the rows that a call gives.
TAKEN: dict[str, tuple[Call, type, int]] = {
    "all_reduce": (lambda x: C10D.all_reduce(x, "SUM", "tp"), symm.AllReduceOp, 12),
    "average": (lambda x: C10D.all_reduce(x, "avg", "tp"), symm.AllReduceOp, 12),
    "all_gather": (lambda x: C10D.all_gather_into_tensor(x, 4, "tp"), symm.AllGatherOp, 48),
    "reduce_scatter": (lambda x: C10D.reduce_scatter_tensor(x, "sum", 4, "tp"), symm.ReduceScatterOp, 3),
    "all_to_all": (lambda x: C10D.all_to_all_single(x, [3] * 4, [3] * 4, "tp"), symm.AllToAllOp, 12),
    "of several": (lambda x: C10D.all_reduce_coalesced([x, x], "max", "tp")[1], symm.AllReduceOp, 12),
    "by one shot": (lambda x: SYMMETRIC.one_shot_all_reduce(x, "sum", "tp"), symm.AllReduceOp, 12),
    "waited for": (lambda x: C10D.wait_tensor(C10D.all_reduce(x, "min", "tp")), symm.AllReduceOp, 12),
}
#: What is said first.
REFUSED: dict[str, Call] = {
    "an all-reduce by one_shot combines by add only, found 'max'": lambda x: SYMMETRIC.one_shot_all_reduce(
        x, "max", "tp"
    ),
    "an all-reduce by multimem combines f32 or bf16, found i32": lambda x: SYMMETRIC.multimem_one_shot_all_reduce(
        x.int(), "sum", "tp"
    ),
    "combining the elements of ranks by 'product' is not supported": lambda x: C10D.all_reduce(x, "product", "tp"),
    "reduce_scatter by 'max' is not supported": lambda x: C10D.reduce_scatter_tensor(x, "max", 4, "tp"),
    "reduce_scatter deals 12 rows to 5 ranks": lambda x: C10D.reduce_scatter_tensor(x, "sum", 5, "tp"),
    "all_to_all of parts of different sizes is not supported": lambda x: C10D.all_to_all_single(
        x, [3, 3, 3, 3], [6, 2, 2, 2], "tp"
    ),
    "the collective 'broadcast' is not supported in a program": lambda x: C10D.broadcast(x, 0, "tp"),
}


def imported(call: Call):
    return import_kernel(lambda x: call(x + 1), (X,), {})


@pytest.mark.parametrize("case", TAKEN)
def test_what_is_recorded(case: str) -> None:
    call, kind, rows = TAKEN[case]
    module = imported(call).module
    ops = walk(module, kind)
    assert ops and ops[0].results[0].type.get_shape() == (rows, 5)  # pyright: ignore
    assert '"tp"' in str(ops[0])


class ProcessGroup:
    group_name = "7"


class DeviceMesh:
    def __init__(self, ndim: int):
        self.ndim = ndim

    def get_group(self) -> ProcessGroup:
        return ProcessGroup()


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (ProcessGroup(), {"tp": "7"}),
        (DeviceMesh(1), {"tp": "7"}),
        (DeviceMesh(2), {}),
        (7, {}),
    ],
    ids=["group", "mesh", "mesh of two dimensions", "number"],
)
def test_groups_that_arguments_bring(value: object, names: dict[str, str]) -> None:
    groups = Groups()
    groups.bring("tp", value)
    groups.bring("again", value)
    assert groups.names == names


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_refused(said: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        imported(REFUSED[said])
    assert said in str(caught.value).splitlines()[0]
