"""An elementwise kernel of any rank."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def exp(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size()):
        out[tile] = torch.exp(x[tile])
    return out


def reference(x):
    return torch.exp(x)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
