"""The two chunked kernels of a state space model (Mamba-2): what each chunk adds to the state, and its outputs."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def chunk_states(b, x, steps, decay):
    """Each chunk's sum over its rows of x ⊗ b, by the row's step and by what is left of it at the chunk's end."""
    batch, _, groups, states = b.size()
    _, _, heads, width = x.size()
    chunks, chunk = steps.size(2), steps.size(3)
    per_group = heads // groups
    out = torch.empty([batch, chunks, heads, width, states], dtype=x.dtype)
    rows = hl.register_block_size(chunk)
    for tile_h, tile_w, tile_s, tile_n, tile_c in hl.tile(
        [heads, width, states, batch, chunks], block_size=[1, None, None, 1, 1]
    ):
        n, h, c = tile_n.begin, tile_h.begin, tile_c.begin
        last = decay[n, h, c, chunk - 1].to(torch.float32)
        acc = hl.zeros([tile_w, tile_s], dtype=torch.float32)
        for tile_t in hl.tile(chunk, block_size=rows):
            left = torch.exp(last - decay[n, h, c, tile_t].to(torch.float32)) * steps[n, h, c, tile_t]
            inputs = (x[n, c * chunk + tile_t.index, h, tile_w].T * left[None, :]).to(x.dtype)
            acc = hl.dot(inputs, b[n, c * chunk + tile_t.index, h // per_group, tile_s], acc=acc)
        out[n, c, h, tile_w, tile_s] = acc.to(out.dtype)
    return out


@kopt.kernel
def chunk_scan(cb, x, steps, decay, c, states, skip):
    """Each row's output: from the state before its chunk, from the rows of its chunk up to it, and from itself."""
    batch, chunks, groups, chunk, _ = cb.size()
    _, _, heads, width = x.size()
    per_group = heads // groups
    out = torch.empty_like(x)
    rows = hl.register_block_size(chunk)
    for tile_h, tile_m, tile_w, tile_n, tile_c in hl.tile(
        [heads, chunk, width, batch, chunks], block_size=[1, rows, None, 1, 1]
    ):
        n, h, begin = tile_n.begin, tile_h.begin, tile_c.begin * chunk
        mine = decay[n, h, tile_c.begin, tile_m].to(torch.float32)
        before = hl.dot(c[n, begin + tile_m.index, h // per_group, :], states[n, tile_c.begin, h, tile_w, :].T)
        acc = before * torch.exp(mine)[:, None]
        for tile_k in hl.tile((tile_m.id + 1) * rows):  # later rows are masked for every row of the tile
            theirs = decay[n, h, tile_c.begin, tile_k].to(torch.float32)
            weights = cb[n, tile_c.begin, h // per_group, tile_m, tile_k] * torch.exp(mine[:, None] - theirs[None, :])
            weights = weights * steps[n, h, tile_c.begin, tile_k].to(torch.float32)[None, :]
            weights = torch.where(tile_m.index[:, None] >= tile_k.index[None, :], weights, 0.0)
            acc = hl.dot(weights.to(x.dtype), x[n, begin + tile_k.index, h, tile_w], acc=acc)
        inputs = x[n, begin + tile_m.index, h, tile_w].to(torch.float32)
        out[n, begin + tile_m.index, h, tile_w] = (acc + inputs * skip[h].to(torch.float32)).to(out.dtype)
    return out


def reference_states(b, x, steps, decay):
    batch, length, heads, width = x.size()
    chunks, chunk = steps.size(2), steps.size(3)
    b = b.float().repeat_interleave(heads // b.size(2), 2).view(batch, chunks, chunk, heads, -1)
    left = torch.exp(decay.float()[..., -1:] - decay.float()) * steps.float()
    x = x.view(batch, chunks, chunk, heads, width)
    return torch.einsum("bclhn,bhcl,bclhp->bchpn", b, left, x.float()).to(x.dtype)


def reference_scan(cb, x, steps, decay, c, states, skip):
    batch, length, heads, width = x.size()
    chunks, chunk = steps.size(2), steps.size(3)
    shape = (batch, chunks, chunk, heads)
    cb, c = (t.float().repeat_interleave(heads // cb.size(2), 2) for t in (cb, c))
    decay, steps, inputs = decay.float(), steps.float(), x.float().view(*shape, width)
    apart = torch.exp(decay[..., :, None] - decay[..., None, :]) * steps[..., None, :]
    weights = (cb * apart.transpose(1, 2)).tril()
    within = torch.einsum("bchls,bcshp->bclhp", weights, inputs)
    before = torch.einsum("bclhn,bchpn->bclhp", c.view(*shape, -1), states.float())
    before = before * torch.exp(decay).permute(0, 2, 3, 1)[..., None]
    return (within + before + inputs * skip.float()[:, None]).reshape(x.size()).to(x.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
