"""Attention with functions of the caller's own: one changes each score, one says which keys a query sees."""

import math

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def flex_attention(q, k, v, change_score, is_seen):
    batch, heads, m, d = q.size()
    n = k.size(2)
    d = hl.specialize(d)
    groups = heads // k.size(1)  # of queries, which share keys and values
    out = torch.empty_like(q)
    sums = torch.empty([batch, heads, m], dtype=torch.float32)
    scale = 1.0 / math.sqrt(d)
    for tile_b, tile_h, tile_m in hl.tile([batch, heads, m], block_size=[1, 1, None]):
        b, h = tile_b.begin, tile_h.begin
        queries = q[b, h, tile_m, :]
        top = hl.full([tile_m], -1e30, dtype=torch.float32)  # finite: the first keys may all be unseen
        total = hl.zeros([tile_m], dtype=torch.float32)
        acc = hl.zeros([tile_m, d], dtype=torch.float32)
        for tile_n in hl.tile(n):
            rows, columns = tile_m.index[:, None], tile_n.index[None, :]
            scores = hl.dot(queries, k[b, h // groups, tile_n, :].T, out_dtype=torch.float32) * scale
            scores = change_score(scores, b, h, rows, columns)
            scores = torch.where(is_seen(b, h, rows, columns), scores, float("-inf"))
            higher = torch.maximum(top, scores.amax(-1))
            weights = torch.exp(scores - higher[:, None])
            fade = torch.exp(top - higher)
            total = total * fade + weights.sum(-1)
            acc = hl.dot(weights.to(v.dtype), v[b, h // groups, tile_n, :], acc=acc * fade[:, None])
            top = higher
        out[b, h, tile_m, :] = (acc / total[:, None]).to(out.dtype)
        sums[b, h, tile_m] = top + torch.log(total)
    return out, sums


def unchanged(score, b, h, row, column):
    return score


def capped(score, b, h, row, column):
    """No score is beyond 2 or -2."""
    return 2.0 * torch.tanh(score / 2.0)


def sloped(slopes):
    """Scores that fall with the distance, by a slope a head: a tensor that the kernel sees though it is no argument."""
    return lambda score, b, h, row, column: score - slopes[h] * torch.abs(row - column)


def causal(b, h, row, column):
    return row >= column


def near(distance):
    """Keys up to so far back."""
    return lambda b, h, row, column: (row >= column) & (row - column < distance)


def reference(q, k, v, change_score, is_seen):
    batch, heads, m, d = q.size()
    n, groups = k.size(2), heads // k.size(1)
    k, v = (x.float().repeat_interleave(groups, 1) for x in (k, v))
    places = torch.meshgrid(*(torch.arange(size) for size in (batch, heads, m, n)), indexing="ij")
    scores = change_score(q.float() @ k.mT / math.sqrt(d), *places)
    scores = torch.where(is_seen(*places), scores, float("-inf"))
    return (torch.softmax(scores, -1) @ v).to(q.dtype), torch.logsumexp(scores, -1)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
