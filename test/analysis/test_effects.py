"""What operations do to memory, and which of them nobody would miss."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp, i32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp, TestPureOp, TestReadOp, TestTermOp, TestWriteOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import (
    EffectInstance,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryEffectKind,
    MemoryWriteEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
)

from kopt import parse
from kopt.analysis.effects import (
    get_effects,
    is_pure,
    is_side_effect_free,
    is_terminator,
    is_trivially_dead,
    may_only_read,
    may_write,
    would_be_trivially_dead,
)
from kopt.dialects.tile import FullOp, GridOp, LoadOp, StoreOp, YieldOp
from test.named import named, only

READ, WRITE, ALLOC = MemoryEffectKind.READ, MemoryEffectKind.WRITE, MemoryEffectKind.ALLOC


class AllocatesAll(MemoryEffect):
    """Allocates what its results and its operands are."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(ALLOC, value) for value in (*op.operands, *op.results)}


@irdl_op_definition
class AllocOp(IRDLOperation):
    """Allocates its results, and its operands as if they were its own."""

    name = "effects.alloc"
    given = var_operand_def()
    made = var_result_def()
    traits = traits_def(AllocatesAll())


@irdl_op_definition
class AllocSomewhereOp(IRDLOperation):
    """Allocates, but does not say what."""

    name = "effects.alloc_somewhere"
    traits = traits_def(MemoryAllocEffect())


class AllocatesAndWrites(MemoryEffect):
    """Allocates what its results are, and writes it."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(kind, value) for kind in (ALLOC, WRITE) for value in op.results}


@irdl_op_definition
class FilledOp(IRDLOperation):
    """Allocates its results, and fills them."""

    name = "effects.filled"
    made = var_result_def()
    traits = traits_def(AllocatesAndWrites())


@irdl_op_definition
class NothingAndWriteOp(IRDLOperation):
    """Says of itself that it has no effect, and that it writes."""

    name = "effects.nothing_and_write"
    traits = traits_def(NoMemoryEffect(), MemoryWriteEffect())


@irdl_op_definition
class AroundOp(IRDLOperation):
    """Does what the ops in its region do."""

    name = "effects.around"
    body = region_def()
    made = var_result_def()
    traits = traits_def(RecursiveMemoryEffect())


def around(*ops: Operation) -> AroundOp:
    """An op around others."""
    return AroundOp(regions=[Region(Block(ops))], result_types=[[]])


def make(name: str) -> Operation:
    """A new op, by a short name."""
    given = TestPureOp(result_types=[i32]).results
    return {
        "unknown": lambda: TestOp(),
        "pure": lambda: TestPureOp(result_types=[i32]),
        "read": lambda: TestReadOp(result_types=[i32]),
        "write": lambda: TestWriteOp(),
        "alloc": lambda: AllocOp(operands=[[]], result_types=[[i32]]),
        "alloc of another": lambda: AllocOp(operands=[given], result_types=[[]]),
        "alloc somewhere": AllocSomewhereOp,
        "filled": lambda: FilledOp(result_types=[[i32]]),
        "nothing and write": NothingAndWriteOp,
        "unregistered": lambda: UnregisteredOp.with_name("effects.unregistered").create(),
        "terminator": lambda: TestTermOp(),
        "around nothing": around,
        "around pure": lambda: around(make("pure"), make("around nothing")),
        "around read": lambda: around(make("pure"), around(make("read"))),
        "around write": lambda: around(make("read"), around(make("write"))),
        "around alloc": lambda: around(make("alloc")),
        "around unknown": lambda: around(make("read"), around(make("unknown"))),
        "symbol": lambda: FuncOp("f", ((), ())),
    }[name]()


#: By op: the kinds of its effects, and whether nobody would miss it.
OPS: dict[str, tuple[set[MemoryEffectKind] | None, bool]] = {
    "unknown": (None, False),
    "pure": (set(), True),
    "read": ({READ}, True),
    "write": ({WRITE}, False),
    "alloc": ({ALLOC}, True),
    "alloc of another": ({ALLOC}, False),
    "alloc somewhere": ({ALLOC}, False),
    "filled": ({ALLOC, WRITE}, False),
    "nothing and write": ({WRITE}, False),
    "unregistered": (None, False),
    "around nothing": (set(), True),
    "around pure": (set(), True),
    "around read": ({READ}, True),
    "around write": ({READ, WRITE}, False),
    "around alloc": ({ALLOC}, True),
    "around unknown": (None, False),
}


@pytest.mark.parametrize("name", OPS)
def test_effects_of_ops_and_of_what_is_in_them(name: str) -> None:
    kinds, unneeded = OPS[name]
    op = make(name)
    found = get_effects(op)
    assert (None if found is None else {effect.kind for effect in found}) == kinds
    assert is_side_effect_free(op) is (kinds == set())
    assert may_write(op) is (kinds is None or WRITE in kinds)
    assert may_only_read(op) is (kinds is not None and kinds <= {READ})
    assert would_be_trivially_dead(op) is unneeded
    assert is_trivially_dead(op) is unneeded


@pytest.mark.parametrize("name", ["pure", "read", "alloc"])
def test_what_is_used_is_not_dead(name: str) -> None:
    op = make(name)
    TestOp(operands=[op.results[0]])
    assert would_be_trivially_dead(op) and not is_trivially_dead(op)


@pytest.mark.parametrize("name", ["terminator", "symbol"])
def test_ends_of_blocks_and_symbols_are_always_needed(name: str) -> None:
    assert not would_be_trivially_dead(make(name)) and not is_trivially_dead(make(name))


@pytest.mark.parametrize(
    "cls, pure, terminator",
    [
        (TestPureOp, True, False),
        (TestOp, False, False),
        (TestReadOp, False, False),
        (TestTermOp, False, True),
        (FullOp, True, False),
        (StoreOp, False, False),
        (YieldOp, True, True),
        (AroundOp, False, False),
        (NothingAndWriteOp, False, False),
        (UnregisteredOp.with_name("effects.unregistered"), False, False),
        (ModuleOp, False, False),
    ],
)
def test_classes_of_ops(cls: type[Operation], pure: bool, terminator: bool) -> None:
    assert (is_pure(cls), is_terminator(cls)) == (pure, terminator)


def test_effects_name_the_memory() -> None:
    module = parse("""
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
      tile.grid (%i: b0=4) in (8) {
        %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=4 x f32>
        tile.store %v, %y[%i] : !tile.tile<b0=4 x f32>, memref<8xf32>
      }
      func.return
    }
    """)
    values = named(module)
    read, write = EffectInstance(READ, values["x"]), EffectInstance(WRITE, values["y"])
    assert get_effects(only(module, LoadOp)) == {read}
    assert get_effects(only(module, StoreOp)) == {write}
    assert get_effects(only(module, GridOp)) == {read, write}
