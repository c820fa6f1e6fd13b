"""Random numbers that depend on a seed and an element's place alone."""

from __future__ import annotations

from typing import Any

from kopt.language.running import inside_kernels


@inside_kernels
def rand(shape: Any, seed: Any, device: Any = None, offsets: Any = None) -> Any:
    """Floats in [0, 1) that depend on the seed and the element alone: ``hl.rand([rows, cols], seed=42)``.

    An element's number is its place, row by row, in the array that the shape's tiles walk in full, so block sizes and
    targets do not matter: bits are those of Triton's ``tl.rand(seed, number)`` and of Helion.

    Args: ``shape`` tiles and numbers; ``seed`` an integer of up to 64 bits: a Python number, which the kernel is
    specialised for, or a tensor of one element; ``offsets`` a device tensor of integers, the numbers to take instead
    (``shape`` does not matter then); ``device`` is ignored. Refuses shapes with a loop of unknown extent after the
    first dimension. A TPU takes numbers below 2**31 only, and seeds of 64 bits only as they are passed to the kernel.
    """


@inside_kernels
def randint(shape: Any, low: int, high: int, seed: Any, device: Any = None) -> Any:
    """32-bit integers from ``low`` up to but not including ``high``, Python numbers; else as `rand`.

    As Helion computes them: ``low`` plus the remainder of the random word's magnitude.
    """


@inside_kernels
def rand4x(seed: Any, offsets: Any, device: Any = None) -> Any:
    """Four independent tensors like `rand`'s with ``offsets``, at the cost of one."""
