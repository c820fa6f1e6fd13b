"""grpo_loss: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def grpo_loss_kernel(
    logits_ref, chosen_ref, old_ref, advantages_ref, ref_ref, mask_ref, array_ref, array_ref_2, array_ref_3, array_ref_4
):
    largest = jnp.full((4, 32, 1), -jnp.inf, jnp.float32)  # grpo.py:25
    total = jnp.full((4, 32, 1), 0.0, jnp.float32)  # grpo.py:26

    def part_body(part, carry):  # grpo.py:27
        largest_2, total_2 = carry
        part_begin = part * 128  # grpo.py:27
        logits = logits_ref[:, :, pl.ds(pl.multiple_of(part_begin, 128), 128)]  # grpo.py:28
        values = logits / 0.9  # grpo.py:28
        inside = jax.lax.broadcasted_iota(jnp.int32, (4, 32, 128), 2) < 333 - part_begin  # grpo.py:29
        v = jnp.max(jnp.where(inside, values, -jnp.inf), axis=2).reshape((4, 32, 1))  # grpo.py:29
        grown = jnp.maximum(largest_2, v)  # grpo.py:29
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (4, 32, 128), 2) < 333 - part_begin  # grpo.py:30
        v_2 = jnp.where(inside_2, jnp.exp(values - jnp.broadcast_to(grown, (4, 32, 128))), 0.0)  # grpo.py:30
        total_3 = total_2 * jnp.exp(largest_2 - grown) + jnp.sum(v_2, axis=2).reshape((4, 32, 1))  # grpo.py:30
        return (grown, total_3)

    largest_3, total_4 = jax.lax.fori_loop(0, 3, part_body, (largest, total), unroll=3)  # grpo.py:27
    total_5 = total_4.reshape((4, 32))  # grpo.py:27
    largest_4 = largest_3.reshape((4, 32))  # grpo.py:27
    norm = largest_4 + jnp.log(total_5)  # grpo.py:32
    chosen = chosen_ref[...]  # grpo.py:33
    own = chosen - norm  # grpo.py:33
    old = old_ref[...]  # grpo.py:34
    ratio = jnp.exp(own - old)  # grpo.py:34
    advantages = advantages_ref[0, :]  # grpo.py:35
    gain = advantages.reshape((4, 1))  # grpo.py:35
    v_3 = jnp.broadcast_to(gain, (4, 32))  # grpo.py:36
    free = ratio * v_3  # grpo.py:36
    bounded = jnp.minimum(jnp.maximum(ratio, 0.8), 1.4) * v_3  # grpo.py:36
    ref = ref_ref[...]  # grpo.py:37
    apart = ref - own  # grpo.py:37
    distance = jnp.exp(apart) - apart - 1.0  # grpo.py:38
    result = 0.04 * distance - jnp.minimum(free, bounded)  # grpo.py:39
    mask = mask_ref[...]  # grpo.py:41
    distance_2 = distance * mask  # grpo.py:41
    result_2 = result * mask  # grpo.py:41
    array_ref[...] = result_2  # grpo.py:42
    array_ref_2[...] = distance_2  # grpo.py:43
    array_ref_3[...] = (free < bounded).astype(jnp.int32).astype(jnp.float32)  # grpo.py:44
    array_ref_4[...] = norm  # grpo.py:45


def grpo_loss(logits, chosen, old, ref, advantages, mask):
    chosen_2 = jnp.transpose(jnp.pad(chosen, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:24
    old_2 = jnp.transpose(jnp.pad(old, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:24
    advantages_2 = jnp.pad(advantages, [(0, 1)]).reshape((1, 1, 4))  # grpo.py:24
    ref_2 = jnp.transpose(jnp.pad(ref, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:24
    mask_2 = jnp.transpose(jnp.pad(mask, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:24
    v, v_2, v_3, v_4 = pl.pallas_call(  # grpo.py:24
        grpo_loss_kernel,
        grid=(1, 1),
        in_specs=[
            pl.BlockSpec((4, 32, 384), lambda items, tokens: (items, tokens, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, 1, 4), lambda items, tokens: (items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
        ],
        out_specs=[
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((1, 1, 4, 32), jnp.float32),
            jax.ShapeDtypeStruct((1, 1, 4, 32), jnp.float32),
            jax.ShapeDtypeStruct((1, 1, 4, 32), jnp.float32),
            jax.ShapeDtypeStruct((1, 1, 4, 32), jnp.float32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="grpo_loss",
    )(logits, chosen_2, old_2, advantages_2, ref_2, mask_2)
    v_5 = jnp.transpose(v_4, (1, 2, 0, 3)).reshape((4, 32))[:3, :21]  # grpo.py:24
    v_6 = jnp.transpose(v_3, (1, 2, 0, 3)).reshape((4, 32))[:3, :21]  # grpo.py:24
    v_7 = jnp.transpose(v_2, (1, 2, 0, 3)).reshape((4, 32))[:3, :21]  # grpo.py:24
    v_8 = jnp.transpose(v, (1, 2, 0, 3)).reshape((4, 32))[:3, :21]  # grpo.py:24
    return v_8, v_7, v_6, v_5
