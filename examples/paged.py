"""Attention of one query a head over keys and values in pages, which a table lists for each sequence."""

import math

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def paged_attention(q, keys, values, lengths, table):
    """``keys`` and ``values`` are [heads, pages, rows, d]; ``heads`` of them serve as many groups of queries."""
    sequences, heads, d = q.size()
    few, _, page, _ = keys.size()
    d, page = hl.specialize(d), hl.specialize(page)
    group = hl.specialize(heads // few)
    grouped = q.view([sequences, few, group, d])
    out = torch.empty_like(grouped)
    scale = 1.0 / math.sqrt(d)
    for tile_s, h in hl.tile([sequences, few], block_size=[1, None]):
        s = tile_s.begin
        length = lengths[s]
        queries = grouped[s, h, :, :]
        top = hl.full([h, group], float("-inf"), dtype=torch.float32)
        total = hl.zeros([h, group], dtype=torch.float32)
        acc = hl.zeros([h, group, d], dtype=torch.float32)
        for tile in hl.tile(0, length, block_size=page):
            number = table[s, tile.id]
            scores = hl.dot(queries, keys[h, number, :, :].transpose(1, 2), out_dtype=torch.float32) * scale
            scores = torch.where(tile.begin + hl.arange(page)[None, None, :] < length, scores, float("-inf"))
            higher = torch.maximum(top, scores.amax(-1))
            weights = torch.exp(scores - higher[:, :, None])
            fade = torch.exp(top - higher)
            total = total * fade + weights.sum(-1)
            acc = hl.dot(weights.to(values.dtype), values[h, number, :, :], acc=acc * fade[:, :, None])
            top = higher
        out[s, h, :, :] = (acc / total[:, :, None]).to(out.dtype)
    return out.view(q.size())


def reference(q, keys, values, lengths, table):
    sequences, heads, d = q.size()
    out = torch.empty_like(q)
    for s, (length, numbers) in enumerate(zip(lengths.tolist(), table.long(), strict=True)):
        k, v = (x[:, numbers].flatten(1, 2)[:, :length].float() for x in (keys, values))
        grouped = q[s].view(keys.size(0), -1, d).float()
        out[s] = torch.nn.functional.scaled_dot_product_attention(grouped, k, v).view(heads, d).to(q.dtype)
    return out


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
