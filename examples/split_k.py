"""A matrix product with a long inner dimension, dealt out to cells that add up in memory, or after a barrier."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def split_matmul(x, y, splits):
    m, k = x.size()
    _, n = y.size()
    out = torch.zeros([m, n], dtype=x.dtype, device=x.device)
    part = -(-k // splits)
    for tile_m, tile_n, outer in hl.tile([m, n, k], block_size=[None, None, part]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(outer.begin, outer.end):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        hl.atomic_add(out, [tile_m, tile_n], acc)
    return out


@kopt.kernel
def split_matmul_barrier(x, y, splits):
    m, k = x.size()
    _, n = y.size()
    part = -(-k // splits)
    parts = torch.zeros([splits, m, n], dtype=torch.float32, device=x.device)
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n, outer in hl.tile([m, n, k], block_size=[None, None, part]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(outer.begin, outer.end):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        parts[outer.id, tile_m, tile_n] = acc
    # What a launch wrote, the next one reads: the parts are always added in the same order.
    hl.barrier()
    for tile_m, tile_n in hl.tile([m, n]):
        out[tile_m, tile_n] = parts[:, tile_m, tile_n].sum(0).to(x.dtype)
    return out


def reference(x, y, splits):
    return (x.float() @ y.float()).to(x.dtype)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
