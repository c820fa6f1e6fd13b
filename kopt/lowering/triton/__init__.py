"""Triton: from `triton.launch` to a Python module of kernels and the function that launches them."""

from kopt.lowering.triton.module import print_module

__all__ = ["print_module"]
