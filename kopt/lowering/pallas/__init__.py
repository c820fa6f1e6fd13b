"""From `pallas.call` to a Python module of Pallas-Mosaic code that people read.

`module` writes the whole, `kernel` a kernel function, `specs` its call, `refs` and `loops` the statements of a kernel,
`values` the expressions; `printing` is what they share.
"""

from kopt.lowering.pallas.module import print_module

__all__ = ["print_module"]
