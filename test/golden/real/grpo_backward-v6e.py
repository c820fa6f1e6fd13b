"""grpo_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def grpo_backward_kernel(
    norms_ref,
    chosen_ref,
    old_ref,
    advantages_ref,
    ref_ref,
    grad_ref,
    mask_ref,
    logits_ref,
    ids_ref,
    out_ref,
    new_out_ref,
):
    part = pl.program_id(2)
    part_begin = part * 2048
    norm = norms_ref[...]  # grpo.py:55
    chosen = chosen_ref[...]  # grpo.py:56
    own = chosen - norm  # grpo.py:56
    old = old_ref[...]  # grpo.py:57
    ratio = jnp.exp(own - old)  # grpo.py:57
    advantages = advantages_ref[...]  # grpo.py:58
    gain = advantages.reshape((4, 1))  # grpo.py:58
    v = jnp.broadcast_to(gain, (4, 128))  # grpo.py:59
    free = ratio * v  # grpo.py:59
    bounded = jnp.minimum(jnp.maximum(ratio, 0.8), 1.4) * v  # grpo.py:59
    ref = ref_ref[...]  # grpo.py:60
    slope = jnp.where(free <= bounded, -free, 0.0) + 0.04 * (1.0 - jnp.exp(ref - own))  # grpo.py:60
    grad = grad_ref[...]  # grpo.py:61
    slope_2 = slope * grad / 0.9  # grpo.py:61
    mask = mask_ref[...]  # grpo.py:63
    slope_3 = slope_2 * mask  # grpo.py:63
    logits = logits_ref[...]  # grpo.py:65
    v_2 = (  # grpo.py:65
        jnp.transpose(logits, (1, 0, 2)).astype(jnp.float32) / 0.9
        - jnp.broadcast_to(norm.reshape((4, 128, 1)), (4, 128, 2048))
    )
    share = jnp.exp(v_2)  # grpo.py:65
    ids = ids_ref[...]  # grpo.py:66
    v_3 = part_begin + jax.lax.broadcasted_iota(jnp.int32, (4, 128, 2048), 2)  # grpo.py:66
    is_own = v_3 == jnp.broadcast_to(ids.reshape((4, 128, 1)), (4, 128, 2048))  # grpo.py:66
    v_4 = jnp.broadcast_to(slope_3.reshape((4, 128, 1)), (4, 128, 2048))  # grpo.py:67
    v_5 = (v_4 * (is_own.astype(jnp.int32).astype(jnp.float32) - share)).astype(jnp.bfloat16)  # grpo.py:67
    new_out_ref[...] = jnp.transpose(v_5, (1, 0, 2))  # grpo.py:67


def grpo_backward(grad, logits, chosen, ids, old, ref, advantages, mask, norms):
    out = jnp.zeros((4, 513, 16384), jnp.bfloat16)  # grpo.py:53
    logits_2 = jnp.transpose(logits, (1, 0, 2))  # grpo.py:54
    out_2 = jnp.transpose(out, (1, 0, 2))  # grpo.py:54
    out_3 = pl.pallas_call(  # grpo.py:54
        grpo_backward_kernel,
        grid=(1, 4, 8),
        in_specs=[
            pl.BlockSpec((4, 128), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 128), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 128), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4,), lambda items, tokens, part: (items,)),
            pl.BlockSpec((4, 128), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 128), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((4, 128), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec((128, 4, 2048), lambda items, tokens, part: (tokens, items, part)),
            pl.BlockSpec((4, 128), lambda items, tokens, part: (items, tokens)),
            pl.BlockSpec(memory_space=pltpu.HBM),
        ],
        out_specs=pl.BlockSpec((128, 4, 2048), lambda items, tokens, part: (tokens, items, part)),
        out_shape=jax.ShapeDtypeStruct((513, 4, 16384), jnp.bfloat16),
        input_output_aliases={9: 0},
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "arbitrary"), vmem_limit_bytes=50390016
        ),
        name="grpo_backward",
    )(norms, chosen, old, advantages, ref, grad, mask, logits_2, ids, out_2)
    out_4 = jnp.transpose(out_3, (1, 0, 2))  # grpo.py:54
    return out_4
