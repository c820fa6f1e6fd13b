import torch
import triton
import triton.language as tl


@triton.jit
def grpo_backward_0_kernel(
    grad, logits, chosen, ids, old, ref, advantages, mask, norms, out, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # only written: out
    # grpo.py:54: for items, tokens in hl.tile([batch, steps - 1]):
    pid = tl.program_id(0)
    part_blocks: tl.constexpr = 3
    part_block = pid % part_blocks
    rest = pid // part_blocks
    tokens_blocks: tl.constexpr = 2
    tokens_block = rest % tokens_blocks
    items = rest // tokens_blocks
    tokens = tokens_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    tokens_mask = tokens < 21
    part = part_block * BLOCK_2 + tl.arange(0, BLOCK_2)
    part_mask = part < 333
    # grpo.py:55: norm = norms[items, tokens]
    norm = tl.load(norms + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    # grpo.py:56: own = chosen[items, tokens] - norm
    chosen_block = tl.load(chosen + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    own = chosen_block - norm
    # grpo.py:57: ratio = torch.exp(own - (own if old is None else old[items, tokens]))
    old_block = tl.load(old + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    ratio = tl.exp(own - old_block)
    # grpo.py:58: gain = advantages[items][:, None]
    advantages_block = tl.load(advantages + items)
    # grpo.py:59: free, bounded = ratio * gain, torch.clamp(ratio, 1 - below, 1 + above) * gain
    free = ratio * advantages_block
    v = tl.minimum(tl.maximum(ratio, 0.8, propagate_nan=tl.PropagateNan.ALL), 1.4, propagate_nan=tl.PropagateNan.ALL)
    bounded = v * advantages_block
    # grpo.py:60: slope = torch.where(free <= bounded, -free, 0.0) + beta * (1 - torch.exp(ref[items, tokens] - own))
    ref_block = tl.load(ref + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    slope = tl.where(free <= bounded, -free, 0.0) + 0.04 * (1.0 - tl.exp(ref_block - own))
    # grpo.py:61: slope = slope * grad[items, tokens] / temperature
    grad_block = tl.load(grad + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    # grpo.py:63: slope = slope * mask[items, tokens]
    mask_block = tl.load(mask + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    slope_2 = tl.div_rn(slope * grad_block, 0.9) * mask_block
    # grpo.py:66: is_own = part.index[None, None, :] == ids[items, tokens][:, :, None]
    ids_block = tl.load(ids + items.to(tl.int64) * 21 + tokens, mask=tokens_mask, other=0)
    # grpo.py:65: share = torch.exp(logits[items, tokens, part].to(torch.float32) / temperature - norm[:, :, None])
    logits_block = tl.load(
        logits + items.to(tl.int64) * 7326 + (tokens[:, None] * 333 + part[None, :]),
        mask=tokens_mask[:, None] & part_mask[None, :],
    )
    share = tl.exp(tl.div_rn(logits_block, 0.9) - norm[:, None])
    # grpo.py:66: is_own = part.index[None, None, :] == ids[items, tokens][:, :, None]
    is_own = part[None, :] == ids_block[:, None]
    # grpo.py:67: out[items, tokens, part] = (slope[:, :, None] * (is_own.to(torch.float32) - share)).to(out.dtype)
    tl.store(
        out + items.to(tl.int64) * 7326 + (tokens[:, None] * 333 + part[None, :]),
        slope_2[:, None] * (is_own.to(tl.float32) - share),
        mask=tokens_mask[:, None] & part_mask[None, :],
    )


def grpo_backward(grad, logits, chosen, ids, old, ref, advantages, mask, norms):
    # grpo.py:53: out = torch.zeros_like(logits)
    out = torch.zeros((3, 22, 333), dtype=torch.float32, device=grad.device)
    # grpo.py:54: for items, tokens in hl.tile([batch, steps - 1]):
    grpo_backward_0_kernel[(18,)](
        grad,
        logits,
        chosen,
        ids,
        old,
        ref,
        advantages,
        mask,
        norms,
        out,
        BLOCK_1=16,
        BLOCK_2=128,
        num_warps=8,
        num_stages=1,
    )
    return out
