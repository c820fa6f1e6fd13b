"""Attention whose operands, weights and results are 8-bit floats; what is summed is 32 bits wide."""

import math

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def fp8_attention(q, k, v):
    """``v`` comes transposed: 8-bit products want both operands' summed elements side by side."""
    heads, m, d = q.size()
    d = hl.specialize(d)
    out = torch.empty_like(q)
    scale = math.log2(math.e) / math.sqrt(d)
    for h in hl.grid(heads):
        for tile_m in hl.tile(m):
            queries = q[h, tile_m, :]
            top = hl.full([tile_m], float("-inf"), dtype=torch.float32)
            total = hl.zeros([tile_m], dtype=torch.float32)
            acc = hl.zeros([tile_m, d], dtype=torch.float32)
            for tile_n in hl.tile(k.size(1)):
                scores = hl.dot(queries, k[h, tile_n, :].transpose(0, 1)) * scale
                higher = torch.maximum(top, scores.amax(-1))
                weights = torch.exp2(scores - higher[:, None])
                fade = torch.exp2(top - higher)
                total = total * fade + weights.sum(-1)
                acc = hl.dot(weights.to(v.dtype), v[h, :, tile_n].t(), acc=acc * fade[:, None])
                top = higher
            out[h, tile_m, :] = (acc / total[:, None]).to(out.dtype)
    return out


def reference(q, k, v):
    scores = q.float() @ k.float().mT / math.sqrt(q.size(-1))
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    found = weights.to(v.dtype).float() @ v.float().mT / weights.sum(-1, keepdim=True)
    return found.to(q.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
