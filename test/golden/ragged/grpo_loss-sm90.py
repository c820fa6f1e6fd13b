import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def grpo_loss_0_kernel(
    chosen, old, ref, advantages, mask, logits, arg, arg_2, arg_3, arg_4, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr
):
    # only written: arg, arg_2, arg_3, arg_4
    # grpo.py:24: for items, tokens in hl.tile([batch, steps]):
    pid = tl.program_id(0)
    tokens_blocks: tl.constexpr = 2
    tokens_block = pid % tokens_blocks
    items = pid // tokens_blocks
    tokens = tokens_block * BLOCK_1 + tl.arange(0, BLOCK_1)
    tokens_mask = tokens < 21
    # grpo.py:25: largest = hl.full([items, tokens], float("-inf"), dtype=torch.float32)
    largest = tl.full([BLOCK_1], float("-inf"), tl.float32)
    # grpo.py:26: total = hl.zeros([items, tokens], dtype=torch.float32)
    total = tl.zeros([BLOCK_1], tl.float32)
    # grpo.py:27: for part in hl.tile(words):
    for part_begin in range(0, 333, BLOCK_2):
        part = part_begin + tl.arange(0, BLOCK_2)
        part_mask = part < 333
        # grpo.py:28: values = logits[items, tokens, part].to(torch.float32) / temperature
        logits_block = tl.load(
            logits + items.to(tl.int64) * 7326 + (tokens[:, None] * 333 + part[None, :]),
            mask=tokens_mask[:, None] & part_mask[None, :],
        )
        values = tl.div_rn(logits_block, 0.9)
        # grpo.py:29: grown = torch.maximum(largest, torch.amax(values, dim=-1))
        v = tl.reduce(tl.where(part_mask[None, :], values, float("-inf")), 1, _nan_max)
        grown = tl.maximum(largest, v, propagate_nan=tl.PropagateNan.ALL)
        # grpo.py:30: total = total * torch.exp(largest - grown) + torch.exp(values - grown[:, :, None]).sum(-1)
        v_2 = tl.where(part_mask[None, :], tl.exp(values - grown[:, None]), 0.0)
        # grpo.py:31: largest = grown
        largest, total = grown, total * tl.exp(largest - grown) + tl.sum(v_2, axis=1)
    # grpo.py:32: norm = largest + torch.log(total)
    norm = largest + tl.log(total)
    # grpo.py:33: own = chosen[items, tokens] - norm
    chosen_block = tl.load(chosen + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    own = chosen_block - norm
    # grpo.py:34: ratio = torch.exp(own - (own if old is None else old[items, tokens]))
    old_block = tl.load(old + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    ratio = tl.exp(own - old_block)
    # grpo.py:35: gain = advantages[items][:, None]
    advantages_block = tl.load(advantages + items)
    # grpo.py:36: free, bounded = ratio * gain, torch.clamp(ratio, 1 - below, 1 + above) * gain
    free = ratio * advantages_block
    v_3 = tl.minimum(tl.maximum(ratio, 0.8, propagate_nan=tl.PropagateNan.ALL), 1.4, propagate_nan=tl.PropagateNan.ALL)
    bounded = v_3 * advantages_block
    # grpo.py:37: apart = ref[items, tokens] - own
    ref_block = tl.load(ref + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    apart = ref_block - own
    # grpo.py:38: distance = torch.exp(apart) - apart - 1
    distance = tl.exp(apart) - apart - 1.0
    # grpo.py:39: result = beta * distance - torch.minimum(free, bounded)
    result = 0.04 * distance - tl.minimum(free, bounded, propagate_nan=tl.PropagateNan.ALL)
    # grpo.py:41: distance, result = distance * mask[items, tokens], result * mask[items, tokens]
    mask_block = tl.load(mask + items.to(tl.int64) * 21 + tokens, mask=tokens_mask)
    distance_2 = distance * mask_block
    result_2 = result * mask_block
    # grpo.py:42: loss[items, tokens] = result
    tl.store(arg + items.to(tl.int64) * 21 + tokens, result_2, mask=tokens_mask)
    # grpo.py:43: kl[items, tokens] = distance
    tl.store(arg_2 + items.to(tl.int64) * 21 + tokens, distance_2, mask=tokens_mask)
    # grpo.py:44: clipped[items, tokens] = (free < bounded).to(torch.float32)
    tl.store(arg_3 + items.to(tl.int64) * 21 + tokens, (free < bounded).to(tl.float32), mask=tokens_mask)
    # grpo.py:45: norms[items, tokens] = norm
    tl.store(arg_4 + items.to(tl.int64) * 21 + tokens, norm, mask=tokens_mask)


def grpo_loss(logits, chosen, old, ref, advantages, mask):
    # grpo.py:20: logits = logits[:, :-1, :]
    logits_2 = logits[:, 0:21, :]
    # grpo.py:22: torch.empty([batch, steps], dtype=torch.float32, device=logits.device) for _ in range(4)
    array = torch.empty((3, 21), dtype=torch.float32, device=logits.device)
    array_2 = torch.empty((3, 21), dtype=torch.float32, device=logits.device)
    array_3 = torch.empty((3, 21), dtype=torch.float32, device=logits.device)
    array_4 = torch.empty((3, 21), dtype=torch.float32, device=logits.device)
    # grpo.py:24: for items, tokens in hl.tile([batch, steps]):
    grpo_loss_0_kernel[(6,)](
        chosen,
        old,
        ref,
        advantages,
        mask,
        logits_2,
        array,
        array_2,
        array_3,
        array_4,
        BLOCK_1=16,
        BLOCK_2=128,
        num_warps=4,
        num_stages=2,
    )
    return array, array_2, array_3, array_4
