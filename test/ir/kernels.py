"""Random kernels that load by computed indices, and what the interpreter touches when it runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from kopt.dialects.tile import Access
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine
from kopt.interpreter.values import Bound, TileValue
from kopt.ir.access_relation import AccessRelation
from kopt.ir.evaluation import Evaluation
from kopt.ir.forms import wide_dims
from kopt.ir.from_access import relation_of
from kopt.ir.from_ssa import IndexAnalysis

#: The block of all index tiles, and the lengths of the arrays.
TILE, MASKS, ROWS = "!tile.tile<b0=4 x b1=8 x i32>", "!tile.tile<b0=4 x b1=8 x i1>", "!tile.tile<b0=4 x i32>"
COLUMNS, WIDE = "!tile.tile<b1=8 x i32>", "!tile.tile<b0=4 x b1=8 x i64>"
NARROW = "!tile.tile<b0=4 x b1=8 x i8>"
HEAD = f"""
func.func @f(%x: memref<50x40xf32>, %flat: memref<600xf32>, %rows: memref<10xi32>, %both: memref<10x20xi32>) {{
  tile.grid (%i: b0=4, %j: b1=8) in (10, 20) {{
    %zero = tile.full 0 : {TILE}
    %bi = tile.begin %i : !tile.range<b0=4>
    %ei = tile.end %i : !tile.range<b0=4>
    %nj = tile.id %j : !tile.range<b1=8>
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %s0 = arith.subi %ei, %bi : index
    %s1 = arith.muli %nj, %c7 : index
    %s2 = arith.remsi %s1, %c3 : index
    %ti = tile.index %i : !tile.range<b0=4>
    %tj = tile.index %j : !tile.range<b1=8>
    %loaded = tile.load %rows[%i] : memref<10xi32> -> {ROWS}
    %matrix = tile.load %both[%i, %j] : memref<10x20xi32> -> {TILE}
    %wide_i = tile.broadcast %ti dims [0] : {ROWS} to {TILE}
    %wide_j = tile.broadcast %tj dims [1] : {COLUMNS} to {TILE}
    %wide_l = tile.broadcast %loaded dims [0] : {ROWS} to {TILE}
    %splat0 = tile.splat %s0 : index to {TILE}
    %splat1 = tile.splat %s1 : index to {TILE}
    %splat2 = tile.splat %s2 : index to {TILE}
"""
TAIL = "  }\n  func.return\n}\n"
LEAVES = ("%wide_i", "%wide_j", "%wide_j", "%wide_l", "%splat0", "%splat1", "%splat2", "%matrix")
BY_NUMBER = "add sub mul mul floordiv floordiv mod mod truncdiv rem shr shl and or".split()
BY_TILE = ("add", "add", "sub", "maximum", "minimum", "xor", "mul")


class Writer:
    """The text of one kernel."""

    def __init__(self, random: Random):
        self.random = random
        self.lines: list[str] = []

    def name(self, text: str) -> str:
        """A value of its own for an operation."""
        self.lines.append(f"    %v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}"

    def full(self, number: int) -> str:
        """A tile of a number."""
        return self.name(f"tile.full {number} : {TILE}")

    def tile(self, leaves: int) -> str:
        """An index tile made of so many sources."""
        if leaves <= 1:
            return self.random.choice(LEAVES)
        if self.random.random() < 0.55:
            return self.by_number(self.tile(leaves - 1))
        part = self.random.randint(1, leaves - 1)
        first, second = self.tile(part), self.tile(leaves - part)
        if self.random.random() < 0.25:
            return self.name(f"tile.select {self.mask()}, {first}, {second} : {TILE}")
        return self.name(f"tile.{self.random.choice(BY_TILE)} {first}, {second} : {TILE}")

    def by_number(self, tile: str) -> str:
        """An operation with a number, or a cast there and back."""
        if self.random.random() < 0.1:
            other = self.random.choice([WIDE, NARROW])
            return self.name(f"tile.cast {self.name(f'tile.cast {tile} : {TILE} to {other}')} : {other} to {TILE}")
        name = self.random.choice(BY_NUMBER)
        numbers = {"shr": (1, 2, 3), "shl": (1, 2, 4), "and": (3, 7, 15, -4, -8), "or": (1, 3, 8)}
        number = self.random.choice(numbers.get(name, (1, 2, 3, 4, 8, 16, 20)))
        return self.name(f"tile.{name} {tile}, {self.full(number)} : {TILE}")

    def mask(self) -> str:
        """A comparison of index tiles, or two."""
        name = self.random.choice(["lt", "le", "gt", "ge", "eq", "ne"])
        found = self.name(f"tile.{name} {self.tile(2)}, {self.full(self.random.randint(0, 20))} : {TILE}")
        if self.random.random() < 0.3:
            other = self.name(f"tile.{name} {self.tile(1)}, {self.tile(1)} : {TILE}")
            found = self.name(f"tile.{self.random.choice(['and', 'or'])} {found}, {other} : {MASKS}")
        return self.name(f"tile.not {found} : {MASKS}") if self.random.random() < 0.2 else found

    def inside(self, tile: str, size: int) -> tuple[str, str]:
        """An index tile, and a mask of the lanes that are inside a dimension."""
        low = self.name(f"tile.ge {tile}, %zero : {TILE}")
        high = self.name(f"tile.lt {tile}, {self.full(size)} : {TILE}")
        return tile, self.name(f"tile.and {low}, {high} : {MASKS}")

    def load(self, leaves: int) -> None:
        """A load of elements that exist: by a mask, or by a remainder."""
        entries, masks = [], []
        sizes = [600] if self.random.random() < 0.5 else [50, 40]
        for size in sizes:
            tile = self.tile(leaves)
            if self.random.random() < 0.6:
                tile, mask = self.inside(tile, size)
                masks.append(mask)
            else:
                tile = self.name(f"tile.mod {tile}, {self.full(size)} : {TILE}")
            entries.append(tile)
        if self.random.random() < 0.3:
            masks.append(self.mask())
        mask = masks[0] if masks else ""
        for other in masks[1:]:
            mask = self.name(f"tile.and {mask}, {other} : {MASKS}")
        memory, type = ("%flat", "memref<600xf32>") if len(sizes) == 1 else ("%x", "memref<50x40xf32>")
        masked = f" mask {mask}" if mask else ""
        result = f"{type} -> !tile.tile<b0=4 x b1=8 x f32>"
        self.lines.append(f"    %v{len(self.lines)} = tile.load {memory}[{', '.join(entries)}]{masked} : {result}")


def kernels(count: int, loads: int, seed: int = 0) -> Iterator[str]:
    """Random kernels, simple ones first."""
    for n in range(count):
        writer = Writer(Random(f"{seed} {n}"))
        for _ in range(loads):
            writer.load(1 + n * 5 // count)
        yield HEAD + "\n".join(writer.lines) + "\n" + TAIL


def arguments() -> list[np.ndarray]:
    """Arrays for such a kernel: small numbers in those of integers."""
    random = np.random.default_rng(0)
    return [
        np.zeros((50, 40), np.float32),
        np.zeros(600, np.float32),
        random.integers(-9, 10, 10, np.int32),
        random.integers(-9, 40, (10, 20), np.int32),
    ]


class Held(Mapping):
    """What names stand for while a machine runs."""

    def __init__(self, machine: Machine):
        self.machine = machine

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, tuple):
            return self.machine[name[0]].limit
        held = self.machine[name]
        if isinstance(held, TileValue):
            return held.data.reshape([held.data.shape[dim] for dim in wide_dims(name.type)])
        return held.id if isinstance(held, Bound) else held

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, name: object) -> bool:
        return isinstance(name, SSAValue | tuple)


class Visit:
    """One execution of an access: its relation, and the elements that the interpreter touches."""

    def __init__(self, relation: AccessRelation, machine: Machine, touched: np.ndarray):
        self.relation, self.machine = relation, machine
        self.touched = touched
        self.shape = tuple(size for size in relation.lanes if isinstance(size, int))
        self._evaluation = Evaluation(Held(machine), self.shape)
        self.domain = np.broadcast_to(self._evaluation.condition(relation.domain), self.shape)

    def lanes(self, *exprs) -> list[np.ndarray]:
        """The numbers of some expressions in all lanes."""
        return [np.broadcast_to(self._evaluation.expr(expr), self.shape) for expr in exprs]

    def holds(self, condition) -> np.ndarray:
        """Where a condition holds."""
        return np.broadcast_to(self._evaluation.condition(condition), self.shape)

    def addressed(self) -> np.ndarray:
        """The elements that the relation names, as a mask of the array."""
        found = np.zeros(self.touched.shape, bool)
        found[tuple(index[self.domain] for index in self.lanes(*self.relation.indices))] = self.domain.any()
        return found


#: Looks at one visit.
Check = Callable[[Access, Visit], None]


class Recorder:
    """Stands in for the interpreter's monitor: looks at an access when it happens, ``most`` times each."""

    def __init__(self, machine: Machine, check: Check, most: int):
        self.machine, self.check, self.most, self.cell = machine, check, most, 0
        self.analysis = IndexAnalysis()
        self.relations: dict[Access, AccessRelation] = {}
        self.seen: Counter[Access] = Counter()

    def read(self, op: Access, array: np.ndarray, index: Any, active: np.ndarray | None) -> None:
        """An access is about to read."""
        self.seen[op] += 1
        if self.seen[op] > self.most:
            return
        touched = np.zeros(array.shape, bool)
        if active is None:
            touched[index] = True
        elif index and all(isinstance(entry, np.ndarray) for entry in index):
            touched[tuple(entry[active] for entry in index)] = True
        else:
            touched[index] = active
        if op not in self.relations:
            self.relations[op] = relation_of(op, self.analysis)
        self.check(op, Visit(self.relations[op], self.machine, touched))

    def write(self, op: Access, array: np.ndarray, index: Any, active: np.ndarray | None, _: np.ndarray) -> None:
        """An access is about to write."""
        self.read(op, array, index, active)


def run(module: ModuleOp, args: list[np.ndarray], check: Check, most: int = 3) -> None:
    """Run a module's first function; ``check`` sees the first visits of each access."""
    machine = Machine(module, HANDLERS, check_conflicts=False)
    machine.monitor = Recorder(machine, check, most)  # pyright: ignore[reportAttributeAccessIssue]
    machine.call(next(iter(machine.functions.values())), args)
