"""Group relative policy optimisation: a clipped policy loss with a penalty for leaving a reference, and its gradient.

The logits have one step more than there are tokens; the last one predicts nothing.
"""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def grpo_loss(logits, chosen, old, ref, advantages, mask, temperature, beta, below, above):
    """Each token's loss, divergence and whether it was clipped, and the logarithm of its normaliser.

    ``chosen`` are the tokens' own logits over the temperature; ``old`` may be None (the policy itself), ``mask`` too.
    """
    batch, steps, words = logits.size()
    steps = steps - 1
    logits = logits[:, :-1, :]
    loss, kl, clipped, norms = (
        torch.empty([batch, steps], dtype=torch.float32, device=logits.device) for _ in range(4)
    )
    for items, tokens in hl.tile([batch, steps]):
        largest = hl.full([items, tokens], float("-inf"), dtype=torch.float32)
        total = hl.zeros([items, tokens], dtype=torch.float32)
        for part in hl.tile(words):
            values = logits[items, tokens, part].to(torch.float32) / temperature
            grown = torch.maximum(largest, torch.amax(values, dim=-1))
            total = total * torch.exp(largest - grown) + torch.exp(values - grown[:, :, None]).sum(-1)
            largest = grown
        norm = largest + torch.log(total)
        own = chosen[items, tokens] - norm
        ratio = torch.exp(own - (own if old is None else old[items, tokens]))
        gain = advantages[items][:, None]
        free, bounded = ratio * gain, torch.clamp(ratio, 1 - below, 1 + above) * gain
        apart = ref[items, tokens] - own
        distance = torch.exp(apart) - apart - 1
        result = beta * distance - torch.minimum(free, bounded)
        if mask is not None:
            distance, result = distance * mask[items, tokens], result * mask[items, tokens]
        loss[items, tokens] = result
        kl[items, tokens] = distance
        clipped[items, tokens] = (free < bounded).to(torch.float32)
        norms[items, tokens] = norm
    return loss, kl, clipped, norms


@kopt.kernel
def grpo_backward(grad, logits, chosen, ids, old, ref, advantages, mask, norms, temperature, beta, below, above):
    """The gradient by the logits, from each token's (``ids``) and what the forward pass found."""
    batch, steps, words = logits.size()
    out = torch.zeros_like(logits)
    for items, tokens in hl.tile([batch, steps - 1]):
        norm = norms[items, tokens]
        own = chosen[items, tokens] - norm
        ratio = torch.exp(own - (own if old is None else old[items, tokens]))
        gain = advantages[items][:, None]
        free, bounded = ratio * gain, torch.clamp(ratio, 1 - below, 1 + above) * gain
        slope = torch.where(free <= bounded, -free, 0.0) + beta * (1 - torch.exp(ref[items, tokens] - own))
        slope = slope * grad[items, tokens] / temperature
        if mask is not None:
            slope = slope * mask[items, tokens]
        for part in hl.tile(words):
            share = torch.exp(logits[items, tokens, part].to(torch.float32) / temperature - norm[:, :, None])
            is_own = part.index[None, None, :] == ids[items, tokens][:, :, None]
            out[items, tokens, part] = (slope[:, :, None] * (is_own.to(torch.float32) - share)).to(out.dtype)
    return out


def reference(logits, chosen, old, ref, advantages, mask, temperature, beta, below, above):
    norms = torch.logsumexp(logits[:, :-1].float() / temperature, -1)
    loss, kl, clipped = _loss(chosen - norms, old, ref, advantages, mask, beta, below, above)
    return loss, kl, clipped, norms


def _loss(own, old, ref, advantages, mask, beta, below, above):
    ratio = torch.exp(own - (own.detach() if old is None else old))
    free = ratio * advantages[:, None]
    bounded = ratio.clamp(1 - below, 1 + above) * advantages[:, None]
    kl = torch.exp(ref - own) - (ref - own) - 1
    loss = beta * kl - torch.minimum(free, bounded)
    kept = 1.0 if mask is None else mask
    return loss * kept, kl * kept, (free < bounded).float()


def reference_backward(grad, logits, chosen, ids, old, ref, advantages, mask, norms, temperature, *constants):
    exact = logits.double().requires_grad_()
    logs = torch.log_softmax(exact[:, :-1] / temperature, -1)
    own = logs.gather(2, ids.long()[:, :, None]).squeeze(2)
    loss = _loss(own, old, ref, advantages, mask, *constants)[0]
    return torch.autograd.grad(loss, exact, grad.double())[0].to(logits.dtype)


def arguments(new, batch, steps, words, backward=False):
    """Arguments of either kernel, with tokens near the clipping bounds on both sides."""
    temperature, constants = 0.9, (0.04, 0.2, 0.4)
    logits = new(batch, steps + 1, words)
    ids = new.below(words, batch, steps)
    scaled = logits[:, :-1].float() / temperature
    chosen = scaled.gather(2, ids.long()[:, :, None]).squeeze(2)
    norms = torch.logsumexp(scaled, -1)
    old, ref = (chosen - norms + 0.3 * new(batch, steps).float() for _ in range(2))
    advantages, mask = new(batch).float(), (new.below(4, batch, steps) > 0).float()
    if not backward:
        return logits, chosen, old, ref, advantages, mask, temperature, *constants
    grad = new(batch, steps).float()
    return grad, logits, chosen, ids, old, ref, advantages, mask, norms, temperature, *constants


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
