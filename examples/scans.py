"""Scans along a dimension, a block at a time: running sums of rows, and a linear recurrence of each channel."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def running_sum(x):
    m, n = x.size()
    out = torch.empty_like(x)
    for rows in hl.tile(m):
        before = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(n):
            values = x[rows, cols].to(torch.float32)
            out[rows, cols] = (before[:, None] + torch.cumsum(values, 1)).to(x.dtype)
            before += values.sum(1)
    return out


@kopt.kernel
def linear_recurrence(decay, x):
    """h[t] = decay[t] · h[t - 1] + x[t]: inside a block by an associative scan, and its last row goes to the next."""
    batch, length, width = x.size()
    out = torch.empty_like(x)
    for tile_b, tile_w in hl.tile([batch, width], block_size=[1, None]):
        b = tile_b.begin
        state = hl.zeros([tile_w], dtype=torch.float32)
        for tile_t in hl.tile(length):
            steps = decay[b, tile_t, tile_w].to(torch.float32), x[b, tile_t, tile_w].to(torch.float32)
            left, added = hl.associative_scan(both, steps, dim=0)
            rows = left * state[None, :] + added
            out[b, tile_t, tile_w] = rows.to(x.dtype)
            last = tile_t.index == tile_t.end - 1
            state = torch.where(last[:, None], rows, 0.0).sum(0)
    return out


def both(first_left, first_added, left, added):
    """Two steps as one."""
    return first_left * left, first_added * left + added


def reference_sum(x):
    return torch.cumsum(x.float(), 1).to(x.dtype)


def reference_recurrence(decay, x):
    rows, state = [], torch.zeros(x.size(0), x.size(2))
    for t in range(x.size(1)):
        state = decay[:, t].float() * state + x[:, t].float()
        rows.append(state)
    return torch.stack(rows, 1).to(x.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
