"""Atomic updates."""

from __future__ import annotations

from typing import Any

from kopt.language.running import inside_kernels


@inside_kernels
def atomic_add(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Adds ``value`` to ``target[index]``, each element atomically; gives the previous values.

    ``index`` is a list of tiles, numbers, slices and index tensors. ``value`` is a number or tensor, converted to the
    target's dtype. ``sem`` is ``relaxed``, ``acquire``, ``release`` or ``acq_rel``. An element that several lanes or
    cells address receives every one of their values, in any order; sums of 16-bit floats are made in f32.
    """


@inside_kernels
def atomic_and(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Bitwise and of integers or booleans, each element atomically; see `atomic_add`."""


@inside_kernels
def atomic_or(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Bitwise or of integers or booleans, each element atomically; see `atomic_add`."""


@inside_kernels
def atomic_xor(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Bitwise exclusive or of integers or booleans, each element atomically; see `atomic_add`."""


@inside_kernels
def atomic_max(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """The larger of element and value, NaN if either is, each element atomically; see `atomic_add`."""


@inside_kernels
def atomic_min(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """The smaller of element and value, NaN if either is, each element atomically; see `atomic_add`."""


@inside_kernels
def atomic_xchg(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Exchanges elements for values, each atomically; gives the previous values; see `atomic_add`.

    Of several values for one element any may be the last.
    """


@inside_kernels
def atomic_cas(target: Any, index: Any, expected: Any, value: Any, sem: str = "relaxed") -> Any:
    """Elements with the bits of ``expected`` become ``value``, each atomically; gives the previous values.

    See `atomic_add` for the arguments.
    """
