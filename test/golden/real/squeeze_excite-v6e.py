"""squeeze_excite: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def squeeze_excite_kernel(x_ref, squeeze_ref, hidden_ref, excite_ref, new_hidden_ref, gate_ref, out_ref):
    old = hidden_ref[...]
    new_hidden_ref[...] = old
    x = x_ref[...]  # squeeze_excite.py:17
    squeeze = squeeze_ref[...]  # squeeze_excite.py:17
    v = jnp.dot(x, squeeze, preferred_element_type=jnp.float32).astype(jnp.bfloat16)  # squeeze_excite.py:17
    v_2 = v.astype(jnp.float32)  # squeeze_excite.py:17
    new_hidden_ref[...] = jnp.where(v_2 < 0.0, 0.0, v_2).astype(jnp.bfloat16)  # squeeze_excite.py:17
    acc = jnp.full((512, 1024), 0.0, jnp.float32)  # squeeze_excite.py:19
    new_hidden = new_hidden_ref[...]  # squeeze_excite.py:21
    excite = excite_ref[...]  # squeeze_excite.py:21
    acc_2 = acc + jnp.dot(new_hidden, excite, preferred_element_type=jnp.float32)  # squeeze_excite.py:21
    opened = jax.nn.sigmoid(acc_2).astype(jnp.bfloat16)  # squeeze_excite.py:22
    gate_ref[...] = opened  # squeeze_excite.py:23
    x_2 = x_ref[...]  # squeeze_excite.py:24
    out_ref[...] = x_2 * opened  # squeeze_excite.py:24


def squeeze_excite(x, squeeze, excite):
    hidden = jnp.zeros((1024, 256), jnp.bfloat16)  # squeeze_excite.py:14
    hidden_2, gate, out = pl.pallas_call(  # squeeze_excite.py:15
        squeeze_excite_kernel,
        grid=(2,),
        in_specs=[
            pl.BlockSpec((512, 1024), lambda rows: (rows, 0)),
            pl.BlockSpec((1024, 256), lambda rows: (0, 0)),
            pl.BlockSpec((512, 256), lambda rows: (rows, 0)),
            pl.BlockSpec((256, 1024), lambda rows: (0, 0)),
        ],
        out_specs=[
            pl.BlockSpec((512, 256), lambda rows: (rows, 0)),
            pl.BlockSpec((512, 1024), lambda rows: (rows, 0)),
            pl.BlockSpec((512, 1024), lambda rows: (rows, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((1024, 256), jnp.bfloat16),
            jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16),
            jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16),
        ],
        input_output_aliases={2: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="squeeze_excite",
    )(x, squeeze, hidden, excite)
    return out, hidden_2, gate
