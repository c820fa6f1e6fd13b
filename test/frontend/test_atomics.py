"""``hl.atomic_*`` while a kernel is imported: orderings, and what is refused where."""

import pytest
import torch

import kopt.language as hl
from test.frontend.support import imported
from test.frontend.test_errors import refused


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
def test_orderings(sem):
    def ordered(x):
        for i in hl.tile(x.size(0)):
            hl.atomic_max(x, [i], 1.0, sem)

    (op,) = [op for op in imported(ordered, torch.zeros(9)).module.walk() if op.name == "atomic.rmw"]
    assert op.properties["ordering"].data == sem


def _ordering(x, n):
    for i in hl.tile(n.size(0)):
        hl.atomic_add(n, [i], 1, sem="seq_cst")


def _float_bits(x, n):
    for i in hl.tile(x.size(0)):
        hl.atomic_xor(x, [i], 1)


def _bool_sum(x, n):
    flag = torch.zeros([9], dtype=torch.bool)
    for i in hl.tile(x.size(0)):
        hl.atomic_add(flag, [i], 1)


def _of_a_value(x, n):
    for i in hl.tile(x.size(0)):
        hl.atomic_add(x[i], [0], 1)


def _on_the_host(x, n):
    hl.atomic_add(x, [0], 1)


def _wrong_shape(x, n):
    for i in hl.tile(x.size(0), block_size=4):
        hl.atomic_add(x, [i], hl.zeros([3]))


def _exchanged_by_many(x, n):
    for i in hl.tile(x.size(0), block_size=4):
        hl.atomic_xchg(x, [n[i][:, None]], hl.zeros([i, 8]))


def _too_many(x, n):
    for i in hl.tile(x.size(0)):
        hl.atomic_cas(x, [i, 0], 0, 1)


@pytest.mark.parametrize(
    "kernel, text",
    [
        (_ordering, "hl.atomic_add knows the orderings relaxed, acquire, release, acq_rel, found 'seq_cst'"),
        (_float_bits, "hl.atomic_xor needs a target of integers or booleans, found torch.float32"),
        (_bool_sum, "hl.atomic_add needs a target of numbers, found torch.bool"),
        (_of_a_value, "hl.atomic_add needs a host tensor, found a device tensor"),
        (_on_the_host, "hl.atomic_add works inside device loops"),
        (_wrong_shape, "does not broadcast"),
        (_exchanged_by_many, "does not broadcast"),
        (_too_many, "2 indices for an array of 1 dimensions"),
    ],
)
def test_refusals_name_the_place(kernel, text):
    found = refused(kernel, torch.zeros(9), torch.zeros(9, dtype=torch.int32))
    assert text in found
    assert "hl.atomic_" in found.split("error:")[1]
