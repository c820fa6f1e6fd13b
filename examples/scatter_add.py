"""Rows added to the rows of a table whose numbers are computed, the same row often more than once."""

import kopt
import kopt.language as hl


@kopt.kernel
def scatter_add(out, rows, x):
    for tile, cols in hl.tile(x.size()):
        hl.atomic_add(out, [rows[tile], cols], x[tile, cols])
    return out


def reference(out, rows, x):
    return out.index_add(0, rows, x)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
