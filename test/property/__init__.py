"""Random kernels: the same source text run by torch, by the reference and by every target."""
