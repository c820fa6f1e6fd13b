"""How numbers are spelt in code that uses JAX."""

from __future__ import annotations


def number(value: float | int) -> str:
    """A Python number as emitted code spells it."""
    if value != value:
        return "jnp.nan"
    if value in (float("inf"), float("-inf")):
        return "jnp.inf" if value > 0 else "-jnp.inf"
    return repr(value)
