"""Host programs as JAX code: what each device of a mesh does, kernels and collectives, and the program over the mesh."""

from kopt.lowering.jax.module import print_module

__all__ = ["print_module"]
