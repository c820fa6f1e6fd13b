"""Where each program's share of the items begins, computed on the host before a launch."""

from __future__ import annotations

from functools import reduce

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, StringAttr, UnitAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from kopt.analysis.item_numbers import ItemElement, ItemNumber, host_arrays
from kopt.analysis.item_work import ItemLoop, ItemWork, NotBalanced
from kopt.dialects.builder import Builder
from kopt.dialects.host import CallOp, ReshapeOp, SliceOp
from kopt.dialects.tile import GridOp, array_type
from kopt.ir.ranges import binding


def first_items(grid: GridOp, work: ItemWork, shares: int) -> SSAValue:
    """The first item of each of some shares, and the end of the last; computed before ``grid``."""
    host = _Host(grid, work.items)
    visits = [reduce(host.times, [host.visits(walk) for walk in nest]) for nest in work.nests]
    return host.cuts(host.plus_number(reduce(host.plus, visits), 1), shares)


class _Host:
    """Arithmetic on one number an item, as calls of torch operators; `NotBalanced` where arrays are too short."""

    def __init__(self, grid: GridOp, items: SSAValue):
        self._grid = grid
        bound = binding(items)
        assert isinstance(bound.lower, int) and isinstance(bound.upper, int)
        self._first, self._end, self._size = bound.lower, bound.upper, bound.size
        func = grid.parent_op()
        assert isinstance(func, FuncOp)
        self._arrays = host_arrays(func)

    def visits(self, walk: ItemLoop) -> SSAValue:
        """How often a loop runs for each block of items, which is as often as for the longest of them."""
        visits = self._call("floor_divide", [self.plus_number(self._number(walk.length), walk.size - 1)], walk.size)
        visits = self._call("clamp", [visits], 0)
        if self._size > 1:
            blocks = -(-_extent(visits) // self._size)
            pad = blocks * self._size - _extent(visits)
            visits = self._call("constant_pad_nd", [visits], [0, pad], 0, extent=blocks * self._size)
            rows = Builder(self._grid).add(ReshapeOp(visits, MemRefType(i64, [blocks, self._size])))
            visits = self._call("amax", [rows], [1], extent=blocks)
        visits.name_hint = "visits"
        return visits

    def cuts(self, work: SSAValue, shares: int) -> SSAValue:
        """How many items are done with each of ``shares + 1`` parts of the work, from none of it to all of it."""
        done = self._call("cumsum", [work], 0, hint="work")
        total = Builder(self._grid).add(SliceOp(done, [_extent(done) - 1], [1], [1], MemRefType(i64, [1])), "total")
        parts = self._call("arange", [], shares + 1, extent=shares + 1)
        parts = self._call("floor_divide", [self.times(parts, total)], shares, hint="parts")
        first = self._call("searchsorted.Tensor", [done, self.plus_number(parts, 1)], extent=shares + 1)
        if self._size > 1:
            first = self._call("clamp", [self._call("mul.Scalar", [first], self._size)], 0, self._end - self._first)
        first = self.plus_number(first, self._first)
        first.name_hint = "first"
        return first

    def plus(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The sum."""
        return self._call("add.Tensor", [a, b])

    def times(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The product."""
        return self._call("mul.Tensor", [a, b])

    def plus_number(self, value: SSAValue, number: int) -> SSAValue:
        """The sum with a number, where that is not 0."""
        return self._call("add.Scalar", [value], number) if number else value

    def _number(self, number: ItemNumber) -> SSAValue:
        """A number of every item; what is added comes first."""
        (element, factor), *rest = sorted(number.terms, key=lambda term: -term[1])
        total = self._call("mul.Scalar", [self._of(element)], factor) if factor != 1 else self._of(element)
        for element, factor in rest:
            part = self._of(element)
            part = self._call("mul.Scalar", [part], abs(factor)) if abs(factor) != 1 else part
            total = self._call("add.Tensor" if factor > 0 else "sub.Tensor", [total, part], hint="lengths")
        return self.plus_number(total, number.const)

    def _of(self, element: ItemElement) -> SSAValue:
        """An element of an array for every item."""
        array = self._arrays[element.array]
        begin, count, type = self._first + element.shift, self._end - self._first, array_type(array).element_type
        if begin < 0 or begin + count > _extent(array):
            raise NotBalanced(f"'{element.name}' has {_extent(array)} elements, too few for the items")
        part = Builder(self._grid).add(SliceOp(array, [begin], [count], [1], MemRefType(type, [count])))
        return part if type == i64 else self._call("prims.convert_element_type", [part], "int64")

    def _call(
        self,
        callee: str,
        inputs: list[SSAValue],
        *numbers: int | list[int] | str,
        extent: int | None = None,
        hint: str | None = None,
    ) -> SSAValue:
        """A call that gives one i64 an item, or as many as said."""
        callee = callee if callee.startswith("prims") else f"aten.{callee}"
        callee = callee if callee.count(".") == 2 else f"{callee}.default"
        arguments = [*(UnitAttr() for _ in inputs), *map(_literal, numbers)]
        count = max(map(_extent, inputs)) if extent is None else extent
        return Builder(self._grid).add(CallOp(callee, inputs, arguments, [MemRefType(i64, [count])]), hint)


def _literal(value: int | list[int] | str) -> Attribute:
    if isinstance(value, list):
        return ArrayAttr([_literal(one) for one in value])
    if isinstance(value, str):
        return StringAttr(value)
    return IntegerAttr(value, i64)


def _extent(value: SSAValue) -> int:
    return array_type(value).get_shape()[0]
