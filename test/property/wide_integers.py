"""Random expressions of 64-bit integers, small and huge, with constants around the ends of 32 bits."""

from __future__ import annotations

from random import Random

#: Near 0, near the ends of 32 and of 33 bits, far beyond, and at the ends of 64 bits.
NUMBERS = (
    *range(-3, 4),
    100,
    *(sign * 2**bits + near for bits in (31, 32) for sign in (-1, 1) for near in (-1, 0, 1, 5)),
    *(2**40, -(2**40), 2**62, 2**63 - 1, -(2**63) + 1, -(2**63)),
)
#: Numbers that leave room for arithmetic.
SMALL = (*range(-4, 5), 31, -77, 100)
_CONSTANTS = (*SMALL, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32, 2**32 + 5, 2**40, -(2**40), 2**63 - 1)
_BINARY = (
    "({} + {})", "({} - {})", "({} * {})", "torch.minimum({}, {})", "torch.maximum({}, {})", "({} & {})", "({} | {})",
    "({} ^ {})", "torch.where({} > {}, x, y)", "torch.where({} == {}, y, 7)",
)  # fmt: skip
_UNARY = (
    "(-{})", "torch.abs({})", "({} // 3)", "({} % 7)", "({} // -5)", "({} % (2**33))", "({} << 2)", "({} >> 3)",
    "({} >> 40)", "torch.clamp({}, -9, 2**40)", "torch.clamp({}, -(2**31), 2**31 - 1)", "torch.clamp({}, min=5)",
    "{}.to(torch.int32).long()", "torch.sign({})", "{}.sum(1)[:, None]", "{}.amax(1)[:, None]", "{}.amin(1)[:, None]",
    "torch.cumsum({}, 1)", "torch.sort({}, 1)[0]", "torch.argmax({}, 1)[:, None]", "(~{})",
)  # fmt: skip
_LAST = (
    "{}", "{}", "({}).float()", "({}).to(torch.int32)", "({}).bool()", "({}) < {constant}", "({}) <= {constant}",
    "{constant} == ({})", "({}) != {constant}", "({}) >= {constant}", "{constant} > ({})", "({}) < y", "x == ({})",
    "y >= ({})", "({}).to(torch.int8)", "torch.logical_and({}, y)",
)  # fmt: skip


def expression(draw: Random) -> str:
    """Text over the blocks ``x`` and ``y`` of 64-bit integers."""
    return draw.choice(_LAST).format(_value(draw, draw.randrange(3)), constant=draw.choice(_CONSTANTS))


def _value(draw: Random, depth: int) -> str:
    if depth == 0:
        return draw.choice(("x", "y"))
    if draw.random() < 0.5:
        return draw.choice(_UNARY).format(_value(draw, depth - 1))
    second = _value(draw, depth - 1) if draw.random() < 0.5 else f"torch.full_like(x, {draw.choice(_CONSTANTS)})"
    return draw.choice(_BINARY).format(_value(draw, depth - 1), second)
