"""Embedding: rows of a table, picked by number."""

import torch

import kopt
import kopt.language as hl


@kopt.kernel
def embedding(ids, table):
    _, d = table.size()
    flat = ids.reshape(-1)
    out = torch.empty([flat.size(0), d], dtype=table.dtype, device=table.device)
    for tile, cols in hl.tile([flat.size(0), d]):
        out[tile, cols] = table[flat[tile], cols]
    return out.view([*ids.size(), d])


def reference(ids, table):
    return torch.nn.functional.embedding(ids.long(), table)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
