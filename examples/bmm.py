"""Product of two batches of matrices."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def bmm(x, y):
    batch, m, k = x.size()
    _, _, n = y.size()
    out = torch.empty([batch, m, n], dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    for tile_b, tile_m, tile_n in hl.tile([batch, m, n]):
        acc = hl.zeros([tile_b, tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.baddbmm(acc, x[tile_b, tile_m, tile_k], y[tile_b, tile_k, tile_n])
        out[tile_b, tile_m, tile_n] = acc.to(out.dtype)
    return out


def reference(x, y):
    return torch.bmm(x.float(), y.float()).to(torch.promote_types(x.dtype, y.dtype))


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
