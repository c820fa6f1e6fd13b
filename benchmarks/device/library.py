"""What torch has for an example: the best call of its libraries in the kernel's own dtype, else an expression.

`LIBRARY` has the calls, of the example's arguments; an example that is not there is called as its reference is.
`PREPARED` makes other arguments of these, once and before anything is timed: layouts that a library wants, masks, and
numbers that it takes on the host. `JUDGES` are for calls whose values may be other ones than the kernel's.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import torch
from torch.nn import functional as F

from examples.dropout import uniform
from examples.quantized import unpacked

aten: Any = torch.ops.aten
Tensors = tuple[torch.Tensor, ...]


def _rms_norm(x: Any, weight: Any, eps: float = 1e-5) -> Tensors:
    values, inverse = aten._fused_rms_norm(x, x.shape[-1:], weight, eps)
    return values, inverse[:, 0]


def _rms_norm_backward(grad: Any, x: Any, weight: Any, inverse: Any) -> Tensors:
    return aten._fused_rms_norm_backward(grad, x, x.shape[-1:], inverse[:, None], weight, [True, True])


def _layer_norm_backward(grad: Any, x: Any, weight: Any, mean: Any, rstd: Any) -> Tensors:
    statistics = (mean[:, None], rstd[:, None])
    return aten.native_layer_norm_backward(grad, x, x.shape[-1:], *statistics, weight, weight, [True, True, True])


def _cross_entropy_rows_backward(grad: Any, logits: Any, labels: Any) -> torch.Tensor:
    shares = torch.softmax(logits, -1)
    shares.scatter_add_(1, labels[:, None], torch.full_like(grad, -1.0, dtype=shares.dtype)[:, None])
    return shares.mul_(grad[:, None])


def _addmm_relu(x: Any, y: Any, bias: Any) -> torch.Tensor:
    return aten._addmm_activation(bias, x, y)


def _attend(q: Any, k: Any, v: Any, seen: Any = None) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def _attend_causally(q: Any, k: Any, v: Any) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def _attend_packed(q: Any, k: Any, v: Any, offsets: Any, longest: int) -> torch.Tensor:
    from torch.nn.attention.varlen import varlen_attn

    found = varlen_attn(q, k, v, offsets, offsets, longest, longest, window_size=(-1, 0))
    return found[0] if isinstance(found, tuple) else found


def _attend_pages(q: Any, keys: Any, values: Any, lengths: Any, table: Any) -> torch.Tensor:
    k, v = (x[:, table].transpose(0, 1).flatten(2, 3) for x in (keys, values))
    seen = torch.arange(k.size(2), device=q.device) < lengths[:, None]
    found = F.scaled_dot_product_attention(q[:, :, None], k, v, attn_mask=seen[:, None, None], enable_gqa=True)
    return found[:, :, 0]


def _attend_narrow(q: Any, k: Any, v: Any) -> torch.Tensor:
    wide = (x.to(torch.bfloat16) for x in (q, k, v.mT))
    return F.scaled_dot_product_attention(*wide).to(q.dtype)


@cache
def _compiled_flex() -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention)


def _flex_attention(q: Any, k: Any, v: Any, change_score: Any, seen: Any) -> Tensors:
    from torch.nn.attention.flex_attention import AuxRequest

    options = {"score_mod": change_score, "block_mask": seen, "return_aux": AuxRequest(lse=True)}
    found, sums = _compiled_flex()(q, k, v, enable_gqa=True, **options)
    return found, sums.lse


def _item_products(x: Any, y: Any, bounds: Any) -> torch.Tensor:
    return torch.stack([x[a:b].T @ y[a:b] for a, b in bounds])


def _grouped_product(x: Any, weights: Any, ends: Any) -> torch.Tensor:
    return F.grouped_mm(x, weights, offs=ends)


def _int8_product(x: Any, y: Any, scales_x: Any, scales_y: Any) -> torch.Tensor:
    return (aten._int_mm(x, y) * (scales_x.float()[:, None] * scales_y.float())).to(scales_x.dtype)


def _fp8_product(x: Any, y: Any, scales_x: Any, scales_y: Any, dtype: Any) -> torch.Tensor:
    return aten._scaled_mm(x, y, scales_x, scales_y, out_dtype=dtype)


def _squeeze_excite(x: Any, squeeze: Any, excite: Any) -> Tensors:
    hidden = torch.relu(x @ squeeze)
    gate = torch.sigmoid(hidden @ excite)
    return x * gate, hidden, gate


def _squeeze_excite_backward(grad: Any, x: Any, squeeze: Any, excite: Any, hidden: Any, gate: Any) -> Tensors:
    opened = gate.float()
    to_gate = (grad * x.float() * opened * (1 - opened)).to(x.dtype)
    to_hidden = aten.threshold_backward(to_gate @ excite.T, hidden, 0)
    return torch.addcmul(to_hidden @ squeeze.T, grad, gate), x.T @ to_hidden, hidden.T @ to_gate


def _js_divergence(predicted: Any, target: Any, beta: float = 0.5) -> Tensors:
    """Its value and its gradient by the logarithms that are predicted; a gradient has the parts of one item."""
    log_q, log_p, count = predicted.float(), target.float(), len(predicted)
    q = log_q.exp()
    if beta == 1:
        apart = q * (log_q - log_p)
        return apart.sum() / count, ((apart + q) / count).to(predicted.dtype)
    mean = torch.log(beta * log_p.exp() + (1 - beta) * q)
    apart = (1 - beta) * q * (log_q - mean)
    loss = (apart + beta * log_p.exp() * (log_p - mean)).sum() / count
    return loss, (apart / count).to(predicted.dtype)


def _grpo_backward(*args: Any) -> torch.Tensor:
    grad, logits, chosen, ids, old, ref, gain, mask, norms, temperature, beta, below, above = args
    own = chosen - norms
    free = torch.exp(own - old) * gain[:, None]
    bounded = torch.exp(own - old).clamp(1 - below, 1 + above) * gain[:, None]
    slope = torch.where(free <= bounded, -free, 0.0) + beta * (1 - torch.exp(ref - own))
    slope = (slope * grad * mask / temperature)[:, :, None]
    found = -slope * torch.exp(logits[:, :-1].float() / temperature - norms[:, :, None])
    found.scatter_add_(2, ids[:, :, None], slope)
    return F.pad(found.to(logits.dtype), (0, 0, 0, 1))


def _rotary(q: Any, k: Any, cos: Any, sin: Any) -> Tensors:
    def turned(x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cos[:, None] + torch.cat([-second, first], dim=-1) * sin[:, None]

    return turned(q), turned(k)


def _rotary_backward(grad_q: Any, grad_k: Any, cos: Any, sin: Any) -> Tensors:
    def back(grad: torch.Tensor) -> torch.Tensor:
        first, second = (grad * sin[:, None]).chunk(2, dim=-1)
        return grad * cos[:, None] + torch.cat([second, -first], dim=-1)

    return back(grad_q), back(grad_k)


def _linear_attention(q: Any, k: Any, v: Any, decay: Any, chunk: int) -> torch.Tensor:
    places = torch.arange(q.size(2), device=q.device)
    apart = places[:, None] - places[None, :]
    fade = torch.where(apart >= 0, torch.exp(decay.float()[:, None, None] * apart), 0.0)
    return (q @ k.mT * fade.to(q.dtype)) @ v


def _linear_attention_step(q: Any, k: Any, v: Any, state: Any, decay: Any) -> Tensors:
    new = state * torch.exp(decay.float())[:, None, None].to(state.dtype) + k[:, :, None] * v[:, None, :]
    return torch.bmm(q[:, None], new)[:, 0], new


def _delta_states(keys: Any, weights: Any, values: Any, decay: Any, chunk: int) -> torch.Tensor:
    batch, length, heads, d = keys.size()
    state = torch.zeros(batch * heads, d, values.size(-1), device=keys.device)
    states = []
    for begin in range(0, length, chunk):
        k, w, v, g = (x[:, begin : begin + chunk].transpose(1, 2).flatten(0, 1) for x in (keys, weights, values, decay))
        last = g[:, -1:].float()
        states.append(state.to(keys.dtype))
        new = torch.baddbmm(v, w, states[-1], alpha=-1) * torch.exp(last - g)[..., None]
        state = state * torch.exp(last)[..., None] + k.mT @ new.to(keys.dtype)
    return torch.stack(states, 1).unflatten(0, (batch, heads)).transpose(1, 2)


def _chunk_states(b: Any, x: Any, steps: Any, decay: Any) -> torch.Tensor:
    batch, _, heads, width = x.size()
    chunks, chunk = steps.shape[2:]
    b = b.repeat_interleave(heads // b.size(2), 2).view(batch, chunks, chunk, heads, -1)
    left = (torch.exp(decay.float()[..., -1:] - decay.float()) * steps).to(x.dtype)
    x = x.view(batch, chunks, chunk, heads, width) * left.permute(0, 2, 3, 1)[..., None]
    return torch.einsum("bclhn,bclhp->bchpn", b, x).contiguous()


def _chunk_scan(cb: Any, x: Any, steps: Any, decay: Any, c: Any, states: Any, skip: Any) -> torch.Tensor:
    batch, _, heads, width = x.size()
    chunks, chunk = steps.shape[2:]
    shape = (batch, chunks, chunk, heads)
    cb, c = (t.repeat_interleave(heads // cb.size(2), 2) for t in (cb, c))
    decay, inputs = decay.float(), x.view(*shape, width)
    apart = torch.exp(decay[..., :, None] - decay[..., None, :]) * steps[..., None, :]
    weights = (cb * apart.transpose(1, 2)).tril().to(x.dtype)
    within = torch.einsum("bchls,bcshp->bclhp", weights, inputs)
    before = torch.einsum("bclhn,bchpn->bclhp", c.view(*shape, -1), states)
    before = before * torch.exp(decay).permute(0, 2, 3, 1)[..., None]
    return (within + before + inputs * skip[:, None]).reshape(x.size()).to(x.dtype)


def _recurrence(decay: Any, x: Any) -> torch.Tensor:
    from torch._higher_order_ops.associative_scan import associative_scan

    def joined(before: Any, after: Any) -> Any:
        return before[0] * after[0], before[1] * after[0] + after[1]

    found: Any = associative_scan(joined, (decay.float(), x.float()), 1, combine_mode="generic")
    return found[1].to(x.dtype)


LIBRARY: dict[str, Callable[..., Any]] = {
    "exp_backward": lambda grad, y: grad * y,
    "dropout": lambda x, p, seed: F.dropout(x, p),
    "dropout_backward": lambda grad, kept, scale: aten.native_dropout_backward(grad, kept, scale),
    "softmax_decomposed": lambda x: torch.softmax(x, 1),
    "softmax_backward": lambda grad, y: aten._softmax_backward_data(grad, y, 1, y.dtype),
    "layer_norm_backward": _layer_norm_backward,
    "rms_norm": _rms_norm,
    "rms_norm_backward": _rms_norm_backward,
    "standardize": lambda x: F.batch_norm(x, None, None, training=True, eps=1e-5),
    "running_sum": lambda x: torch.cumsum(x, 1),
    "linear_recurrence": _recurrence,
    "cross_entropy": F.cross_entropy,
    "cross_entropy_rows": lambda logits, labels: F.cross_entropy(logits, labels, reduction="none"),
    "cross_entropy_rows_backward": _cross_entropy_rows_backward,
    "kl_divergence": lambda x, y, log=False: F.kl_div(x, y, reduction="batchmean", log_target=log),
    "kl_divergence_of_logs": lambda x, y, log: F.kl_div(x, y, reduction="batchmean", log_target=log),
    "js_divergence": _js_divergence,
    "js_divergence_skewed": _js_divergence,
    "js_divergence_reverse": _js_divergence,
    "grpo_backward": _grpo_backward,
    "rotary": _rotary,
    "rotary_backward": _rotary_backward,
    "swiglu_backward": lambda grad, gate, up: (aten.silu_backward(grad * up, gate), grad * F.silu(gate)),
    "geglu_backward": lambda grad, gate, up: (
        aten.gelu_backward(grad * up, gate, approximate="tanh"),
        grad * F.gelu(gate, approximate="tanh"),
    ),
    "squeeze_excite": _squeeze_excite,
    "squeeze_excite_backward": _squeeze_excite_backward,
    "matmul": torch.matmul,
    "matmul_epilogue": _addmm_relu,
    "matmul_backward": lambda grad, x, y: (grad @ y.T, x.T @ grad),
    "split_matmul": lambda x, y, splits: x @ y,
    "split_matmul_barrier": lambda x, y, splits: x @ y,
    "bmm": torch.bmm,
    "swiglu_matmul": lambda x, gate, up: F.silu(x @ gate) * (x @ up),
    "int4_matmul": lambda x, packed: x @ unpacked(packed).to(x.dtype),
    "int4_matmul_halves": lambda x, packed: x @ unpacked(packed).to(x.dtype),
    "int16_matmul": lambda x, weights: x @ weights.to(x.dtype),
    "int8_matmul": _int8_product,
    "fp8_matmul": _fp8_product,
    "grouped_matmul": _grouped_product,
    "jagged_jagged_bmm": _item_products,
    "attention": _attend,
    "causal_attention": _attend_causally,
    "window_attention": _attend,
    "fp8_attention": _attend_narrow,
    "packed_attention": _attend_packed,
    "paged_attention": _attend_pages,
    "flex_attention_alibi": _flex_attention,
    "flex_attention_window": _flex_attention,
    "linear_attention": _linear_attention,
    "linear_attention_step": _linear_attention_step,
    "delta_states": _delta_states,
    "chunk_states": _chunk_states,
    "chunk_scan": _chunk_scan,
    "embedding": F.embedding,
    "scatter_add": lambda out, rows, x: out.index_add_(0, rows, x),
    "gather_gemv": lambda matrices, numbers, vector: matrices[numbers].to(vector.dtype) @ vector,
    "topk": torch.topk,
}
#: Calls of kernels that torch has for GPUs alone.
NEEDS_A_GPU = ("rms_norm_backward", "packed_attention")


def _with_mask(q: Any, k: Any, v: Any, window: int) -> Tensors:
    places = torch.arange(q.size(2), device=q.device)
    ago = places[:, None] - places[None, :]
    return q, k, v, (ago >= 0) & (ago < window)


def _with_block_mask(q: Any, k: Any, v: Any, change_score: Any, is_seen: Any) -> tuple[Any, ...]:
    from torch.nn.attention.flex_attention import create_block_mask

    return q, k, v, change_score, create_block_mask(is_seen, None, None, q.size(2), k.size(2), device=q.device)


def _with_longest(q: Any, k: Any, v: Any, offsets: Any, causal: bool) -> tuple[Any, ...]:
    return q, k, v, offsets.int(), int(offsets.diff().max())


def _with_bounds(x: Any, y: Any, offsets: Any) -> tuple[Any, ...]:
    return x, y, list(pairwise(offsets.tolist()))


def _with_columns_in_rows(x: Any, y: Any, scales_x: Any, scales_y: Any) -> tuple[Any, ...]:
    return x, y.T.contiguous().T, scales_x.float()[:, None], scales_y.float()[None], scales_x.dtype


def _with_kept(grad: Any, p: float, seed: Any) -> tuple[Any, ...]:
    numbers = torch.arange(grad.numel(), device=grad.device).view(grad.shape)
    return grad, uniform(int(seed), numbers) > p, 1 / (1 - p)


PREPARED: dict[str, Callable[..., tuple[Any, ...]]] = {
    "cross_entropy": lambda logits, labels: (logits, labels.long()),
    "cross_entropy_rows": lambda logits, labels: (logits, labels.long()),
    "cross_entropy_rows_backward": lambda grad, logits, labels: (grad, logits, labels.long()),
    "grpo_backward": lambda *args: (*args[:3], args[3].long(), *args[4:]),
    "matmul_epilogue": lambda x, y, epilogue: (x, y, inspect.getclosurevars(epilogue).nonlocals["bias"]),
    "grouped_matmul": lambda x, weights, offsets: (x, weights, offsets[1:].int()),
    "jagged_jagged_bmm": _with_bounds,
    "fp8_matmul": _with_columns_in_rows,
    "window_attention": _with_mask,
    "packed_attention": _with_longest,
    "flex_attention_alibi": _with_block_mask,
    "flex_attention_window": _with_block_mask,
    "dropout_backward": _with_kept,
}


def _dropped(args: tuple[Any, ...], found: Any, wanted: Any) -> str | None:
    """Other elements than the kernel's may be dropped, about as many, and the others are scaled."""
    x, p, _ = args
    kept = found != 0
    if not torch.allclose(found[kept].float(), (x[kept] / (1 - p)).float(), rtol=2**-6):
        return "elements that are kept have other values"
    share, off = float((kept | (x == 0)).float().mean()), 6 * math.sqrt(p * (1 - p) / x.numel())
    return None if abs(share - (1 - p)) <= off else f"{share:.4f} of the elements are kept, of {1 - p}"


def _largest(args: tuple[Any, ...], found: Any, wanted: Any) -> str | None:
    """Of equal elements any may come first."""
    (values, places), (largest, _) = found, wanted
    agree = torch.equal(values.cpu(), largest.cpu()) and torch.equal(args[0].gather(1, places), values)
    return None if agree else "other elements than the largest"


def _rounded_often(args: tuple[Any, ...], found: Any, wanted: Any) -> str | None:
    """The products of each chunk are rounded to the dtype of its operands before they are summed."""
    apart = (found.cpu().float() - wanted.cpu().float()).abs()
    scale = wanted.cpu().float().abs() + wanted.cpu().float().square().mean().sqrt()
    worst = float((apart / scale).max())
    return None if worst <= 8 * torch.finfo(found.dtype).eps else f"{worst:.3g} of the values' scale off"


JUDGES: dict[str, Callable[[tuple[Any, ...], Any, Any], str | None]] = {
    "dropout": _dropped,
    "topk": _largest,
    "delta_states": _rounded_often,
}
