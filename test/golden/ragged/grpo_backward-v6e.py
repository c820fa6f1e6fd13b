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
    old = out_ref[...]
    new_out_ref[...] = old
    norm = norms_ref[...]  # grpo.py:55
    chosen = chosen_ref[...]  # grpo.py:56
    own = chosen - norm  # grpo.py:56
    old_2 = old_ref[...]  # grpo.py:57
    ratio = jnp.exp(own - old_2)  # grpo.py:57
    advantages = advantages_ref[0, :]  # grpo.py:58
    gain = advantages.reshape((4, 1))  # grpo.py:58
    v = jnp.broadcast_to(gain, (4, 32))  # grpo.py:59
    free = ratio * v  # grpo.py:59
    bounded = jnp.minimum(jnp.maximum(ratio, 0.8), 1.4) * v  # grpo.py:59
    ref = ref_ref[...]  # grpo.py:60
    slope = jnp.where(free <= bounded, -free, 0.0) + 0.04 * (1.0 - jnp.exp(ref - own))  # grpo.py:60
    grad = grad_ref[...]  # grpo.py:61
    slope_2 = slope * grad / 0.9  # grpo.py:61
    mask = mask_ref[...]  # grpo.py:63
    slope_3 = slope_2 * mask  # grpo.py:63

    def part_body(part, _):  # grpo.py:64
        part_begin = part * 128  # grpo.py:64
        logits = logits_ref[:, :, pl.ds(pl.multiple_of(part_begin, 128), 128)]  # grpo.py:65
        v_2 = logits / 0.9 - jnp.broadcast_to(norm.reshape((4, 32, 1)), (4, 32, 128))  # grpo.py:65
        share = jnp.exp(v_2)  # grpo.py:65
        ids = ids_ref[...]  # grpo.py:66
        v_3 = part_begin + jax.lax.broadcasted_iota(jnp.int32, (4, 32, 128), 2)  # grpo.py:66
        is_own = v_3 == jnp.broadcast_to(ids.reshape((4, 32, 1)), (4, 32, 128))  # grpo.py:66
        v_4 = (  # grpo.py:67
            jnp.broadcast_to(slope_3.reshape((4, 32, 1)), (4, 32, 128))
            * (is_own.astype(jnp.int32).astype(jnp.float32) - share)
        )
        inside = jax.lax.broadcasted_iota(jnp.int32, (4, 32, 128), 1) < 21  # grpo.py:67
        inside_2 = jnp.where(inside, jnp.full((4, 32, 128), 1, jnp.int32), 0) != 0  # grpo.py:67
        old_3 = new_out_ref[:, :, pl.ds(pl.multiple_of(part_begin, 128), 128)]  # grpo.py:67
        new = jnp.where(inside_2, v_4, old_3)  # grpo.py:67
        new_out_ref[:, :, pl.ds(pl.multiple_of(part_begin, 128), 128)] = new  # grpo.py:67
        return None

    jax.lax.fori_loop(0, 3, part_body, None, unroll=3)  # grpo.py:64


def grpo_backward(grad, logits, chosen, ids, old, ref, advantages, mask, norms):
    out = jnp.zeros((3, 22, 333), jnp.float32)  # grpo.py:53
    norms_2 = jnp.transpose(jnp.pad(norms, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:54
    chosen_2 = jnp.transpose(jnp.pad(chosen, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:54
    old_2 = jnp.transpose(jnp.pad(old, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:54
    advantages_2 = jnp.pad(advantages, [(0, 1)]).reshape((1, 1, 4))  # grpo.py:54
    ref_2 = jnp.transpose(jnp.pad(ref, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:54
    grad_2 = jnp.transpose(jnp.pad(grad, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:54
    mask_2 = jnp.transpose(jnp.pad(mask, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:54
    ids_2 = jnp.transpose(jnp.pad(ids, [(0, 1), (0, 11)]).reshape((1, 4, 1, 32)), (2, 0, 1, 3))  # grpo.py:54
    out_2 = pl.pallas_call(  # grpo.py:54
        grpo_backward_kernel,
        grid=(1, 1),
        in_specs=[
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, 1, 4), lambda items, tokens: (items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((4, 32, 384), lambda items, tokens: (items, tokens, 0)),
            pl.BlockSpec((None, None, 4, 32), lambda items, tokens: (tokens, items, 0, 0)),
            pl.BlockSpec((4, 32, 384), lambda items, tokens: (items, tokens, 0)),
        ],
        out_specs=pl.BlockSpec((4, 32, 384), lambda items, tokens: (items, tokens, 0)),
        out_shape=jax.ShapeDtypeStruct((3, 22, 333), jnp.float32),
        input_output_aliases={9: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="grpo_backward",
    )(norms_2, chosen_2, old_2, advantages_2, ref_2, grad_2, mask_2, logits, ids_2, out)
    return out_2
