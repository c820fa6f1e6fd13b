"""Arrays keep every bit between torch, JAX, NumPy, the reference interpreter and other processes."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")

from kopt.dtypes import BY_SPEC, DTYPES  # noqa: E402
from kopt.runtime.exchange import convert  # noqa: E402
from kopt.runtime.wire import from_reference, pack, to_reference, unpack  # noqa: E402

SHAPES = [(), (0, 3), (1,), (5, 7), (2, 0)]


def random_tensor(dtype, shape):
    """Random bits of a dtype; floats without NaN."""
    torch.manual_seed(0)
    kind = getattr(torch, dtype.torch)
    if dtype.is_float:
        return (torch.randn(shape) * 3).to(kind)
    low, high = (0, 2) if dtype.kind == "bool" else (0, 2 ** min(dtype.bits - 1, 40))
    return torch.randint(low, high, shape).to(kind)


def bits(tensor):
    return pack(tensor).bits.tobytes()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.spec)
@pytest.mark.parametrize("framework", ["jax", "numpy"])
def test_round_trips_keep_every_bit(dtype, shape, framework):
    tensor = random_tensor(dtype, shape)
    there = convert(tensor, framework)
    assert str(there.dtype) == dtype.torch and tuple(there.shape) == shape
    back = convert(there, "torch")
    assert back.dtype == tensor.dtype and back.shape == tensor.shape and bits(back) == bits(tensor)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.spec)
def test_numpy_to_jax(dtype):
    tensor = random_tensor(dtype, (4, 3))
    array = convert(convert(tensor, "numpy"), "jax")
    assert isinstance(array, jax.Array) and bits(convert(array, "torch")) == bits(tensor)


@pytest.mark.parametrize(
    "view",
    [lambda t: t.T, lambda t: t[::2, 1:5], lambda t: t[:1].expand(4, 8), lambda t: t[:, :1], lambda t: t[3:4]],
)
def test_views_arrive_as_they_look(view):
    x = view(torch.arange(64.0).reshape(8, 8))
    assert torch.equal(convert(convert(x, "jax"), "torch"), x)
    assert np.array_equal(pack(x).bits, x.numpy())


def test_torch_to_jax_shares_memory_on_the_cpu():
    x = torch.zeros(1024)
    array = convert(x, "jax")
    assert array.unsafe_buffer_pointer() == x.data_ptr() or x.data_ptr() % 64


def test_big_integers_and_float64_survive():
    assert int(convert(torch.tensor([2**40]), "jax")[0]) == 2**40
    assert float(convert(torch.tensor([1 + 2**-40], dtype=torch.float64), "jax")[0]) == 1 + 2**-40
    assert convert(np.array([2**40]), "jax").dtype == "int64"


@pytest.mark.parametrize("spec", ["bf16", "f8E4M3FN", "f8E5M2"])
def test_every_code_through_the_reference_form(spec):
    dtype = BY_SPEC[spec]
    codes = np.arange(2**dtype.bits, dtype=f"uint{dtype.bits}")
    tensor = torch.from_numpy(codes.copy()).view(getattr(torch, dtype.torch))
    held = to_reference(pack(tensor))
    assert held.dtype == np.float32
    np.testing.assert_array_equal(held, tensor.float().numpy())
    back = from_reference(held, dtype).bits
    np.testing.assert_array_equal(back[~np.isnan(held)], codes[~np.isnan(held)])
    assert np.isnan(to_reference(from_reference(held, dtype))[np.isnan(held)]).all()


def test_bf16_results_round_to_nearest_even():
    values = np.array([1.00390625, 1.01171875, 1.0039063, -1.0e-40, 3.4e38, np.inf], np.float32)
    got = unpack(from_reference(values, BY_SPEC["bf16"]), "torch")
    assert torch.equal(got, torch.from_numpy(values).bfloat16())
