"""Passes that only kernels for GPUs need: forms that Triton has, for ops and blocks that it lacks."""
