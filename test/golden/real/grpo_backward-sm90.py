import torch
import triton
import triton.language as tl


@triton.jit
def grpo_backward_0_kernel(grad, logits, chosen, ids, old, ref, advantages, mask, norms, out, BLOCK_2: tl.constexpr):
    # only written: out
    # grpo.py:54: for items, tokens in hl.tile([batch, steps - 1]):
    pid = tl.program_id(0)
    tokens_blocks: tl.constexpr = 512
    tokens_block = pid % tokens_blocks
    items = pid // tokens_blocks
    # grpo.py:55: norm = norms[items, tokens]
    norm = tl.load(norms + (items * 512 + tokens_block))
    # grpo.py:56: own = chosen[items, tokens] - norm
    chosen_block = tl.load(chosen + (items * 512 + tokens_block))
    own = chosen_block - norm
    # grpo.py:57: ratio = torch.exp(own - (own if old is None else old[items, tokens]))
    old_block = tl.load(old + (items * 512 + tokens_block))
    ratio = tl.exp(own - old_block)
    # grpo.py:58: gain = advantages[items][:, None]
    advantages_block = tl.load(advantages + items)
    # grpo.py:59: free, bounded = ratio * gain, torch.clamp(ratio, 1 - below, 1 + above) * gain
    free = ratio * advantages_block
    v = tl.minimum(tl.maximum(ratio, 0.8, propagate_nan=tl.PropagateNan.ALL), 1.4, propagate_nan=tl.PropagateNan.ALL)
    bounded = v * advantages_block
    # grpo.py:60: slope = torch.where(free <= bounded, -free, 0.0) + beta * (1 - torch.exp(ref[items, tokens] - own))
    ref_block = tl.load(ref + (items * 512 + tokens_block))
    slope = tl.where(free <= bounded, -free, 0.0) + 0.04 * (1.0 - tl.exp(ref_block - own))
    # grpo.py:61: slope = slope * grad[items, tokens] / temperature
    grad_block = tl.load(grad + (items * 512 + tokens_block))
    # grpo.py:63: slope = slope * mask[items, tokens]
    mask_block = tl.load(mask + (items * 512 + tokens_block))
    slope_2 = slope * grad_block * 1.1111112 * mask_block
    # grpo.py:64: for part in hl.tile(words):
    for part_begin in range(0, 16384, BLOCK_2):
        part = part_begin + tl.arange(0, BLOCK_2)
        # grpo.py:65: share = torch.exp(logits[items, tokens, part].to(torch.float32) / temperature - norm[:, :, None])
        logits_block = tl.load(logits + (items * 8404992 + tokens_block * 16384) + part)
        share = tl.exp(logits_block.to(tl.float32) * 1.1111112 - norm)
        # grpo.py:66: is_own = part.index[None, None, :] == ids[items, tokens][:, :, None]
        ids_block = tl.load(ids + (items * 512 + tokens_block))
        is_own = part == ids_block
        # grpo.py:67: out[items, tokens, part] = (slope[:, :, None] * (is_own.to(torch.float32) - share)).to(out.dtype)
        tl.store(
            out + (items * 8404992 + tokens_block * 16384) + part,
            (slope_2 * (is_own.to(tl.float32) - share)).to(tl.bfloat16),
        )


def grpo_backward(grad, logits, chosen, ids, old, ref, advantages, mask, norms):
    # grpo.py:53: out = torch.zeros_like(logits)
    out = torch.zeros((4, 513, 16384), dtype=torch.bfloat16, device=grad.device)
    # grpo.py:54: for items, tokens in hl.tile([batch, steps - 1]):
    grpo_backward_0_kernel[(2048,)](
        grad, logits, chosen, ids, old, ref, advantages, mask, norms, out, BLOCK_2=2048, num_warps=4, num_stages=2
    )
    return out
