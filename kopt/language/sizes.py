"""Arithmetic of sizes, also on the host."""

from __future__ import annotations

from kopt.errors import ArgumentError
from kopt.language.running import RUNNING


def cdiv(a: int, b: int) -> int:
    """The quotient rounded up; also on the host."""
    return -(-a // b)


def multiple_of(extent: int, number: int) -> int:
    """The extent, which is stated to be a multiple of a number: blocks that divide it need no masks.

    That matters for extents that differ from call to call (``dynamic=``), and each call's is checked.
    """
    if number < 1 or extent % number:
        raise ArgumentError(f"{extent} is no multiple of {number}, as kopt.multiple_of states")
    return extent


def next_power_of_2(value: int) -> int:
    """The smallest power of two that is not less; also on the host."""
    power = 1 << max(0, value - 1).bit_length()
    if (run := RUNNING.get()) is not None:
        run.padded(value, power)
    return power
