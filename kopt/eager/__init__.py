"""Kernels of the language run by torch: their own Python, tile by tile, with the extents that there are.

Nothing is imported into IR, so what this target gives does not depend on the frontend, on passes or on the dialects:
it is what their results are compared with. Tiles end where the loop does, so no lane is ever outside of its range.
"""
