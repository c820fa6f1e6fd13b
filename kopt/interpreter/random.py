"""What `tile.philox` computes: Philox 4x32-10, in NumPy's unsigned integers."""

from __future__ import annotations

import numpy as np

from kopt.dialects.tile import PhiloxOp
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.values import TileValue

_ROUNDS = 10
_FACTORS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW, _BITS = np.uint64(0xFFFFFFFF), np.uint64(32)


def words(offset: np.ndarray, low: int, high: int) -> list[np.ndarray]:
    """The four words, as int32, of the counters in an array of signed integers, under a key of two words."""
    counter = offset.astype(np.int64).view(np.uint64)
    c = [counter & _LOW, counter >> _BITS, np.zeros_like(counter), np.zeros_like(counter)]
    for number in range(_ROUNDS):
        k0, k1 = (np.uint64((key + number * step) % 2**32) for key, step in zip((low, high), _WEYL, strict=True))
        a, b = _FACTORS[0] * c[0], _FACTORS[1] * c[2]
        c = [(b >> _BITS) ^ c[1] ^ k0, b & _LOW, (a >> _BITS) ^ c[3] ^ k1, a & _LOW]
    return [word.astype(np.uint32).view(np.int32) for word in c]


def _philox(m: Machine, op: PhiloxOp) -> tuple[TileValue, ...]:
    offset = m.tile(op.offset)
    key = (int(m.tile(value).data) for value in (op.low, op.high))
    return tuple(TileValue(word, offset.valid) for word in words(np.asarray(offset.data), *key))


HANDLERS: dict[type, Handler] = {PhiloxOp: _philox}
