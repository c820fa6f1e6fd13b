"""Whole dimensions ``:`` that a cell may walk in blocks, though its kernel takes them in one piece. Pure.

| module | what |
|---|---|
| `walkable` | where the lanes of a dimension go, and why it cannot be walked |
| `reduction_walks` | which walk each reduction and store is done in: dependent ones need one after the other |
| `rescaling` | reductions that are mended as the maximum they depend on grows: the online softmax |
| `choosing` | which dimensions are to be walked on a chip, and by which size |
"""
