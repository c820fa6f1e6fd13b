"""Passes that misbehave, for the tests of the tool."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

import pytest
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.test import TestOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from kopt.diagnostics import remark, warning
from kopt.errors import LoweringError
from kopt.passes import PASSES


@dataclass(frozen=True)
class Options(ModulePass):
    """One option of each kind."""

    name = "test-options"
    mode: Literal["fast", "slow"] = "fast"
    count: int = 1
    scale: float = 1.0
    sizes: str = ""
    dims: tuple[int, ...] = ()
    flag: bool = False
    loop_type: str | None = None

    def apply(self, ctx, op: ModuleOp) -> None:
        """Leave the module as it is."""


@dataclass(frozen=True)
class Needs(ModulePass):
    """An option without a default."""

    name = "test-needs"
    value: int

    def apply(self, ctx, op: ModuleOp) -> None:
        """Leave the module as it is."""


@dataclass(frozen=True)
class Misbehave(ModulePass):
    """Crash, refuse, fail or break the module, as told."""

    name = "test-misbehave"
    how: str

    def apply(self, ctx, op: ModuleOp) -> None:
        """Do it."""
        match self.how:
            case "crash":
                raise ZeroDivisionError("a bug")
            case "refuse":
                raise LoweringError("cannot lower this")
            case "fail":
                raise PassFailedException("did not apply")
            case "break":
                detached = TestOp(result_types=[i32])
                op.body.block.add_op(TestOp(operands=[detached.res[0]]))
            case "say":
                first = op.body.block.first_op
                assert first is not None
                remark(first, "was looked at")
                warning(first, "looks odd")


@pytest.fixture
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the passes above for one test."""
    module = ModuleType("kopt_test_passes")
    for pass_type in (Options, Needs, Misbehave):
        setattr(module, pass_type.__name__, pass_type)
        monkeypatch.setitem(PASSES, pass_type.name, f"kopt_test_passes:{pass_type.__name__}")
    monkeypatch.setitem(sys.modules, "kopt_test_passes", module)
