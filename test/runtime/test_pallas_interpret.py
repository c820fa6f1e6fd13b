"""pallas:interpret on real numbers, every framework in and out."""

import functools
import re
import signal
import threading
from time import perf_counter, sleep

import numpy as np
import pytest

jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")

import jax.numpy as jnp  # noqa: E402

import kopt  # noqa: E402
import kopt.language as hl  # noqa: E402
from kopt.errors import ArgumentError  # noqa: E402
from kopt.runtime.interpreted_grid import Stop  # noqa: E402
from kopt.runtime.pallas_interpret import _functions, interpreted_module  # noqa: E402

from .support import executable, source  # noqa: E402

TARGET = "pallas:interpret"
FLOATS = [torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(300, 130), (1, 1), (128, 256)])
def test_softmax_against_torch(dtype, shape):
    x = torch.randn(shape).to(dtype)
    got = executable("softmax_pallas", "softmax", TARGET, x)(x)
    expected = torch.softmax(x.float(), 1).to(dtype)
    assert got.dtype == dtype and torch.allclose(got.float(), expected.float(), rtol=1e-2, atol=1e-6)


def test_matmul_against_torch():
    x, y = torch.randn(256, 512).bfloat16(), torch.randn(512, 256).bfloat16()
    got = executable("matmul_pallas", "matmul", TARGET, x, y)(x, y)
    assert torch.allclose(got.float(), x.float() @ y.float(), rtol=1e-2, atol=0.2)


def test_jax_in_jax_out_also_under_jit():
    x = jnp.arange(300.0).reshape(3, 100) / 300
    exe = executable("softmax_pallas", "softmax", TARGET, x)
    assert isinstance(exe(x), jax.Array)
    np.testing.assert_allclose(jax.jit(exe)(x), jax.nn.softmax(x, axis=1), rtol=1e-6)


def test_numpy_in_numpy_out():
    x = np.random.default_rng(0).normal(size=(20, 30)).astype(np.float32)
    got = executable("exp_pallas", "exp", TARGET, x)(x)
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got, np.exp(x), rtol=1e-6)


@pytest.mark.parametrize("value", [2**40 + 1, -(2**62)])
def test_int64_keeps_its_width(value):
    x = torch.full((8, 128), value)
    got = executable("misc_pallas", "add_one", TARGET, x)(x)
    assert got.dtype == torch.int64 and torch.equal(got, x + 1)


def test_float64_keeps_its_width():
    x = torch.full((8, 128), 1.0 + 2**-40, dtype=torch.float64)
    assert torch.equal(executable("misc_pallas", "add_one", TARGET, x)(x), x + 1)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int8, torch.uint8, torch.int16])
def test_integers(dtype):
    x = torch.arange(40, dtype=dtype).reshape(5, 8)
    assert torch.equal(executable("misc_pallas", "add_one", TARGET, x)(x), x + 1)


def test_bool():
    x = torch.arange(40).reshape(5, 8) % 3 == 0
    got = executable("misc_pallas", "invert", TARGET, x)(x)
    assert got.dtype == torch.bool and torch.equal(got, ~x)


def test_strided_and_expanded_arguments_are_copied():
    base = torch.randn(130, 300)
    for x in (base.T, base[::2, 3:200], base[:1].expand(5, 300)):
        got = executable("exp_pallas", "exp", TARGET, x)(x)
        assert torch.allclose(got, x.exp(), rtol=1e-5)


def test_mutated_arguments_are_written_back():
    x, y = torch.zeros(6, 4).T, torch.ones(3)
    exe = executable("misc_pallas", "bump_and_sum", TARGET, x, y, mutated=(0,))
    total = exe(x, y)
    assert total.item() == 27 and torch.equal(x, torch.ones(4, 6))
    array = np.zeros((4, 6), np.float32)
    assert exe(array, np.ones(3, np.float32)) == 27 and array.sum() == 24


def test_jax_arguments_cannot_change_so_final_values_are_results():
    x, y = jnp.zeros((4, 6)), jnp.ones(3)
    total, final = executable("misc_pallas", "bump_and_sum", TARGET, x, y, mutated=(0,))(x, y)
    assert total == 27 and final.sum() == 24 and x.sum() == 0


def test_results_and_final_values_survive_the_write_back():
    """The kernel returns x as it was, and exchanges its arguments: each output is another argument's memory."""
    x, y = torch.zeros(64), torch.ones(64)
    old = executable("misc_pallas", "swap", TARGET, x, y, mutated=(0, 1))(x, y)
    assert (old == 0).all() and (x == 1).all() and (y == 0).all()


@pytest.mark.parametrize("target", [TARGET, "pallas:strict"])
@pytest.mark.parametrize("shape", [(8, 128), (32, 1024)])
def test_a_maximum_keeps_nan(target, shape):
    x = torch.randn(shape)
    x[3, 5] = torch.nan
    got = executable("misc_pallas", "largest", target, x)(x)
    assert got[3].isnan().all() and torch.equal(got[4], x[4].max().expand(shape[1]))


def test_no_result_is_none():
    x = torch.zeros(2, 2)
    assert executable("misc_pallas", "nothing", TARGET, x)(x) is None


def test_hidden_tensors_follow_the_arguments():
    x, bias = torch.zeros(2, 2), torch.full((3,), 4.0)
    exe = executable("misc_pallas", "bump_and_sum", TARGET, x, hidden=(bias,))
    total, new = exe(x)
    assert total.item() == 16 and torch.equal(new, x + 1)


def test_a_tensor_that_requires_grad_is_refused():
    x = torch.zeros(2, 2, requires_grad=True)
    exe = executable("misc_pallas", "add_one", TARGET, x)
    with pytest.raises(ArgumentError, match=r"argument 'x' requires grad(.|\n)*detach"):
        exe(x)
    with torch.no_grad():
        assert torch.equal(exe(x), torch.ones(2, 2))


def test_emit_pipeline_sees_the_chip():
    x = torch.randn(64, 128)
    assert torch.equal(executable("misc_pallas", "pipelined", TARGET, x)(x), x * 2)


def test_the_emitted_text_is_what_runs(monkeypatch):
    """Interpreters execute the identical text: no character changes between emission and `exec`."""
    seen = []
    real = compile
    monkeypatch.setattr("builtins.compile", lambda text, *a, **k: seen.append(text) or real(text, *a, **k))
    x = torch.ones(3, 5)
    _functions.cache_clear()
    executable("exp_pallas", "exp", TARGET, x)(x)
    assert source("exp_pallas") in seen


def test_function_is_the_jax_function():
    exe = executable("misc_pallas", "add_one", TARGET, "f32[2,2]")
    assert exe.function(jnp.zeros((2, 2))).sum() == 4


@kopt.kernel(config={"block_sizes": [8]})
def shifted(x, y):
    for rows in hl.tile(x.size(0)):
        y[rows, :] = y[rows, :] + x[rows, :]
    return y


@pytest.mark.parametrize("ours", [True, False], ids=["kopt", "jax"])
def test_no_cell_copies_whole_arrays(ours):
    """XLA's program copies the array that changes once; with JAX's own loop, whole arrays for each cell."""
    x = jnp.zeros((256, 384))
    text = shifted.lower(x, x, target=TARGET).source
    function = interpreted_module(text, "shifted", True if ours else lambda grid: True).shifted
    program = jax.jit(function).lower(x, x).compile().as_text()
    in_loops = "".join(part for part in program.split("\n\n") if not part.startswith("ENTRY"))
    assert bool(re.search(r"= f32\[256,384\]\S* copy\(", in_loops)) is not ours


@kopt.kernel(config={"block_sizes": [8, 128]})
def repeated(x, times):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        total = hl.zeros([rows, x.size(1)], dtype=torch.float32)
        for _ in hl.tile(0, times[0]):
            total = torch.exp(x[rows, :] - total)
        out[rows, :] = total
    return out


@pytest.mark.parametrize("is_guarded", [False, True], ids=["called", "guarded"])
def test_a_call_that_is_interrupted_does_not_go_on(is_guarded, request):
    """Where nothing stops it, it takes a minute and holds up the next call, which has to wait for one cell at most."""
    x = torch.zeros(2048, 128)
    short, long = (torch.tensor([times], dtype=torch.int32) for times in (1, 1 << 18))
    kernel = repeated.on(TARGET) if is_guarded else repeated.lower(x, short, target=TARGET).compile()
    kernel(x, short)
    # Processes in the background ignore it.
    request.addfinalizer(functools.partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    before = perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        kernel(x, long)
        sleep(60)  # where it was quicker than the timer
    assert torch.equal(kernel(x, short), torch.ones(2048, 128))
    assert perf_counter() - before < 10


def test_what_stops_a_call_is_an_array_also_where_a_trace_makes_it():
    """A guarded call within a trace may be the first: an array of that trace would be kept after its end."""
    stops = []
    jax.jit(lambda x: stops.append(Stop()) or x)(jnp.ones(3))
    stops[0].stop()
    assert stops[0].array.tolist() == [1]
