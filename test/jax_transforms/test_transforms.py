"""What JAX's transformations make of a kernel's call: one primitive, which is never looked into."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kopt

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
