"""Arithmetic of sizes, also on the host."""

from __future__ import annotations

from kopt.language.running import RUNNING


def cdiv(a: int, b: int) -> int:
    """The quotient rounded up; also on the host."""
    return -(-a // b)


def next_power_of_2(value: int) -> int:
    """The smallest power of two that is not less; also on the host."""
    power = 1 << max(0, value - 1).bit_length()
    if (run := RUNNING.get()) is not None:
        run.padded(value, power)
    return power
