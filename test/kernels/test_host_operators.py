"""Torch operators on the host, around device loops, on every CPU target: with all that their arguments say."""

import pytest
import torch

import kopt
import kopt.language as hl

X = torch.randn(6, 6, generator=torch.Generator().manual_seed(0))
N = torch.tensor([3, 0, 5, 5, 1, 2], dtype=torch.int32)
CALLS = {
    "arithmetic": lambda x, n: [
        x.add(x, alpha=2),
        x.sub(1.0, alpha=3),
        2 - x,
        x**2,
        2**x,
        x % 0.3,
        x // 0.3,
        n // 2,
        n % 2,
    ],
    "limits": lambda x, n: [
        x.clamp(-0.5),
        x.clamp(-0.5, 0.5),
        x.clamp(max=0.5),
        torch.maximum(x, x * 2),
        n.clamp_min(2),
    ],
    "functions": lambda x, n: [
        x.sin(),
        x.abs().log1p(),
        x.tanh(),
        x.round(),
        torch.erf(x),
        torch.nn.functional.silu(x),
    ],
    "triangles": lambda x, n: [x.tril(), x.tril(1), x.triu(-2)],
    "sums": lambda x, n: [x.sum(), x.sum(1), x.sum((0, 1), keepdim=True), n.sum(), x.mean(0), x.mean(), n.cumsum(0)],
    "extremes": lambda x, n: [
        x.amax(),
        x.amax(1),
        x.amin(0, keepdim=True),
        x.max(),
        x.argmax(),
        x.argmin(1, keepdim=True),
    ],
    "logic": lambda x, n: [(x > 0).any(), (x > 0).all(1), (x > 0) ^ (x < 1), ~(n > 1), torch.where(x > 0, x, 0.0)],
    "products": lambda x, n: [x @ x.T, x @ x[0], torch.addmm(x, x, x), x.softmax(1), x.log_softmax(0)],
    "places": lambda x, n: [
        x[n],
        x[:, n],
        x[n, n],
        x.index_select(1, n),
        x.gather(1, n.long()[:, None]),
        x.flip(0),
        x[:, [0, 2]],
    ],
    "sums at places": lambda x, n: [x.index_put((n,), x, accumulate=True), x.index_put((n, n), x[0], accumulate=True)],
    "bits": lambda x, n: [x.view(torch.int32), n.view(torch.float32), x.view(torch.float32)],
    "slices of all": lambda x, n: [x[:6, :6], x.view(3, 12)[:3], x[:, :][:, 2:], x[:6].add(1.0)],
    "orders": lambda x, n: [
        *x.sort(0),
        *x.sort(descending=True),
        *x.topk(3),
        *x.topk(2, 0, largest=False),
        *x.max(1),
        *x.min(0, keepdim=True),
        x.argsort(1),
    ],
    "windows": lambda x, n: [
        x.diagonal(),
        x.diagonal(1, 1, 0),
        x.diag(-1),
        x.unfold(1, 3, 2),
        x.unfold(0, 2, 1),
        x.rot90(3, (1, 0)),
    ],
    "more functions": lambda x, n: [
        x.logsumexp(1),
        (x > 0).count_nonzero(),
        x.masked_fill(x > 0, 2.0),
        torch.nn.functional.gelu(x),
        torch.asinh(x),
        x @ torch.eye(6),
        torch.nn.functional.embedding(n, x),
        torch.max(x, -x),
    ],
    "filled integers": lambda x, n: [(x.int() + 2**30).masked_fill(x > 2, -2.5)],
    "filled wide integers": lambda x, n: [(x.long() + 2**60).masked_fill(x > 2, -2.5)],
    "several and one": lambda x, n: [
        x.prod(0),
        x.prod(1, keepdim=True),
        (x > 0).count_nonzero(1),
        x.var(1),
        x.std(),
        x.norm(),
        x.norm(p=1, dim=0),
        torch.addmm(x, x, x, beta=0.5, alpha=2),
    ],
    "norms": lambda x, n: [
        x.norm(p=float("inf"), dim=1),
        x.norm(p=-float("inf"), dim=0, keepdim=True),
        x.norm(p=0, dim=1),
        x.norm(p=3),
        torch.linalg.vector_norm(x, float("inf")),
        x.var(1, correction=0, keepdim=True),
        x.std(0, correction=2),
    ],
    "fewer places": lambda x, n: [
        x.gather(1, n[None].long()),
        x.gather(0, n[:2, None].long()),
        x.scatter(1, n[None, :2].long(), 5.0),
        x.scatter(0, n[None, :3].long(), x),
        x.index_add(1, n, x),
    ],
    "padding": lambda x, n: [torch.nn.functional.pad(x, (1, -1, 0, 2), value=3.0)],
    "masks": lambda x, n: [
        x.index_put((x > 0,), x.new_zeros(())),
        x.index_put((x[:, 0] > 0,), x[0]),
        x.index_put((x > 0,), x.new_ones(1), accumulate=True),
    ],
    "repeats": lambda x, n: [x.roll(2), x.roll(1, 0), x.repeat(2, 1), torch.stack([x, x], 1), torch.cat([x, x], 1)],
}


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
@pytest.mark.parametrize("group", CALLS)
def test_as_torch(group, target):
    calls = CALLS[group]

    def around(x, n):
        doubled = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            doubled[i, :] = x[i, :] * 2
        return calls(doubled, n)

    for got, wanted in zip(kopt.kernel(around, target=target)(X, N), calls(X * 2, N), strict=True):
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
def test_elements_written_on_the_host(target):
    def scattered(x, n):
        out = torch.zeros_like(x)
        doubled = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            doubled[i, :] = x[i, :] * 2
        out[n] = doubled
        return out

    order = torch.tensor([3, 0, 5, 4, 1, 2])
    got = kopt.kernel(scattered, target=target)(X, order)
    torch.testing.assert_close(got[order], X * 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: torch.renorm(x, 2, 0, 1.0),
        lambda x, n: x.index_add(0, n, x, alpha=2),
        lambda x, n: x.scatter(0, n[:, None].long(), x, reduce="add"),
    ],
)
def test_what_jnp_lacks_is_refused(call):
    """Never printed without an argument."""

    def around(x, n):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i, :] = x[i, :] * 2
        return call(out, n)

    with pytest.raises(kopt.KoptError, match="has no spelling in jnp"):
        kopt.kernel(around).lower(X, N, target="pallas:interpret")


@kopt.kernel
def limited(x, most: int):
    """An array of a number, and one of a list, on the device of an argument."""
    largest = torch.tensor(most, device=x.device, dtype=torch.int32)
    weights = torch.tensor([1.0, 2.0, 3.0], device=x.device)
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        out[i, j] = torch.minimum(x[i, j], largest) + weights[j]
    return out


@kopt.kernel
def by_workers(x):
    """As many cells as the device is said to have processors, each with every so many rows."""
    workers = torch.cuda.get_device_properties(x.device).multi_processor_count
    out = torch.empty_like(x)
    for worker in hl.grid(workers):
        for row in range(worker, x.size(0), workers):
            out[row, :] = x[row, :] + 1
    return out


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_the_device_of_arguments(target):
    """Says where arrays of numbers are, and how many processors there are."""
    x = torch.randint(20, (20, 3)).float()
    torch.testing.assert_close(limited.on(target)(x, 7), x.clamp(max=7) + torch.tensor([1.0, 2.0, 3.0]))
    torch.testing.assert_close(by_workers.on(target)(x), x + 1)


def strided_results(x):
    empty, zeros, full = torch.empty_like(x.t()), torch.zeros_like(x.t()), torch.full_like(x.t(), 3.0)
    rows = torch.empty_strided(zeros.shape, (x.size(0) + 1, 1), dtype=x.dtype)
    for i, j in hl.tile(empty.shape, block_size=[2, 4]):
        block = x[j, i].t()
        empty[i, j], rows[i, j] = block + 1, block * 2
        full[i, j] = full[i, j] + block
        hl.atomic_add(zeros, [i, j], block)
    return empty, zeros, full, rows


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_new_arrays_have_the_strides_of_their_type(target):
    """Arrays like a transposed one, and with strides of their own."""
    x = torch.randn(5, 7, generator=torch.Generator().manual_seed(1))
    got = kopt.kernel(strided_results).on(target)(x)
    for one, wanted in zip(got, (x.t() + 1, x.t(), x.t() + 3, x.t() * 2), strict=True):
        torch.testing.assert_close(one, wanted)


#: Operators of which torch lays the results out in other orders: after their operands, from the first column, as views.
REORDERED = {
    "a product": lambda x: x.t() * 2,
    "a choice": lambda x: torch.where(x.t() > 0, x.t(), 0.0),
    "like a transposed one": lambda x: torch.zeros_like(x.t()) + x.t(),
    "flipped": lambda x: x.t().flip(0),
    "sorted": lambda x: x.t().sort(0).values,
    "turned": lambda x: x.rot90(),
    "a diagonal": lambda x: x.diagonal(1)[None, :],
    "windows": lambda x: x.unfold(1, 3, 2)[0],
    "of other dimensions": lambda x: x.t().cumsum(1),
}


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("kind", REORDERED)
def test_results_are_read_in_row_major_order(kind, target):
    """Whatever strides torch gives them: the kernel after the call knows none."""

    def copied(x):
        given = REORDERED[kind](x)
        out = torch.empty(given.shape, dtype=x.dtype)
        for i, j in hl.tile(given.shape, block_size=[4, 4]):
            out[i, j] = given[i, j]
        return out

    torch.testing.assert_close(kopt.kernel(copied).on(target)(X), REORDERED[kind](X))


@pytest.mark.parametrize("callee", ["linalg_qr", "linalg_cholesky_ex"])
def test_factors_that_are_counted_from_the_first_column(callee):
    """Both results are put in row-major order before they are read."""
    factor = getattr(torch.ops.aten, callee)

    def copied(x):
        given = factor(x)[0]
        out = torch.empty_like(x)
        for i, j in hl.tile(x.shape, block_size=[4, 4]):
            out[i, j] = given[i, j]
        return out

    x = X @ X.t() + torch.eye(6)
    torch.testing.assert_close(kopt.kernel(copied).on("triton:interpret")(x), factor(x)[0])


def _more(x, by):
    for i, j in hl.tile(x.shape, block_size=[4, 4]):
        x[i, j] = x[i, j] + by[i, j]


def read_again(x):
    """What operators of the host say of an array before and after loops, and the host, write it."""
    before, diagonal = x.sum(0), x.diagonal().sum()
    _more(x, x.clone())
    between = x.sum(0)
    x[0] = 3.0
    x.pow_(2)
    return before, between, x.sum(0), diagonal, x.diagonal().sum()


def _read_again(x):
    before, diagonal = x.sum(0), x.diagonal().sum()
    between = 2 * before
    x = torch.cat([torch.full((1, 6), 3.0), 2 * x[1:]]) ** 2
    return before, between, x.sum(0), diagonal, x.diagonal().sum()


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_what_is_written_is_read_again(target):
    """Equal calls are not one where something is written between them."""
    for got, wanted in zip(kopt.kernel(read_again).on(target)(X.clone()), _read_again(X), strict=True):
        torch.testing.assert_close(got, wanted)


def drawn(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :] + 1
    return out, torch.rand(100), torch.rand(100), torch.randn_like(x), torch.randn_like(x)


def test_numbers_are_drawn_at_each_call():
    """Random numbers of the host: two calls give two arrays."""
    _, *pairs = kopt.kernel(drawn).on("triton:interpret")(X)
    assert all((one != other).any() for one, other in zip(pairs[::2], pairs[1::2], strict=True))


def written_by_views(x):
    """One element, and a row of a transposed view, after a loop over the whole."""
    out = x.clone()
    flat, turned = out.view(-1), out.t()
    _more(out, x)
    flat[3] = 100.0
    turned[1][2:4] = 5.0
    return out, flat.sum()


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
def test_views_of_views_are_written_after_a_loop(target):
    wanted = X * 2
    wanted[0, 3] = 100
    wanted[2:4, 1] = 5
    got, total = kopt.kernel(written_by_views).on(target)(X)
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(total, wanted.sum())
