"""Items that are packed one after another, item i in rows offsets[i] to offsets[i + 1]: attention inside each sequence,
products inside each item, and a matrix of its own for each group of rows."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def packed_attention(q, k, v, offsets, causal):
    """Softmax attention inside each sequence of a pack of them, one block of rows at a time."""
    rows, heads, depth = q.size()
    out = torch.zeros_like(q)
    scale = depth**-0.5
    for i, h in hl.grid([offsets.size(0) - 1, heads]):
        begin, end = offsets[i], offsets[i + 1]
        for mine in hl.tile(begin, end):
            top = hl.full([mine], float("-inf"), dtype=torch.float32)
            total = hl.zeros([mine], dtype=torch.float32)
            acc = hl.zeros([mine, depth], dtype=torch.float32)
            for others in hl.tile(begin, end):
                scores = torch.matmul(q[mine, h, :], k[others, h, :].transpose(0, 1)).to(torch.float32) * scale
                if causal:
                    scores = torch.where(mine.index[:, None] >= others.index[None, :], scores, float("-inf"))
                higher = torch.maximum(top, scores.amax(1))
                weights = torch.exp(scores - higher[:, None])
                decay = torch.exp(top - higher)
                total = total * decay + weights.sum(1)
                acc = torch.addmm(acc * decay[:, None], weights.to(v.dtype), v[others, h, :])
                top = higher
            out[mine, h, :] = (acc / total[:, None]).to(q.dtype)
    return out


@kopt.kernel
def jagged_jagged_bmm(x, y, offsets):
    """Each item's rows of ``x``, transposed, times its rows of ``y``: the jagged extent is summed over."""
    items, rows, columns = offsets.size(0) - 1, x.size(1), y.size(1)
    out = torch.empty([items, rows, columns], dtype=x.dtype)
    for i in hl.grid(items):
        begin, end = offsets[i], offsets[i + 1]
        for m, n in hl.tile([rows, columns]):
            acc = hl.zeros([m, n], dtype=torch.float32)
            for k in hl.tile(begin, end):
                acc = torch.addmm(acc, x[k, m].transpose(0, 1), y[k, n])
            out[i, m, n] = acc.to(x.dtype)
    return out


@kopt.kernel
def grouped_matmul(x, weights, offsets):
    """The rows of each group times the group's own matrix; every row belongs to a group."""
    groups, inner, columns = weights.size()
    out = torch.empty([x.size(0), columns], dtype=x.dtype)
    for g in hl.grid(groups):
        for m, n in hl.tile([offsets[g], 0], [offsets[g + 1], columns]):
            acc = hl.zeros([m, n], dtype=torch.float32)
            for k in hl.tile(inner):
                acc = torch.addmm(acc, x[m, k], weights[g, k, n])
            out[m, n] = acc.to(x.dtype)
    return out


@kopt.kernel
def expert_matmul(x, weights, experts):
    """Each block of rows times its expert's matrix: rows are sorted by experts, and each expert's padded to blocks."""
    inner, columns = weights.size(1), weights.size(2)
    block = hl.specialize(x.size(0) // experts.size(0))
    out = torch.empty([x.size(0), columns], dtype=x.dtype)
    for m, n in hl.tile([x.size(0), columns], block_size=[block, None]):
        expert = experts[m.id]
        acc = hl.zeros([m, n], dtype=torch.float32)
        for k in hl.tile(inner):
            acc = torch.addmm(acc, x[m, k], weights[expert, k, n])
        out[m, n] = acc.to(x.dtype)
    return out


def reference_attention(q, k, v, offsets, causal):
    out = torch.zeros_like(q)
    for a, b in bounds(offsets):
        if a < b:
            parts = (part[a:b].float().transpose(0, 1)[None] for part in (q, k, v))
            found = torch.nn.functional.scaled_dot_product_attention(*parts, is_causal=causal)
            out[a:b] = found[0].transpose(0, 1).to(q.dtype)
    return out


def reference_products(x, y, offsets):
    return torch.stack([x[a:b].float().T @ y[a:b].float() for a, b in bounds(offsets)]).to(x.dtype)


def reference_grouped(x, weights, offsets):
    out = torch.zeros([x.size(0), weights.size(2)])
    for weight, (a, b) in zip(weights.float(), bounds(offsets), strict=True):
        out[a:b] = x[a:b].float() @ weight
    return out.to(x.dtype)


def reference_experts(x, weights, experts):
    blocks = x.float().view(experts.size(0), -1, x.size(1))
    return (blocks @ weights.float()[experts.long()]).flatten(0, 1).to(x.dtype)


def bounds(offsets):
    return list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
