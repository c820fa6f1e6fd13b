"""Kernels on degenerate extents, in blocks of every size."""
