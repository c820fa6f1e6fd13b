"""Host programs as JAX code: what each device of a mesh does, and the program over all of them."""

from kopt.lowering.jax.module import print_module

__all__ = ["print_module"]
