"""Host programs as torch code: arrays, library calls, collectives and launches, planned before."""

from kopt.lowering.torch.module import print_module

__all__ = ["print_module"]
