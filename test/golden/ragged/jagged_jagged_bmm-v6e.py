"""jagged_jagged_bmm: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def jagged_jagged_bmm_kernel(offsets_ref, x_ref, y_ref, out_ref):
    i = pl.program_id(0)
    begin = offsets_ref[i]  # packed.py:42
    end = offsets_ref[i + 1]  # packed.py:42

    def n_body(n, _):  # packed.py:43
        n_begin = n * 128  # packed.py:43
        acc = jnp.full((64, 128), 0.0, jnp.float32)  # packed.py:44
        v = begin.astype(jnp.int32)  # packed.py:45
        v_2 = end.astype(jnp.int32)  # packed.py:45
        k_first = v >> 3  # packed.py:45
        k_blocks = jnp.where(v_2 > v, v_2 - k_first * 8 + 127 >> 7, 0)  # packed.py:45

        def k_number_body(k_number, acc_2):  # packed.py:45
            v_3 = k_first + k_number * 16  # packed.py:45
            k_begin = jnp.minimum(v_3, 0) * 8  # packed.py:45
            k_start = jnp.maximum(v, v_3 * 8)  # packed.py:45
            x = x_ref[pl.ds(pl.multiple_of(k_begin, 8), 128), 0:64]  # packed.py:46
            v_4 = x.T  # packed.py:46
            y = y_ref[pl.ds(pl.multiple_of(k_begin, 8), 128), pl.ds(pl.multiple_of(n_begin, 128), 128)]  # packed.py:46
            v_5 = k_begin + jax.lax.broadcasted_iota(jnp.int32, (64, 128), 1)  # packed.py:45
            inside = (  # packed.py:45
                (v_5 >= jnp.full((64, 128), k_start, jnp.int32)) & (v_5 < jnp.full((64, 128), v_2, jnp.int32))
            )
            v_6 = jnp.where(inside, v_4, 0.0)  # packed.py:45
            v_7 = k_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0)  # packed.py:45
            inside_2 = (  # packed.py:45
                (v_7 >= jnp.full((128, 128), k_start, jnp.int32)) & (v_7 < jnp.full((128, 128), v_2, jnp.int32))
            )
            v_8 = jnp.where(inside_2, y, 0.0)  # packed.py:45
            acc_3 = acc_2 + jnp.dot(  # packed.py:46
                v_6, v_8, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
            )
            return acc_3

        acc_4 = jax.lax.fori_loop(0, k_blocks, k_number_body, acc)  # packed.py:45
        out_ref[:, pl.ds(pl.multiple_of(n_begin, 128), 128)] = acc_4  # packed.py:47
        return None

    jax.lax.fori_loop(0, 2, n_body, None)  # packed.py:43


def jagged_jagged_bmm(x, y, offsets):
    v = jnp.pad(x, [(0, 53), (0, 0)])  # packed.py:41
    v_2 = jnp.pad(y, [(0, 53), (0, 0)])  # packed.py:41
    offsets_2 = jnp.clip(offsets, -(2**31), 2**31 - 1).astype(jnp.int32)  # packed.py:41
    with jax.enable_x64(False):
        out = pl.pallas_call(  # packed.py:41
            jagged_jagged_bmm_kernel,
            grid=(5,),
            in_specs=[
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec((128, 128), lambda i: (0, 0)),
                pl.BlockSpec((128, 256), lambda i: (0, 0)),
            ],
            out_specs=pl.BlockSpec((None, 64, 256), lambda i: (i, 0, 0)),
            out_shape=jax.ShapeDtypeStruct((5, 33, 150), jnp.float32),
            compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
            name="jagged_jagged_bmm",
        )(offsets_2, v, v_2)
    return out
