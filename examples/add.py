"""Addition with broadcasting and mixed dtypes: by views on the host, and by tile identity in the kernel."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def add(x, y):
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty(x.shape, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


@kopt.kernel
def add_row(x, row):
    m, n = x.size()
    out = torch.empty([m, n], dtype=torch.promote_types(x.dtype, row.dtype), device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        out[tile_m, tile_n] = x[tile_m, tile_n] + row[tile_n]
    return out


def reference(x, y):
    return x + y


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
