import torch
import triton
import triton.language as tl


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def grpo_loss_0_kernel(chosen, old, ref, advantages, mask, logits, arg, arg_2, arg_3, arg_4, BLOCK_2: tl.constexpr):
    # only written: arg, arg_2, arg_3, arg_4
    # grpo.py:24: for items, tokens in hl.tile([batch, steps]):
    pid = tl.program_id(0)
    tokens_blocks: tl.constexpr = 512
    tokens_block = pid % tokens_blocks
    items = pid // tokens_blocks
    # grpo.py:25: largest = hl.full([items, tokens], float("-inf"), dtype=torch.float32)
    largest = tl.full([], float("-inf"), tl.float32)
    # grpo.py:26: total = hl.zeros([items, tokens], dtype=torch.float32)
    total = tl.full([], 0.0, tl.float32)
    # grpo.py:27: for part in hl.tile(words):
    for part_begin in range(0, 16384, BLOCK_2):
        part = part_begin + tl.arange(0, BLOCK_2)
        # grpo.py:28: values = logits[items, tokens, part].to(torch.float32) / temperature
        logits_block = tl.load(logits + (items * 8404992 + tokens_block * 16384) + part)
        values = tl.div_rn(logits_block.to(tl.float32), 0.9)
        # grpo.py:29: grown = torch.maximum(largest, torch.amax(values, dim=-1))
        grown = tl.maximum(largest, tl.reduce(values, None, _nan_max), propagate_nan=tl.PropagateNan.ALL)
        # grpo.py:31: largest = grown
        largest, total = grown, total * tl.exp(largest - grown) + tl.sum(tl.exp(values - grown))
    # grpo.py:32: norm = largest + torch.log(total)
    norm = largest + tl.log(total)
    # grpo.py:33: own = chosen[items, tokens] - norm
    chosen_block = tl.load(chosen + (items * 512 + tokens_block))
    own = chosen_block - norm
    # grpo.py:34: ratio = torch.exp(own - (own if old is None else old[items, tokens]))
    old_block = tl.load(old + (items * 512 + tokens_block))
    ratio = tl.exp(own - old_block)
    # grpo.py:35: gain = advantages[items][:, None]
    advantages_block = tl.load(advantages + items)
    # grpo.py:36: free, bounded = ratio * gain, torch.clamp(ratio, 1 - below, 1 + above) * gain
    free = ratio * advantages_block
    v = tl.minimum(tl.maximum(ratio, 0.8, propagate_nan=tl.PropagateNan.ALL), 1.4, propagate_nan=tl.PropagateNan.ALL)
    bounded = v * advantages_block
    # grpo.py:37: apart = ref[items, tokens] - own
    ref_block = tl.load(ref + (items * 512 + tokens_block))
    apart = ref_block - own
    # grpo.py:38: distance = torch.exp(apart) - apart - 1
    distance = tl.exp(apart) - apart - 1.0
    # grpo.py:39: result = beta * distance - torch.minimum(free, bounded)
    result = 0.04 * distance - tl.minimum(free, bounded, propagate_nan=tl.PropagateNan.ALL)
    # grpo.py:41: distance, result = distance * mask[items, tokens], result * mask[items, tokens]
    mask_block = tl.load(mask + (items * 512 + tokens_block))
    distance_2 = distance * mask_block
    result_2 = result * mask_block
    # grpo.py:42: loss[items, tokens] = result
    tl.store(arg + (items * 512 + tokens_block), result_2)
    # grpo.py:43: kl[items, tokens] = distance
    tl.store(arg_2 + (items * 512 + tokens_block), distance_2)
    # grpo.py:44: clipped[items, tokens] = (free < bounded).to(torch.float32)
    tl.store(arg_3 + (items * 512 + tokens_block), (free < bounded).to(tl.float32))
    # grpo.py:45: norms[items, tokens] = norm
    tl.store(arg_4 + (items * 512 + tokens_block), norm)


def grpo_loss(logits, chosen, old, ref, advantages, mask):
    # grpo.py:20: logits = logits[:, :-1, :]
    logits_2 = logits[:, 0:512, :]
    # grpo.py:22: torch.empty([batch, steps], dtype=torch.float32, device=logits.device) for _ in range(4)
    array = torch.empty((4, 512), dtype=torch.float32, device=logits.device)
    array_2 = torch.empty((4, 512), dtype=torch.float32, device=logits.device)
    array_3 = torch.empty((4, 512), dtype=torch.float32, device=logits.device)
    array_4 = torch.empty((4, 512), dtype=torch.float32, device=logits.device)
    # grpo.py:24: for items, tokens in hl.tile([batch, steps]):
    grpo_loss_0_kernel[(2048,)](
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
        BLOCK_2=2048,
        num_warps=4,
        num_stages=2,
    )
    return array, array_2, array_3, array_4
