"""Attention without a softmax, whose history is one matrix a head: in chunks, one token at a time, and by the gated
delta rule."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def linear_attention(q, k, v, decay, chunk):
    """out[t] = Σ over s ≤ t of exp(decay · (t - s)) (q[t] · k[s]) v[s]: inside a chunk by products of its rows, and
    from all chunks before by the matrix that they left."""
    batch, heads, length, d = q.size()
    d, chunk = hl.specialize(d), hl.specialize(chunk)
    width = v.size(-1)
    out = torch.empty_like(v)
    for tile_b, tile_h, tile_w in hl.tile([batch, heads, width], block_size=[1, 1, None]):
        b, h = tile_b.begin, tile_h.begin
        rate = decay[h]
        state = hl.zeros([d, tile_w], dtype=torch.float32)
        for tile_t in hl.tile(length, block_size=chunk):
            queries, keys, values = q[b, h, tile_t, :], k[b, h, tile_t, :], v[b, h, tile_t, tile_w]
            age = tile_t.index - tile_t.begin
            apart = age[:, None] - age[None, :]
            scores = hl.dot(queries, keys.T, out_dtype=torch.float32)
            scores = torch.where(apart >= 0, scores * torch.exp(rate * apart), 0.0)
            recent = hl.dot(scores.to(v.dtype), values, out_dtype=torch.float32)
            before = hl.dot(queries, state.to(q.dtype), out_dtype=torch.float32)
            out[b, h, tile_t, tile_w] = (recent + before * torch.exp(rate * (age + 1))[:, None]).to(out.dtype)
            late = (values * torch.exp(rate * (chunk - 1 - age))[:, None]).to(v.dtype)
            state = hl.dot(keys.T, late, acc=state * torch.exp(rate * chunk))
    return out


@kopt.kernel
def linear_attention_step(q, k, v, state, decay):
    """One more token: the states take it in, in place, and each answers its query."""
    heads, width = v.size()
    out = torch.empty_like(v)
    for tile_h, tile_w in hl.tile([heads, width], block_size=[1, None]):
        h = tile_h.begin
        new = (
            state[h, :, tile_w].float() * torch.exp(decay[h]) + k[h, :].float()[:, None] * v[h, tile_w].float()[None, :]
        )
        state[h, :, tile_w] = new.to(state.dtype)
        out[h, tile_w] = (q[h, :].float()[:, None] * new).sum(0).to(out.dtype)
    return out, state


@kopt.kernel
def delta_states(keys, weights, values, decay, chunk):
    """The matrix before each chunk, where a chunk puts in only what the matrix does not yet say.

    ``weights`` are each row's own weights of the matrix; ``decay`` the logarithms of what is left of it since the
    begin of the chunk, which fall from row to row.
    """
    batch, length, heads, d = keys.size()
    d, chunk = hl.specialize(d), hl.specialize(chunk)
    width, dtype = values.size(-1), keys.dtype
    states = torch.empty([batch, -(-length // chunk), heads, d, width], dtype=dtype)
    for tile_b, tile_h, tile_w in hl.tile([batch, heads, width], block_size=[1, 1, None]):
        b, h = tile_b.begin, tile_h.begin
        state = hl.zeros([d, tile_w], dtype=torch.float32)
        for tile_t in hl.tile(length, block_size=chunk):
            states[b, tile_t.id, h, :, tile_w] = state.to(dtype)
            said = hl.dot(weights[b, tile_t, h, :], state.to(dtype), out_dtype=torch.float32)
            last = decay[b, min(tile_t.begin + chunk, length) - 1, h]
            new = (values[b, tile_t, h, tile_w] - said) * torch.exp(last - decay[b, tile_t, h])[:, None]
            state = hl.dot(keys[b, tile_t, h, :].T, new.to(dtype), acc=state * torch.exp(last))
    return states


def reference(q, k, v, decay, chunk):
    length = q.size(2)
    apart = torch.arange(length)[:, None] - torch.arange(length)[None, :]
    fade = torch.where(apart >= 0, torch.exp(decay.float()[:, None, None] * apart), 0.0)
    return ((q.float() @ k.float().mT * fade) @ v.float()).to(v.dtype)


def reference_step(q, k, v, state, decay):
    new = state.float() * torch.exp(decay.float())[:, None, None] + k.float()[:, :, None] * v.float()[:, None, :]
    return (q.float()[:, None, :] @ new)[:, 0].to(v.dtype), new.to(state.dtype)


def reference_states(keys, weights, values, decay, chunk):
    batch, length, heads, d = keys.size()
    state, states = torch.zeros(batch, heads, d, values.size(-1)), []
    for begin in range(0, length, chunk):
        k, w, v, g = (x[:, begin : begin + chunk].float().transpose(1, 2) for x in (keys, weights, values, decay))
        last = g[:, :, -1:]
        states.append(state.to(keys.dtype))
        new = (v - w @ states[-1].float()) * torch.exp(last - g)[..., None]
        state = state * torch.exp(last)[..., None] + k.mT @ new.to(keys.dtype).float()
    return torch.stack(states, 1)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
