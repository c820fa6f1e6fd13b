"""squeeze_excite: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def squeeze_excite_kernel(x_ref, squeeze_ref, hidden_ref, excite_ref, new_hidden_ref, gate_ref, out_ref):
    old = hidden_ref[...]
    new_hidden_ref[...] = old
    x = x_ref[:, 0:150]  # squeeze_excite.py:17
    squeeze = squeeze_ref[...]  # squeeze_excite.py:17
    v = jnp.dot(  # squeeze_excite.py:17
        x, squeeze, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
    )
    new_hidden_ref[...] = jnp.where(v < 0.0, 0.0, v)  # squeeze_excite.py:17

    def cols_body(cols, _):  # squeeze_excite.py:18
        cols_begin = cols * 128  # squeeze_excite.py:18
        acc = jnp.full((16, 128), 0.0, jnp.float32)  # squeeze_excite.py:19
        new_hidden = new_hidden_ref[...]  # squeeze_excite.py:21
        excite = excite_ref[pl.ds(pl.multiple_of(cols_begin, 128), 128), :]  # squeeze_excite.py:21
        inside = jax.lax.broadcasted_iota(jnp.int32, (16, 128), 1) < 90  # squeeze_excite.py:21
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 90  # squeeze_excite.py:21
        acc_2 = acc + jnp.dot(  # squeeze_excite.py:21
            jnp.where(inside, new_hidden, 0.0),
            jnp.where(inside_2, excite.T, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        opened = jax.nn.sigmoid(acc_2)  # squeeze_excite.py:22
        gate_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)] = opened  # squeeze_excite.py:23
        x_2 = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # squeeze_excite.py:24
        out_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)] = x_2 * opened  # squeeze_excite.py:24
        return None

    jax.lax.fori_loop(0, 2, cols_body, None, unroll=2)  # squeeze_excite.py:18


def squeeze_excite(x, squeeze, excite):
    hidden = jnp.zeros((75, 90), jnp.float32)  # squeeze_excite.py:14
    excite_2 = jnp.transpose(excite, (1, 0))  # squeeze_excite.py:15
    hidden_2, gate, out = pl.pallas_call(  # squeeze_excite.py:15
        squeeze_excite_kernel,
        grid=(5,),
        in_specs=[
            pl.BlockSpec((16, 256), lambda rows: (rows, 0)),
            pl.BlockSpec((150, 128), lambda rows: (0, 0)),
            pl.BlockSpec((16, 128), lambda rows: (rows, 0)),
            pl.BlockSpec((256, 128), lambda rows: (0, 0)),
        ],
        out_specs=[
            pl.BlockSpec((16, 128), lambda rows: (rows, 0)),
            pl.BlockSpec((16, 256), lambda rows: (rows, 0)),
            pl.BlockSpec((16, 256), lambda rows: (rows, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((75, 90), jnp.float32),
            jax.ShapeDtypeStruct((75, 150), jnp.float32),
            jax.ShapeDtypeStruct((75, 150), jnp.float32),
        ],
        input_output_aliases={2: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="squeeze_excite",
    )(x, squeeze, hidden, excite_2)
    return out, hidden_2, gate
