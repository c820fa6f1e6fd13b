"""Random kernels whose indices may leave their arrays, and what becomes of them: computed beside the text, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

ROWS = 24
_HEAD = """import torch
import kopt
import kopt.language as hl


"""


@dataclass(frozen=True)
class Index:
    """An expression in a loop over tiles ``t``, and its numbers, one an element of the loop."""

    text: str
    numbers: np.ndarray


@dataclass(frozen=True)
class BoundsProgram:
    """A module's text with a function ``kernel(x, rows)``; ``expected`` is None where an access leaves an array."""

    text: str
    x: np.ndarray
    rows: np.ndarray
    expected: np.ndarray | None


def bounds_program(seed: int) -> BoundsProgram:
    """The program of a number."""
    return _Generator(Random(seed)).program()


class _Generator:
    def __init__(self, random: Random):
        self.random = random
        self.count = random.choice([1, 5, 16, ROWS])
        self.block = random.choice([1, 4, 16])
        self.size = self.count + random.choice([-1, 0, 0, 1, 3])
        self.size = max(self.size, 2)  # a tile over a dimension of 1 repeats its element
        self.wide = random.choice([0, 0, 5])
        low, high = random.choice([(0, self.size), (0, self.size), (-1, self.size), (0, self.size + 2)])
        self.rows = np.array([random.randrange(low, high) for _ in range(ROWS)], np.int32)
        self.lanes = np.arange(self.count)
        self.begins = self.lanes // self.block * self.block

    def program(self) -> BoundsProgram:
        index, mask = self.index(), None
        if self.random.random() < 0.4:
            mask = self.mask(index)
        shape = (self.size, self.wide) if self.wide else (self.size,)
        x = np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)
        kind = self.random.choice(["load", "load", "inner", "add", "store"])
        lines, expected = getattr(self, f"_{kind}")(x, index, mask)
        body = "\n".join(f"        {line}" for line in lines)
        shape_of_out = {"load": [self.count], "inner": [self.count]}.get(kind, [self.size])
        text = (
            f"{_HEAD}def kernel(x, rows):\n    out = torch.zeros({shape_of_out})\n"
            f"    for t in hl.tile({self.count}, block_size={self.block}):\n{body}\n    return out\n"
        )
        return BoundsProgram(text, x, self.rows, expected)

    # Expressions.

    def index(self, depth: int = 2) -> Index:
        """Lane numbers, loaded ones, and arithmetic of them."""
        leaves = [
            Index("t.index", self.lanes), Index("t.index", self.lanes), Index("rows[t]", self.rows[: self.count]),
            Index("(t.begin + hl.arange(t.block_size))", self.lanes),
        ]  # fmt: skip
        if self.count % self.block:
            leaves.pop()  # lanes behind the last element are lanes of arange
        if not depth or self.random.random() < 0.3:
            return self.random.choice(leaves)
        inner, number = self.index(depth - 1), self.random.choice([1, 1, 2, 3])
        text, old = inner.text, inner.numbers
        return self.random.choice(
            [
                Index(f"({text} + {number})", old + number),
                Index(f"({text} - {number})", old - number),
                Index(f"({number} * {text})", number * old),
                Index(f"({text} // {number})", old // number),
                Index(f"({text} % {self.size + number - 1})", old % (self.size + number - 1)),
                Index(f"({self.size - 1} - {text})", self.size - 1 - old),
                Index(f"torch.clamp({text}, 0, {self.size - 2 + number})", np.clip(old, 0, self.size - 2 + number)),
                Index(f"torch.where({text} < {self.size}, {text}, 0)", np.where(old < self.size, old, 0)),
            ]
        )

    def mask(self, index: Index) -> Index:
        """One that keeps lanes inside, or nearly."""
        last = self.size - self.random.choice([0, 0, 1, -1])
        first = self.random.choice([0, 0, -1])
        text = f"({index.text} < {last}) & ({index.text} >= {first})"
        return Index(text, (index.numbers < last) & (index.numbers >= first))

    # Accesses.

    def _taken(self, index: Index, mask: Index | None) -> tuple[np.ndarray, bool]:
        """The lanes that are accessed, and whether all of them are inside."""
        taken = np.ones(self.count, bool) if mask is None else mask.numbers
        places = index.numbers[taken]
        return taken, bool(((places >= 0) & (places < self.size)).all())

    def _load(self, x: np.ndarray, index: Index, mask: Index | None) -> tuple[list[str], np.ndarray | None]:
        taken, fits = self._taken(index, mask)
        column = self.random.choice([0, 4]) if self.wide else None
        where = index.text if column is None else f"{index.text}, {column}"
        loaded = f"x[{where}]" if mask is None else f"hl.load(x, [{where}], extra_mask={mask.text})"
        if not fits:
            return [f"out[t] = {loaded}"], None
        values = x if column is None else x[:, column]
        safe = np.where(taken, index.numbers, 0)
        return [f"out[t] = {loaded}"], np.where(taken, values[safe], 0).astype(np.float32)

    def _inner(self, x: np.ndarray, index: Index, mask: Index | None) -> tuple[list[str], np.ndarray | None]:
        """A loop over some of an array's elements, from a number on that is loaded or not."""
        begin = self.random.choice(["0", "2", "rows[0]"])
        first = {"0": 0, "2": 2, "rows[0]": int(self.rows[0])}[begin]
        length, shift = self.random.choice([1, 3, self.size]), self.random.choice([0, 0, 1, -1])
        column = ", 1" if self.wide else ""
        entry = "k" if not shift else f"k.index + {shift}"
        lines = [
            "total = hl.zeros([t])",
            f"for k in hl.tile({begin}, {begin} + {length}, block_size=4):",
            f"    total += x[{entry}{column}].sum()",
            "out[t] = total",
        ]
        low, high = first + shift, first + length + shift
        if low < 0 or high > self.size:
            return lines, None
        values = x[:, 1] if self.wide else x
        return lines, np.full(self.count, values[low:high].sum(), np.float32)

    def _add(self, x: np.ndarray, index: Index, mask: Index | None) -> tuple[list[str], np.ndarray | None]:
        taken, fits = self._taken(index, None)
        line = f"hl.atomic_add(out, [{index.text}], hl.full([t], 2.0, dtype=torch.float32))"
        expected = np.zeros(self.size, np.float32)
        if fits:
            np.add.at(expected, index.numbers[taken], 2.0)
        return [line], expected if fits else None

    def _store(self, x: np.ndarray, index: Index, mask: Index | None) -> tuple[list[str], np.ndarray | None]:
        """Of one value, so that it does not matter who is last."""
        taken, fits = self._taken(index, mask)
        value = "hl.full([t], 3.0, dtype=torch.float32)"
        stored = f"out[{index.text}] = {value}"
        if mask is not None:
            stored = f"hl.store(out, [{index.text}], {value}, extra_mask={mask.text})"
        expected = np.zeros(self.size, np.float32)
        if fits:
            expected[index.numbers[taken]] = 3.0
        return [stored], expected if fits else None
