"""Boxes of views as boxes of the array: the same elements, as NumPy's views have them, or fewer where that is said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from xdsl.ir import SSAValue

from kopt import parse
from kopt.analysis.boxes import Boxes, joined
from kopt.analysis.view_boxes import in_root, may_overlap
from kopt.dialects.host import ViewOp
from kopt.walk import walk
from test.named import named

Bounds = Sequence[tuple[int, int]]


def strided(array: np.ndarray) -> str:
    """A view's type, from NumPy's strides."""
    step = array.itemsize
    base = array.base if array.base is not None else array
    offset = (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // step
    shape, strides = "x".join(map(str, array.shape)), [stride // step for stride in array.strides]
    if array.flags.c_contiguous and not offset:
        return f"memref<{shape}xf32>"
    return f"memref<{shape}xf32, strided<{strides}{f', offset: {offset}' if offset else ''}>>"


class View:
    """Views of an array of numbered elements, as IR and in NumPy."""

    def __init__(self, *shape: int):
        self.array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
        self.ops: list[str] = []
        self.types = [strided(self.array)]

    def _add(self, text: str, array: np.ndarray) -> View:
        self.array = array
        self.types.append(strided(array))
        number = len(self.ops)
        source = f"%v{number}" if number else "%x"
        self.ops.append(f"%v{number + 1} = {text.format(source)} : {self.types[-2]} to {self.types[-1]}")
        return self

    def permute(self, *order: int) -> View:
        return self._add(f"host.permute {{}} {list(order)}", self.array.transpose(order))

    def reshape(self, *shape: int) -> View:
        return self._add("host.reshape {}", self.array.reshape(shape))

    def slice(self, *bounds: tuple[int, int, int]) -> View:
        """Offset, size and stride of each dimension, as the op has them."""
        offsets, sizes, strides = (list(each) for each in zip(*bounds, strict=True))
        taken = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in bounds)
        return self._add(f"host.slice {{}} {offsets} {sizes} {strides}", self.array[taken])

    def value(self):
        body = "\n  ".join(self.ops)
        module = parse(f"func.func @f(%x: {self.types[0]}) {{\n  {body}\n  func.return\n}}")
        return named(module)[f"v{len(self.ops)}" if self.ops else "x"]


def elements(boxes: Boxes) -> list[tuple[int, ...]]:
    """All elements of boxes, sorted: one that is in two of them twice."""
    return sorted(
        index
        for lower, upper in zip(boxes.lower.tolist(), boxes.upper.tolist(), strict=True)
        for index in product(*(range(low, high) for low, high in zip(lower, upper, strict=True)))
    )


def wanted(view: View, root: Sequence[int], boxes: Boxes) -> list[tuple[int, ...]]:
    return sorted(tuple(map(int, np.unravel_index(view.array[index], root))) for index in elements(boxes))


ROOT = (6, 8)
VIEWS = {
    "none": lambda: View(*ROOT),
    "permuted": lambda: View(*ROOT).permute(1, 0),
    "sliced": lambda: View(*ROOT).slice((1, 4, 1), (2, 5, 1)),
    "with steps": lambda: View(*ROOT).slice((0, 3, 2), (1, 3, 2)),
    "sliced twice": lambda: View(*ROOT).slice((1, 5, 1), (0, 4, 2)).slice((1, 3, 1), (1, 2, 2)),
    "sliced and permuted": lambda: View(*ROOT).slice((1, 4, 1), (0, 4, 2)).permute(1, 0),
}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_boxes_of_permutations_and_slices_are_followed_exactly(make) -> None:
    view = make()
    value = view.value()
    rows, columns = view.array.shape
    for low, left in product(range(rows), range(columns)):
        boxes = joined([Boxes.of((low, rows), (left, columns)), Boxes.of((0, low + 1), (left, left + 1))])
        found = in_root(value, boxes)
        assert found is not None and elements(found) == wanted(view, ROOT, boxes)


def test_three_dimensions_turned_around() -> None:
    """Each way: the order of a permutation and its inverse differ."""
    view = View(2, 3, 4).permute(2, 0, 1)
    boxes = Boxes.of((1, 3), (0, 2), (2, 3))
    found = in_root(view.value(), boxes)
    assert found is not None and elements(found) == wanted(view, (2, 3, 4), boxes)
    assert found.lower.tolist() == [[0, 2, 1]] and found.upper.tolist() == [[2, 3, 3]]


RESHAPES = [
    ((6, 8), (48,)),
    ((48,), (6, 8)),
    ((6, 8), (3, 16)),
    ((4, 6), (2, 2, 6)),
    ((2, 2, 6), (4, 6)),
    ((1, 5), (5,)),
]


@pytest.mark.parametrize(("root", "shape"), RESHAPES)
def test_what_is_followed_through_a_reshape_is_right(root: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Every box of the view: it is left out, or has the same elements, surely where both hold it as a box."""
    view = View(*root).reshape(*shape)
    value = view.value()
    intervals = [[(low, high) for low in range(n) for high in range(low + 1, n + 1)] for n in shape]
    if len(shape) == 3:
        intervals[2] = [(0, 6), (0, 3), (2, 6), (5, 6)]
    if shape == (48,) or shape == (3, 16):
        intervals[-1] = [each for each in intervals[-1] if each[0] % 4 == 0 or each[1] % 8 == 0]
    seen = 0
    for bounds in product(*intervals):
        boxes = Boxes.of(*bounds)
        found = in_root(value, boxes)
        there = wanted(view, root, boxes)
        numbers = sorted(view.array[index] for index in elements(boxes))
        consecutive = numbers[-1] - numbers[0] + 1 == len(numbers)
        spans = [len({index[dim] for index in there}) for dim in range(len(root))]
        if consecutive and np.prod(spans) == len(there):
            assert found is not None, bounds
        if found is not None:
            assert elements(found) == there, bounds
            seen += 1
    assert seen


def test_boxes_that_cannot_be_followed_are_left_out() -> None:
    """Two columns of two rows are not consecutive; a row is."""
    value = View(6, 8).reshape(48).value()
    both = joined([Boxes.of((4, 12)), Boxes.of((8, 16))])
    found = in_root(value, both)
    assert found is not None and elements(found) == [(1, column) for column in range(8)]
    assert in_root(value, Boxes.of((4, 12))) is None


def test_expanded_arrays_are_not_followed() -> None:
    module = parse("""
func.func @f(%x: memref<10x100xf32>) {
  %v = host.expand %x : memref<10x100xf32> to memref<4x10x100xf32, strided<[0, 100, 1]>>
  func.return
}
""")
    assert in_root(named(module)["v"], Boxes.of((0, 1), (0, 10), (0, 100))) is None


def test_arrays_of_no_elements() -> None:
    assert in_root(View(0, 8).reshape(0).value(), Boxes.of((0, 0))) is None


def views(shape: str, lines: str) -> list[SSAValue]:
    """The views of one array that lines of IR make."""
    module = parse(f"func.func @f(%x: memref<{shape}xf32>) {{\n{lines}\n  func.return\n}}")
    return [op.result for op in walk(module, ViewOp)]


def test_slices_overlap_where_elements_are_in_both() -> None:
    """Exactly where the steps are equal; else views that share no element may count as if they did."""
    bounds = [(o, n, s) for o, n, s in product(range(6), range(1, 7), (1, 2, 3)) if o + (n - 1) * s < 6]
    taken = [range(o, o + n * s, s) for o, n, s in bounds]
    layouts = [f"strided<[{s}], offset: {o}>" if o else f"strided<[{s}]>" for o, _, s in bounds]
    types = ["memref<6xf32>" if (o, n, s) == (0, 6, 1) else f"memref<{n}xf32, {at}>"
             for (o, n, s), at in zip(bounds, layouts, strict=True)]  # fmt: skip
    lines = [f"%v{k} = host.slice %x [{o}] [{n}] [{s}] : memref<6xf32> to {type}"
             for k, ((o, n, s), type) in enumerate(zip(bounds, types, strict=True))]  # fmt: skip
    found = views("6", "\n".join(lines))
    for (first, a), (second, b) in product(zip(found, taken, strict=True), repeat=2):
        shared = bool(set(a) & set(b))
        assert may_overlap(first, second) >= shared
        if a.step == b.step:
            assert may_overlap(first, second) is shared


def test_dimensions_are_followed_through_permutations_and_no_further_than_reshapes() -> None:
    whole = "memref<4x4xf32>"
    turned = "memref<4x4xf32, strided<[1, 4]>>"
    rows, upper = "memref<2x4xf32, strided<[4, 1]>>", "memref<2x4xf32, strided<[4, 1], offset: 8>>"
    columns = "memref<2x4xf32, strided<[1, 4], offset: 2>>"
    turn, top, bottom, right, flat, more = views(
        "4x4",
        f"""
  %turn = host.permute %x [1, 0] : {whole} to {turned}
  %top = host.slice %x [0, 0] [2, 4] [1, 1] : {whole} to {rows}
  %bottom = host.slice %x [2, 0] [2, 4] [1, 1] : {whole} to {upper}
  %right = host.slice %turn [2, 0] [2, 4] [1, 1] : {turned} to {columns}
  %flat = host.reshape %top : {rows} to memref<8xf32>
  %more = host.slice %flat [0] [4] [1] : memref<8xf32> to memref<4xf32>
        """,
    )
    assert not may_overlap(top, bottom) and not may_overlap(bottom, flat) and not may_overlap(more, bottom)
    assert may_overlap(top, right) and may_overlap(bottom, right) and may_overlap(turn, bottom)
    assert may_overlap(flat, more) and may_overlap(top, top)
