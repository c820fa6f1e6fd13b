"""Random loads by computed indices, as the text of kernels: what each is called, and what its indices are in NumPy.

An index is an expression of the lane numbers ``i`` and ``j`` of a block and of numbers that are loaded; Python's own
meaning of its text, on NumPy arrays over the whole launch, says which element each lane is. Nothing here asks kopt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from random import Random

import numpy as np
import torch

#: The extents of a launch and the sizes of its blocks: whole blocks, and ragged ones.
LAUNCHES = ((64, 128, 16, 64), (64, 128, 32, 128), (40, 100, 16, 32), (32, 256, 8, 128), (50, 72, 16, 72))
#: Elements beyond the last that is touched, of an array that is mostly left alone.
SLACK = (0, 5, 3000, 200_000)
#: Below what loaded numbers are, and how many there are at least.
_NUMBERS, _MOST_ROWS = 40, 64


@dataclass(frozen=True)
class Loads:
    """Some loads of one launch over ``rows`` × ``columns`` lanes, in blocks; their indices as text."""

    rows: int
    columns: int
    blocks: tuple[int, int]
    indices: tuple[tuple[str, ...], ...]
    seed: int
    below: int = _NUMBERS

    @property
    def text(self) -> str:
        """The kernel: each load's elements are a result."""
        count = len(self.indices)
        outs, arrays = [f"out{n}" for n in range(count)], [f"x{n}" for n in range(count)]
        lines = [
            "import torch",
            "import kopt.language as hl",
            f"def kernel({', '.join(outs)}, numbers, flags, {', '.join(arrays)}):",
            f"    for ti, tj in hl.tile([{self.rows}, {self.columns}], block_size={[*self.blocks]}):",
            "        i, j = ti.index[:, None], tj.index[None, :]",
            "        row, flag, once = numbers[ti][:, None], flags[ti][:, None], flags[3]",
        ]
        for n, entries in enumerate(self.indices):
            lines.append(f"        out{n}[ti, tj] = hl.load(x{n}, [{', '.join(entries)}])")
        return "\n".join(lines) + "\n"

    @property
    def numbers(self) -> np.ndarray:
        """The numbers that kernels load, one for each row, and more."""
        return np.random.default_rng(self.seed).integers(0, self.below, max(self.rows, _MOST_ROWS)).astype(np.int32)

    @property
    def flags(self) -> np.ndarray:
        """The truth values that kernels load."""
        return self.numbers > 15

    def lanes(self, number: int) -> tuple[np.ndarray, ...]:
        """The indices of a load in all lanes of the launch."""
        numbers, flags = self.numbers, self.flags
        names = {
            "i": np.arange(self.rows)[:, None],
            "j": np.arange(self.columns)[None, :],
            "row": numbers[: self.rows, None].astype(np.int64),
            "flag": flags[: self.rows, None],
            "once": flags[3],
            "numbers": numbers.astype(np.int64),
            "torch": np,
            "hl": _Language,
        }
        found = [np.asarray(eval(entry, dict(names))) for entry in self.indices[number]]
        return tuple(np.broadcast_to(index, (self.rows, self.columns)) for index in found)

    def shape(self, number: int) -> tuple[int, ...]:
        """The array of a load: some elements larger than what is touched."""
        random = Random(f"{self.seed} {number}")
        most = [int(index.max()) + 1 for index in self.lanes(number)]
        if len(most) == 1:
            return (most[0] + random.choice(SLACK),)
        return most[0] + random.choice((0, 3, 500)), most[1] + random.choice((0, 7, 200))

    @property
    def arguments(self) -> list[torch.Tensor]:
        """Results to fill, numbers, flags, and the arrays, whose elements are all different."""
        shapes = [self.shape(number) for number in range(len(self.indices))]
        arrays = [torch.arange(prod(shape), dtype=torch.float32).reshape(shape) for shape in shapes]
        results = [torch.zeros(self.rows, self.columns) for _ in shapes]
        return [*results, torch.from_numpy(self.numbers), torch.from_numpy(self.flags), *arrays]

    def visits(self, number: int) -> Iterator[tuple[np.ndarray, ...]]:
        """The indices of a load, block by block."""
        lanes, (high, wide) = self.lanes(number), self.blocks
        for i in range(0, self.rows, high):
            for j in range(0, self.columns, wide):
                yield tuple(index[i : i + high, j : j + wide] for index in lanes)


class _Language:
    """What kernels call to load, on NumPy arrays."""

    @staticmethod
    def load(array: np.ndarray, indices: Sequence[np.ndarray]) -> np.ndarray:
        return array[tuple(indices)]


class Writer:
    """Writes index expressions: forms of the issue, and forms whose parts are forms."""

    def __init__(self, random: Random):
        self.random = random

    def number(self, *choices: int) -> int:
        return self.random.choice(choices)

    def form(self, depth: int) -> str:
        """An index over both dimensions of the block, not below 0 anywhere."""
        kinds: list[Callable[[int], str]] = [
            self.groups, self.chosen, self.clamped, self.ring, self.by_number, self.backwards, self.overlapping,
        ]  # fmt: skip
        return self.random.choice(kinds)(depth)

    def rows(self, depth: int) -> str:
        """An index along the rows of the block."""
        return self.inner("i", depth)

    def columns(self, depth: int) -> str:
        """An index along its columns."""
        return self.inner("j", depth)

    def inner(self, lane: str, depth: int) -> str:
        """A number that counts along one dimension, or a form of it."""
        if depth <= 1:
            return lane
        a, b, n = self.number(2, 4, 8, 16), self.number(8, 16, 32), self.number(3, 20, 37)
        kinds = [
            f"({lane} // {a} * {b} + {lane} % {a})",
            f"({lane} * {self.number(2, 3)} + {n})",
            f"({n + 300} - {lane})",
            f"(({lane} * {self.number(1, 3, 5)} + {n}) % {self.number(32, 37, 64, 1000)})",
            f"torch.where({lane} > {n}, {lane} - {n}, {lane})",
            f"({lane} % {b})",
            f"({lane} // {a})",
        ]
        if lane == "i":
            kinds += ["row", f"(row * {a} + i % {a})", f"hl.load(numbers, [{lane} // {a}])"]
        return self.random.choice(kinds)

    def groups(self, depth: int) -> str:
        """``(i // 4) * 8 + j % 8``"""
        a, b = self.number(1, 2, 4, 8), self.number(8, 16, 64, 128)
        return f"({self.rows(depth)} // {a}) * {self.number(b, 2 * b, 3 * b)} + {self.columns(depth)} % {b}"

    def chosen(self, depth: int) -> str:
        """``where(m, a, b) + j``"""
        mask = self.random.choice(
            ["flag", "once", f"(i > {self.number(3, 16, 31)})", f"(j > {self.number(3, 31, 64)})"]
        )
        a, b = self.number(0, 5, 128, 1000), self.number(0, 9, 256, 4000)
        first, second = self.random.choice(
            [(str(a), str(b)), (f"{self.rows(depth)} * 128", str(b)), (f"{self.rows(depth)} * 64", "i * 128")]
        )
        return f"torch.where({mask}, {first}, {second}) + {self.columns(depth)}"

    def clamped(self, depth: int) -> str:
        """``min(i, n - 1) * w + j``"""
        width = self.number(64, 100, 128, 256)
        return f"torch.clip({self.rows(depth)}, 0, {self.number(3, 20, 45)}) * {width} + {self.columns(depth)}"

    def ring(self, depth: int) -> str:
        """``(i * 3 + j) % ring``"""
        part = f"{self.rows(depth)} * {self.number(1, 3, 64, 130)} + {self.columns(depth)}"
        return f"({part}) % {self.number(37, 128, 500, 1024)}"

    def by_number(self, depth: int) -> str:
        """``idx[i] * 16 + j``"""
        row = self.random.choice(
            ["row", f"(row * 2 + {self.rows(depth)} % 2)", f"hl.load(numbers, [{self.rows(1)} // 2])"]
        )
        return f"{row} * {self.number(16, 64, 100, 128, 512)} + {self.columns(depth)}"

    def backwards(self, depth: int) -> str:
        """``n - (i * w + j)``, and of one dimension."""
        width = self.number(64, 128, 300)
        part = f"{self.rows(depth)} * {width} + {self.columns(depth)}"
        if self.random.random() < 0.5:
            return f"{self.rows(depth)} * {width} + (2000 - {self.columns(depth)})"
        return f"400000 - ({part})"

    def overlapping(self, depth: int) -> str:
        """``i * s + j`` whose rows overlap."""
        return f"{self.rows(depth)} * {self.number(1, 2, 3, 8, 16)} + {self.columns(depth)}"

    def entries(self, depth: int) -> tuple[str, ...]:
        """An index list: of flat storage, or of a matrix."""
        if self.random.random() < 0.75:
            return (self.form(depth),)
        rows = self.random.choice([f"torch.clip({self.rows(depth)}, 0, 20)", self.rows(2), "row"])
        columns = self.random.choice(["j", self.columns(2), "(j + i % 4)"])
        return rows, columns


def drawn(seed: int, count: int) -> Loads:
    """A kernel of so many loads, of forms one or two levels deep."""
    random = Random(f"accesses {seed}")
    writer = Writer(random)
    rows, columns, *blocks = random.choice(LAUNCHES)
    indices = tuple(writer.entries(random.choice((1, 2))) for _ in range(count))
    return Loads(rows, columns, (blocks[0], blocks[1]), indices, seed)
