"""grpo_loss: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def grpo_loss_kernel(
    logits_ref,
    chosen_ref,
    old_ref,
    advantages_ref,
    ref_ref,
    mask_ref,
    array_ref,
    array_ref_2,
    array_ref_3,
    array_ref_4,
    largest_ref,
    total_ref,
):
    part = pl.program_id(2)

    @pl.when(part == 0)  # grpo.py:27
    def _():
        largest = jnp.full((4, 256, 1), -jnp.inf, jnp.float32)  # grpo.py:25
        total = jnp.full((4, 256, 1), 0.0, jnp.float32)  # grpo.py:26
        largest_ref[...] = largest  # grpo.py:27
        total_ref[...] = total  # grpo.py:27

    largest_2 = largest_ref[...]  # grpo.py:27
    total_2 = total_ref[...]  # grpo.py:27
    logits = logits_ref[...]  # grpo.py:28
    values = jnp.transpose(logits, (1, 0, 2)).astype(jnp.float32) / 0.9  # grpo.py:28
    grown = jnp.maximum(largest_2, jnp.max(values, axis=2).reshape((4, 256, 1)))  # grpo.py:29
    v = jnp.sum(jnp.exp(values - jnp.broadcast_to(grown, (4, 256, 2048))), axis=2)  # grpo.py:30
    total_3 = total_2 * jnp.exp(largest_2 - grown) + v.reshape((4, 256, 1))  # grpo.py:30
    largest_ref[...] = grown  # grpo.py:27
    total_ref[...] = total_3  # grpo.py:27

    @pl.when(part == 7)  # grpo.py:27
    def _():
        largest_3 = largest_ref[...]  # grpo.py:27
        total_4 = total_ref[...]  # grpo.py:27
        total_5 = total_4.reshape((4, 256))  # grpo.py:27
        largest_4 = largest_3.reshape((4, 256))  # grpo.py:27
        norm = largest_4 + jnp.log(total_5)  # grpo.py:32
        chosen = chosen_ref[...]  # grpo.py:33
        own = chosen - norm  # grpo.py:33
        old = old_ref[...]  # grpo.py:34
        ratio = jnp.exp(own - old)  # grpo.py:34
        advantages = advantages_ref[...]  # grpo.py:35
        gain = advantages.reshape((4, 1))  # grpo.py:35
        v_2 = jnp.broadcast_to(gain, (4, 256))  # grpo.py:36
        free = ratio * v_2  # grpo.py:36
        bounded = jnp.minimum(jnp.maximum(ratio, 0.8), 1.4) * v_2  # grpo.py:36
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
    logits_2 = jnp.transpose(logits, (1, 0, 2))  # grpo.py:24
    v, v_2, v_3, v_4 = pl.pallas_call(  # grpo.py:24
        grpo_loss_kernel,
        grid=(1, 2, 8),
        in_specs=[
            pl.BlockSpec((256, 4, 2048), lambda items, tokens, part: (tokens, items, part)),
            pl.BlockSpec((4, 256), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 256), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4,), lambda items, tokens, part: (items,)),
            pl.BlockSpec((4, 256), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 256), lambda items, tokens, part: (items, tokens)),
        ],
        out_specs=[
            pl.BlockSpec((4, 256), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 256), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 256), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 256), lambda items, tokens, part: (items, tokens)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((4, 512), jnp.float32),
            jax.ShapeDtypeStruct((4, 512), jnp.float32),
            jax.ShapeDtypeStruct((4, 512), jnp.float32),
            jax.ShapeDtypeStruct((4, 512), jnp.float32),
        ],
        scratch_shapes=[pltpu.VMEM((4, 256, 1), jnp.float32), pltpu.VMEM((4, 256, 1), jnp.float32)],
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "arbitrary"), vmem_limit_bytes=71435264
        ),
        name="grpo_loss",
    )(logits_2, chosen, old, advantages, ref, mask)
    return v, v_2, v_3, v_4
