"""The target ``eager`` refuses what the others refuse, in their words or with the same class."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["reference", "eager"]
X, W = torch.randn(8, 4), torch.randn(8, 4)


def added(x, w):
    out = torch.zeros_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :] + w[i, :]
    return out


def added_lists(pairs, by_name):
    out = torch.zeros_like(pairs[0])
    for i in hl.tile(out.size(0)):
        out[i, :] = pairs[0][i, :] + pairs[1][i, :] + by_name["w"][i, :]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_of_what_requires_grad_the_backward_is_refused(target: str) -> None:
    grad = W.clone().requires_grad_()
    for kernel, args, count in (
        (added, (X, grad), 2),
        (added_lists, ([X, grad], {"w": W}), 3),
        (added_lists, ([X, W], {"w": grad}), 3),
    ):
        result = kopt.kernel(kernel).on(target)(*args)
        torch.testing.assert_close(result.detach(), X + (count - 1) * W)
        with pytest.raises(kopt.UnsupportedError, match=f"kernel '{kernel.__name__}' has no backward"):
            result.sum().backward()


def skipping(x, w, wanted: bool):
    out = torch.zeros_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :]
        if w[0, 0] > 1e9:
            for j in hl.tile(x.size(1)):
                out[i, j] = w[i, j]
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_block_sizes_are_as_many_as_open_tiles(target: str) -> None:
    """Whether or not a run comes by them."""
    x = X.clone()
    with pytest.raises(kopt.ConfigError, match="block_sizes has 2 entries for 1 open tiles"):
        kopt.kernel(added, config={"block_sizes": [4, 4]}, target=target)(x, W)
    sized = kopt.kernel(skipping, config={"block_sizes": [4, 2]}, target=target)
    assert torch.equal(sized(x, W, True), X)
    with pytest.raises(kopt.ConfigError, match="block_sizes has 3 entries for 2 open tiles"):
        kopt.kernel(skipping, config={"block_sizes": [4, 2, 2]}, target=target)(x, W, True)


@pytest.mark.parametrize("target", TARGETS)
def test_a_default_device_is_the_caller_s(target: str) -> None:
    """Kernels run where their arguments are."""
    with torch.device("meta"):
        found = kopt.kernel(added).on(target)(X, W)
        of_numpy = kopt.kernel(added).on(target)(X.numpy(), W.numpy())
    assert torch.equal(found, X + W)
    assert (of_numpy == (X + W).numpy()).all()


PICKS = {
    "gather": lambda v, n: torch.gather(v, 1, n),
    "gather of the last": lambda v, n: v.gather(-1, n),
    "take_along_dim": lambda v, n: torch.take_along_dim(v, n, 1),
    "index_select": lambda v, n: torch.index_select(v, 1, n[0]),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("number", [4, -1, 100])
@pytest.mark.parametrize("pick", PICKS.values(), ids=PICKS)
def test_lanes_that_there_are_not(pick, number: int, target: str) -> None:
    @kopt.kernel
    def picked(x, n):
        out = torch.zeros_like(x)
        for i in hl.tile(x.size(0), block_size=8):
            out[i, :] = pick(x[i, :], n[i, :])
        return out

    inside = torch.tensor([3, 0, 1, 1]).expand(8, 4).contiguous()
    assert torch.equal(picked.on(target)(X, inside), X[:, [3, 0, 1, 1]])
    outside = inside.clone()
    outside[0, 2] = number
    with pytest.raises(kopt.AccessError, match=f"lane {number} "):
        picked.on(target)(X, outside)


def shifted(x):
    out = torch.zeros([9])
    for i in hl.tile(8, block_size=4):
        out[i.index + 0] = x[i, 0]
        out[i.index + 1] = x[i, 1]
    return out


def twice_shifted(x):
    out = torch.zeros([20])
    for i in hl.tile(8, block_size=4):
        out[1 + i.index + i.id - 1] = x[i, 0]
        out[i.index + 2] = x[i, 1]
    return out


def spread_out(x):
    out = torch.zeros([16])
    for i in hl.tile(8, block_size=4):
        out[i.begin + hl.arange(8)] = x[i.id, 0] + hl.arange(8)
    return out


def read_beside_updates(x):
    out, seen = torch.zeros([8]), torch.zeros([8])
    for i in hl.tile(8, block_size=4):
        hl.atomic_add(out, [0], x[i, 0].sum())
        seen[i] = out[0] + x[i, 1]
    return seen


def read_before_updates(x):
    out, seen = torch.zeros([8]), torch.zeros([8])
    for i in hl.tile(8, block_size=4):
        seen[i] = out[0] + x[i, 1]
        hl.atomic_max(out, [0], x[i, 0].sum())
    return seen


def stored_beside_updates(x):
    out = torch.zeros([8])
    for i in hl.tile(8, block_size=4):
        hl.atomic_add(out, [slice(None)], x[:, 0])
        out[i.id] = 1.0
    return out


CONFLICTS = [shifted, twice_shifted, read_beside_updates, read_before_updates, stored_beside_updates]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", CONFLICTS, ids=lambda kernel: kernel.__name__)
def test_cells_that_disturb_each_other(kernel, target: str) -> None:
    with pytest.raises(kopt.AccessError, match="another cell of the grid .*: cells run in no order"):
        kopt.kernel(kernel).on(target)(X)


def updated_alone(x):
    out = torch.zeros([8])
    for i in hl.tile(8, block_size=4):
        hl.atomic_max(out, [0], x[i, 0].amax())
        hl.atomic_min(out, [0], x[i, 0].amax())
        hl.atomic_add(out, [i.index], x[i, 1])
    return out


def updated_and_stored_by_one(x):
    out = torch.zeros([9])
    for i in hl.tile(8, block_size=4):
        hl.atomic_add(out, [i.index + 1], x[i, 0])
        out[i.index + 1] = out[i.index + 1] * 2
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "kernel", [updated_alone, updated_and_stored_by_one, spread_out], ids=lambda kernel: kernel.__name__
)
def test_cells_that_do_not(kernel, target: str) -> None:
    kopt.kernel(kernel).on(target)(X)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("product", [torch.matmul, torch.inner, torch.mm, torch.bmm], ids=lambda f: f.__name__)
def test_torchs_products_promote_no_8_bit_floats(target: str, product) -> None:
    """``hl.dot`` takes them beside others."""

    def multiplied(x, w, multiply):
        out = torch.zeros([8, 8])
        for i in hl.tile(x.size(0), block_size=8):
            rows = x[i, :][None] if multiply is torch.bmm else x[i, :]
            columns = w[:, :] if multiply is torch.inner else w[:, :].t()
            out[i, :] = multiply(rows, columns[None] if multiply is torch.bmm else columns).reshape(-1, 8)
        return out

    narrow = X.to(torch.float8_e5m2)
    with pytest.raises(kopt.UnsupportedError, match="Promotion for Float8 Types is not supported"):
        kopt.kernel(multiplied).on(target)(narrow, W, product)
    torch.testing.assert_close(kopt.kernel(multiplied).on(target)(narrow, W, hl.dot), narrow.float() @ W.t())
