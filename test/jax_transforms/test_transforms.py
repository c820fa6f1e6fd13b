"""What JAX's transformations make of a kernel's call: one primitive, which is never looked into."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl

from .kernels import TARGET, add_to, doubled, scaled, softmax

X = jax.random.normal(jax.random.key(0), (20, 12))
BATCH = jnp.stack([X, X + 1, 2 * X])


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_a_call_is_one_primitive_without_callbacks():
    """XLA's program asks nothing of the host: its only calls are of functions inside of it."""
    jaxpr = jax.make_jaxpr(jax.jit(doubled))(X)
    assert "kopt_kernel" in str(jaxpr) and "callback" not in str(jaxpr)
    assert "custom_call" not in jax.jit(doubled).lower(X).as_text()


def test_vmap_is_a_loop_of_calls():
    close(jax.vmap(softmax)(BATCH), jax.nn.softmax(BATCH, -1))
    close(jax.vmap(jax.vmap(softmax))(BATCH[None]), jax.nn.softmax(BATCH[None], -1))
    moved = jnp.moveaxis(BATCH, 0, 1)
    close(jax.jit(jax.vmap(softmax, in_axes=1, out_axes=1))(moved), jax.nn.softmax(moved, -1))


def test_vmap_over_some_arguments():
    weights = jnp.arange(36.0).reshape(3, 12)
    close(jax.vmap(scaled, in_axes=(None, 0))(X, weights), X * weights[:, None])


def test_scan_and_control_flow():
    carried, all = jax.lax.scan(lambda c, _: (softmax(c), c.sum()), X, None, length=3)
    expected = X
    for _ in range(3):
        expected = jax.nn.softmax(expected, -1)
    close(carried, expected)
    assert all.shape == (3,)
    close(jax.jit(lambda x: jax.lax.cond(x[0, 0] > 99, doubled, softmax, x))(X), jax.nn.softmax(X, -1))
    close(jax.lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, doubled(s[1])), (0, X))[1], 4 * X)


def test_shapes_are_known_without_a_run():
    big = jax.ShapeDtypeStruct((1 << 20, 1 << 14), jnp.float32)
    found = jax.eval_shape(add_to, big, big)
    assert [(each.shape, each.dtype) for each in found] == [((1 << 20,), jnp.float32), (big.shape, big.dtype)]


def test_donated_memory_is_written_in_place():
    total = jnp.zeros((20, 12))
    address = total.unsafe_buffer_pointer()
    sums, after = jax.jit(add_to, donate_argnums=0)(total, X)
    assert total.is_deleted() and after.unsafe_buffer_pointer() == address
    close(after, X)
    close(sums, X.sum(-1))


def test_wide_elements_keep_their_width():
    with jax.enable_x64(True):
        x = jnp.full((8, 12), 2**20 + 1, dtype=jnp.int64)
        for call in (jax.jit(doubled), lambda x: jax.vmap(doubled)(x[None])[0]):
            assert jnp.array_equal(call(x), 2 * x) and call(x).dtype == jnp.int64


def test_what_is_exported_runs_without_kopt():
    pytest.importorskip("flatbuffers")
    for platforms in (["cpu"], ["cpu", "tpu"]):
        data = jax.export.export(jax.jit(softmax), platforms=platforms)(X).serialize()
        found = jax.export.deserialize(data)
        assert list(found.platforms) == platforms
        close(found.call(X), jax.nn.softmax(X, -1))


def test_a_program_for_a_tpu_is_exported_where_there_is_none():
    kernel = jax.jit(softmax.on("pallas:v6e"))
    exported = jax.export.export(kernel, platforms=["tpu"])(X)
    assert exported.platforms == ("tpu",) and "tpu_custom_call" in exported.mlir_module()
    with pytest.raises(kopt.ConfigError, match="runs on a TPU, and this machine has none") as error:
        kernel(X)
    assert error.value.location is not None


def test_a_backward_is_followed():
    ours, theirs = (lambda x, f=f: (f(x) ** 2).sum() for f in (softmax, jax.nn.softmax))
    expected = jax.grad(theirs)(X)
    close(jax.grad(ours)(X), expected)
    close(jax.jit(jax.grad(ours))(X), expected)
    close(jax.grad(jax.jit(ours))(X), expected)
    close(jax.vmap(jax.grad(ours))(BATCH), jax.vmap(jax.grad(theirs))(BATCH))
    close(jax.grad(lambda x: (jax.vmap(softmax)(x) ** 2).sum())(BATCH), jax.vmap(jax.grad(theirs))(BATCH))


def test_a_backward_in_functions_of_jax_gives_gradients_of_gradients():
    def loss(f):
        return lambda w: (jax.grad(lambda w: (f(X, w) ** 2).sum())(w) * jnp.arange(12.0)).sum()

    weight = jnp.linspace(1, 2, 12)
    close(jax.grad(loss(scaled))(weight), jax.grad(loss(lambda x, w: x * w))(weight))


def test_a_kernel_without_a_backward_runs_forward():
    """An argument that nobody differentiates asks for nothing."""
    close(jax.grad(lambda w: (doubled(X) * w).sum())(1.0), 2 * X.sum())
    close(jax.grad(lambda x: (doubled(jax.lax.stop_gradient(x)) * x).sum())(X), 2 * X)
    with pytest.raises(kopt.UnsupportedError, match="kernel 'doubled' has no backward") as error:
        jax.grad(lambda x: doubled(x).sum())(X)
    assert "kernels.py" in str(error.value) and "@doubled.backward" in str(error.value)


def test_threads_trace_side_by_side():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda n: jax.jit(lambda x: softmax.on(TARGET)(x) + n)(X), range(4)))
    for n, each in enumerate(found):
        close(each, jax.nn.softmax(X, -1) + n)


@kopt.kernel(target=TARGET)
def powers(x):
    """Gives an argument back, a result twice and what is no array; names are not in the order of the results."""
    square, cube = torch.empty_like(x), torch.empty_like(x)
    for at in hl.tile(x.size()):
        square[at] = x[at] * x[at]
        cube[at] = x[at] * x[at] * x[at]
    return {"square": square, "cube": [cube, cube], "same": x, "rows": x.size(0), "name": "powers"}


@powers.backward
def powers_backward(grad_0, grad_1, x, result_0):
    return 2 * grad_0 * x + 3 * grad_1 * result_0


def powers_in_jax(x):
    return {"square": x**2, "cube": [x**3, x**3], "same": x, "rows": x.shape[0], "name": "powers"}


def test_gradients_are_of_the_results_that_they_are_named_after():
    """Whatever order JAX has the leaves of what is returned in."""

    def loss(f):
        def of(x):
            found = f(x)
            weights = jnp.arange(found["rows"]) + len(found["name"])
            cubes = found["cube"][0] + 5 * found["cube"][1]
            return ((found["square"] + 7 * cubes + 11 * found["same"]) * weights[:, None]).sum()

        return of

    expected = jax.grad(loss(powers_in_jax))(X)
    np.testing.assert_allclose(jax.grad(loss(powers))(X), expected, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(jax.jit(jax.grad(loss(powers)))(X), expected, rtol=1e-4, atol=1e-3)
    for key in ("square", "same"):
        close(*(jax.grad(lambda x, f=f, k=key: f(x)[k].sum())(X) for f in (powers, powers_in_jax)))


def test_gradients_of_numbers_and_beside_numpy():
    @kopt.kernel(target=TARGET)
    def picked(x, rows, by):
        out = torch.empty([rows.size(0), x.size(1)], dtype=x.dtype)
        for at in hl.tile(rows.size(0)):
            out[at, :] = x[rows[at], :] * by
        return out

    @picked.backward
    def _(grad, x, rows, by):
        return {"x": jnp.zeros_like(x).at[rows].add(grad * by), "by": (grad * x[rows]).sum()}

    rows = np.array([3, 1, 3], np.int32)
    for given in (rows, jnp.asarray(rows)):
        found = jax.grad(lambda x, by, rows=given: picked(x, rows, by).sum(), (0, 1))(X, 2.0)
        expected = jax.grad(lambda x, by: (x[rows] * by).sum(), (0, 1))(X, 2.0)
        close(found[0], expected[0])
        close(found[1], expected[1])


def test_gradients_have_the_dtypes_and_shapes_of_arguments():
    kernel = kopt.kernel(doubled.fn, target=TARGET)
    narrow = X.astype(jnp.bfloat16)
    kernel.backward(lambda grad: 2 * grad.astype(jnp.float32), saved=("grad",))
    assert jax.grad(lambda x: kernel(x).astype(jnp.float32).sum())(narrow).dtype == jnp.bfloat16
    for wrong in (lambda grad: grad.sum(0), lambda grad: 2.0):
        kernel.backward(wrong, saved=("grad",))
        with pytest.raises(
            kopt.ArgumentError, match=r"gives a gradient of 'x' with the shape \[.*and 'x' is f32"
        ) as error:
            jax.grad(lambda x: kernel(x).sum())(X)
        assert error.value.location is not None and error.value.location.file == __file__


def test_gradients_of_what_is_written_are_taken_or_refused():
    kernel = kopt.kernel(add_to.fn, target=TARGET)

    def loss(total, x):
        sums, final = kernel(total, x)
        return (sums**2).sum() + (final * X).sum()

    kernel.backward(lambda g: {"x": g[:, None] * jnp.ones((20, 12))}, saved=("grad",))
    with pytest.raises(kopt.ArgumentError, match="takes no grad_1, the gradient of the final value of 'total'"):
        jax.grad(loss)(X, X)
    kernel.backward(lambda g, final: (final, final + g[:, None]), saved=("grad_0", "grad_1"))
    found = jax.grad(loss, (0, 1))(X, 2 * X)
    expected = jax.grad(lambda t, x: (x.sum(-1) ** 2).sum() + ((t + x) * X).sum(), (0, 1))(X, 2 * X)
    close(found[0], expected[0])
    close(found[1], expected[1])


def test_kernels_run_where_jit_is_disabled():
    with jax.disable_jit():
        close(jax.vmap(doubled)(BATCH), 2 * BATCH)
        close(jax.grad(lambda x: (softmax(x) ** 2).sum())(X), jax.grad(lambda x: (jax.nn.softmax(x, -1) ** 2).sum())(X))
