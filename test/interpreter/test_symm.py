"""Counters between ranks: who shares which."""

from __future__ import annotations

from pathlib import Path

import kopt
from kopt.dialects import symm
from kopt.dialects.tile import RefType
from kopt.interpreter.symm import _channel

TEXT = Path(__file__).parents[1] / "lit" / "dialects" / "symm.mlir"


def test_counters_of_kernels_count_whoever_signals() -> None:
    """Beside a symmetric array each rank has its own; for another rank it always is another counter."""
    parts = [part for part in TEXT.read_text().split("// -----") if "symm.signal" in part]
    signals = [op for part in parts for op in kopt.parse(part).walk() if isinstance(op, symm.SignalOp)]
    assert {isinstance(op.buffer.type, RefType) for op in signals} == {True, False}
    for op in signals:
        assert (_channel(op, 1, 2) == _channel(op, 1, 3)) is isinstance(op.buffer.type, RefType)
        assert _channel(op, 1, 2) != _channel(op, 2, 2)
