"""dropout_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _mulhi(a, b):
    """The high word of an unsigned product; ``a`` is a Python number, ``b`` an array of 32-bit words held as int32."""
    half, low = 0xFFFF, a & 0xFFFF
    high = a >> 16
    b_low, b_high = b & half, jax.lax.shift_right_logical(b, 16)
    s = high * b_low + jax.lax.shift_right_logical(low * b_low, 16)
    t = low * b_high + (s & half)
    return high * b_high + jax.lax.shift_right_logical(s, 16) + jax.lax.shift_right_logical(t, 16)


def _philox(offset, k0, k1):
    """The four words of Philox 4x32-10 for counters in int32, under a key of two words; products wrap.

    A loop, since Mosaic writes out what is done to each register of a block.
    """
    a, b = 0xD2511F53, 0xCD9E8D57

    def turn(_, state):
        c0, c1, c2, c3, k0, k1 = state
        high0, high2 = _mulhi(b, c2) ^ c1 ^ k0, _mulhi(a, c0) ^ c3 ^ k1
        return high0, c2 * (b - 2**32), high2, c0 * (a - 2**32), k0 + (0x9E3779B9 - 2**32), k1 + (0xBB67AE85 - 2**32)

    zero = jnp.zeros_like(offset)
    return jax.lax.fori_loop(0, 10, turn, (offset, offset >> 31, zero, zero, k0, k1))[:4]


def dropout_backward_kernel(array_ref, array_ref_2, grad_ref, out_ref):
    rows = pl.program_id(0)
    rows_begin = rows * 64
    cols = pl.program_id(1)
    cols_begin = cols * 128
    v = (rows_begin + jax.lax.broadcasted_iota(jnp.int32, (64,), 0)) * 333  # dropout.py:25
    v_2 = cols_begin + jax.lax.broadcasted_iota(jnp.int32, (64, 128), 1)  # dropout.py:25
    offset = jnp.broadcast_to(v[:, None], (64, 128)) + v_2  # dropout.py:25
    array = array_ref[0]  # dropout.py:25
    array_2 = array_ref_2[0]  # dropout.py:25
    bits, _, _, _ = _philox(offset, array, array_2)  # dropout.py:25
    keep = (bits ^ bits >> 31).astype(jnp.float32) * 4.6566126e-10 > 0.25  # dropout.py:25
    grad = grad_ref[...]  # dropout.py:26
    out_ref[...] = jnp.where(keep, grad / 0.75, 0.0)  # dropout.py:26


def dropout_backward(grad, seed):
    v = seed.astype(jnp.int32)  # dropout.py:25
    v_2 = seed >> 32  # dropout.py:25
    v_3 = v_2.astype(jnp.int32)  # dropout.py:25
    v_4 = v.reshape((1,))  # dropout.py:24
    v_5 = v_3.reshape((1,))  # dropout.py:24
    with jax.enable_x64(False):
        out = pl.pallas_call(  # dropout.py:24
            dropout_backward_kernel,
            grid=(2, 3),
            in_specs=[
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec((64, 128), lambda rows, cols: (rows, cols)),
            ],
            out_specs=pl.BlockSpec((64, 128), lambda rows, cols: (rows, cols)),
            out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
            compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
            name="dropout_backward",
        )(v_4, v_5, grad)
    return out
