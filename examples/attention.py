"""Flash attention: softmax(q kᵀ / √d) v without the matrix of scores in memory; plain, causal, and in a window."""

import math

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def attention(q, k, v):
    *heads, m, d = q.size()
    n = k.size(-2)
    d = hl.specialize(d)
    q, k, v = q.reshape([-1, m, d]), k.reshape([-1, n, d]), v.reshape([-1, n, d])
    out = torch.empty_like(q)
    scale = 1.0 / math.sqrt(d)
    for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
        queries = q[tile_b, tile_m, :]
        largest = hl.full([tile_b, tile_m], float("-inf"), dtype=torch.float32)
        total = hl.zeros([tile_b, tile_m], dtype=torch.float32)
        acc = hl.zeros([tile_b, tile_m, d], dtype=torch.float32)
        for tile_n in hl.tile(n):
            scores = hl.dot(queries, k[tile_b, tile_n, :].transpose(1, 2), out_dtype=torch.float32) * scale
            grown = torch.maximum(largest, torch.amax(scores, -1))
            shrink = torch.exp(largest - grown)
            weights = torch.exp(scores - grown[:, :, None])
            total = total * shrink + weights.sum(-1)
            acc = torch.baddbmm(acc * shrink[:, :, None], weights.to(v.dtype), v[tile_b, tile_n, :])
            largest = grown
        out[tile_b, tile_m, :] = (acc / total[:, :, None]).to(out.dtype)
    return out.view([*heads, m, d])


@kopt.kernel
def causal_attention(q, k, v):
    *heads, m, d = q.size()
    d = hl.specialize(d)
    q, k, v = q.reshape([-1, m, d]), k.reshape([-1, m, d]), v.reshape([-1, m, d])
    out = torch.empty_like(q)
    scale = 1.0 / math.sqrt(d)
    for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
        queries = q[tile_b, tile_m, :]
        largest = hl.full([tile_b, tile_m], float("-inf"), dtype=torch.float32)
        total = hl.zeros([tile_b, tile_m], dtype=torch.float32)
        acc = hl.zeros([tile_b, tile_m, d], dtype=torch.float32)
        for tile_n in hl.tile(0, tile_m.end):  # later keys are masked for every query of the tile
            scores = hl.dot(queries, k[tile_b, tile_n, :].transpose(1, 2), out_dtype=torch.float32) * scale
            seen = tile_m.index[:, None] >= tile_n.index[None, :]
            scores = torch.where(seen[None, :, :], scores, float("-inf"))
            grown = torch.maximum(largest, torch.amax(scores, -1))
            shrink = torch.exp(largest - grown)
            weights = torch.exp(scores - grown[:, :, None])
            total = total * shrink + weights.sum(-1)
            acc = torch.baddbmm(acc * shrink[:, :, None], weights.to(v.dtype), v[tile_b, tile_n, :])
            largest = grown
        out[tile_b, tile_m, :] = (acc / total[:, :, None]).to(out.dtype)
    return out.view([*heads, m, d])


@kopt.kernel
def window_attention(q, k, v, window):
    """Each query sees itself and the ``window - 1`` keys before it."""
    *heads, m, d = q.size()
    d = hl.specialize(d)
    q, k, v = q.reshape([-1, m, d]), k.reshape([-1, m, d]), v.reshape([-1, m, d])
    out = torch.empty_like(q)
    scale = 1.0 / math.sqrt(d)
    for tile_b, tile_m in hl.tile([q.size(0), m], block_size=[1, None]):
        queries = q[tile_b, tile_m, :]
        largest = hl.full([tile_b, tile_m], -1e30, dtype=torch.float32)  # finite: the first keys may all be unseen
        total = hl.zeros([tile_b, tile_m], dtype=torch.float32)
        acc = hl.zeros([tile_b, tile_m, d], dtype=torch.float32)
        for tile_n in hl.tile(max(0, tile_m.begin - window + 1), tile_m.end):
            scores = hl.dot(queries, k[tile_b, tile_n, :].transpose(1, 2), out_dtype=torch.float32) * scale
            ago = tile_m.index[:, None] - tile_n.index[None, :]
            scores = torch.where(((ago >= 0) & (ago < window))[None, :, :], scores, float("-inf"))
            grown = torch.maximum(largest, torch.amax(scores, -1))
            shrink = torch.exp(largest - grown)
            weights = torch.exp(scores - grown[:, :, None])
            total = total * shrink + weights.sum(-1)
            acc = torch.baddbmm(acc * shrink[:, :, None], weights.to(v.dtype), v[tile_b, tile_n, :])
            largest = grown
        out[tile_b, tile_m, :] = (acc / total[:, :, None]).to(out.dtype)
    return out.view([*heads, m, d])


def reference(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float()).to(q.dtype)


def reference_causal(q, k, v):
    attended = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
    return attended.to(q.dtype)


def reference_window(q, k, v, window):
    ago = torch.arange(q.size(2))[:, None] - torch.arange(q.size(2))[None, :]
    seen = (ago >= 0) & (ago < window)
    attended = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), attn_mask=seen)
    return attended.to(q.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
