"""Kernels that we write by hand, as well as we can: what kopt's are held against."""
