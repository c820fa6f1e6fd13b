"""What an op has determines the rest of it: with one other type, list or number it is refused, but for what is free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntAttr, IntegerAttr, MemRefType, StringAttr, f32, i1, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op
from kopt.dialects.tile import DimAttr, TileType
from kopt.open_extents import is_open
from kopt.parsing import parse_module
from kopt.walk import walk

FOLDER = Path(__file__).resolve().parents[1] / "lit" / "dialects"
FILES = [path for path in sorted(FOLDER.glob("*.mlir")) if not path.stem.endswith("-errors")]
OWN = ("tile", "host", "jagged", "atomic", "symm", "pallas", "triton")
#: Properties that are any word, and how operands are stored.
NAMES = ("group", "of", "operandSegmentSizes", "sym_name")
#: Of each op so many of those that the texts have: the first ones of other types.
EACH = 3
#: What may be otherwise in some op that the texts have: an operand, a result, a property. All else is determined.
FREE = {
    "atomic.cas": "operand 2: extent",
    "host.alloc": "result 0: element, extent, rank",
    "host.call": "arguments: fewer, more; operand 0: element, extent, rank; result 0: element, extent, rank",
    "host.call_out": "operand 0: element, extent, rank; operand 1: element, extent, rank",
    "host.copy": "operand 0: element; operand 1: element",
    "host.expand": "result 0: extent",
    "host.free": "operand 0: element, extent, rank",
    "host.partition": "operand 0: element, extent, rank",
    "host.reuse": "fill: gone",
    "host.slice": "operand 0: extent",
    "host.yield": "operand 0: element, extent, rank",
    "jagged.for": "operand 0: extent, tag",
    "pallas.bitcast": "operand 0: tag; result 0: tag",
    "pallas.call": "operand 0: extent; operand 1: extent; "
    "operand 2: extent; result 0: extent; vmem_limit: gone, number",
    "pallas.dma_start": "depth: number",
    "pallas.dma_wait": "depth: number",
    "pallas.fetch": "depth: number; result 0: tag",
    "pallas.send": "depth: number; operand 0: tag",
    "symm.all_gather": "operand 0: extent; result 0: extent",
    "symm.all_gather_out": "operand 0: extent; operand 1: extent",
    "symm.all_reduce": "algorithm: gone",
    "symm.all_reduce_out": "algorithm: gone",
    "symm.reduce_scatter": "operand 0: extent; result 0: extent",
    "symm.reduce_scatter_out": "operand 0: extent; operand 1: extent",
    "symm.remote_copy": "operand 0: extent",
    "symm.signal": "channel: number",
    "symm.wait": "channel: number",
    "tile.arange": "result 0: extent, tag; start: number; step: number",
    "tile.argreduce": "operand 0: element, extent, tag",
    "tile.associative_reduce": "operand 0: extent, tag",
    "tile.associative_scan": "reverse: gone",
    "tile.broadcast": "result 0: extent, rank, tag",
    "tile.cast": "operand 0: element; result 0: element",
    "tile.concat": "operand 0: tag; operand 1: tag",
    "tile.dim": "operand 0: element, extent, rank",
    "tile.dynamic_slice": "operand 0: extent, tag; result 0: tag",
    "tile.for": "schedule: gone; static_bounds: numbers",
    "tile.full": "result 0: extent, rank, tag; value: number",
    "tile.get": "result 0: tag",
    "tile.grid": "lower: numbers; operand 0: element, extent, rank; "
    "operand 1: element, extent, rank; operand 2: element, extent, rank; upper: numbers",
    "tile.load": "operand 0: extent",
    "tile.mask": "operand 0: tag",
    "tile.put": "operand 0: tag",
    "tile.reduce": "operand 0: extent, tag",
    "tile.reshape": "operand 0: tag",
    "tile.scaling_extf": "operand 1: extent, tag; result 0: element",
    "tile.scan": "reverse: gone",
    "tile.slice": "operand 0: extent",
    "tile.sort": "descending: gone",
    "tile.splat": "result 0: extent, rank, tag",
    "tile.store": "operand 1: extent",
    "tile.take_along": "operand 0: extent, tag",
    "tile.valid_lanes": "operand 0: element",
    "tile.yield": "operand 0: element, extent, kind, rank, tag",
    "triton.bounded": "limit: number",
    "triton.inline": "operand 0: element, extent, rank, tag; operand 1: element, extent, rank, tag; "
    "result 0: element, extent, rank, tag; result 1: element, extent, rank, tag",
    "triton.launch": "num_stages: number; persistent: gone, number; "
    "programs: number; sizes: numbers; write_only: fewer, more",
    "triton.range": "lower: number; upper: number",
    "triton.retag": "operand 0: tag; result 0: tag",
}


def changed(type: Attribute) -> Iterator[tuple[str, Attribute]]:
    """Types that differ in one respect: the element, an extent, a tag, the rank."""
    if isinstance(type, TileType):
        dims, element = list(type.dims.data), type.element_type
        yield "element", TileType(dims, other_element(element))
        yield "rank", TileType([*dims, DimAttr(3)], element)
        for n, dim in enumerate(dims):
            if not is_open(dim.size.data):
                size, tag = dim.size.data, dim.tag.data
                yield "extent", TileType([*dims[:n], DimAttr(2 * size, tag), *dims[n + 1 :]], element)
                yield "tag", TileType([*dims[:n], DimAttr(size, tag + "z"), *dims[n + 1 :]], element)
    elif isinstance(type, MemRefType):
        shape, element = list(type.get_shape()), type.element_type
        yield "element", MemRefType(other_element(element), shape)
        yield "rank", MemRefType(element, [*shape, 3])
        for n, extent in enumerate(shape):
            if not is_open(extent):
                yield "extent", MemRefType(element, [*shape[:n], 2 * extent, *shape[n + 1 :]])
    else:
        yield "kind", TileType([DimAttr(3)], f32)


def other_element(element: Attribute) -> Attribute:
    """Another number."""
    return i32 if element == f32 else f32


def examples() -> Iterator[Operation]:
    """Ops of the texts, a few of each."""
    seen: set[tuple[object, ...]] = set()
    count: Counter[str] = Counter()
    for path in FILES:
        for op in walk(parse_module(path.read_text(), str(path))):
            form = (op.name, *op.operand_types, *op.result_types)
            if form not in seen and count[op.name] < EACH and op.name.partition(".")[0] in OWN:
                seen.add(form)
                count[op.name] += 1
                yield op


def is_taken(op: Operation) -> bool:
    """Whether an op is valid by itself."""
    assert isinstance(op, Op)
    try:
        op.verify_()
    except VerifyException:
        return False
    return True


def free(op: Operation) -> Iterator[str]:
    """What may be otherwise."""
    for number, operand in enumerate(list(op.operands)):
        for what, type in changed(operand.type):
            op.operands[number] = TestOp(result_types=[type]).results[0]
            if is_taken(op):
                yield f"operand {number} {what}"
        op.operands[number] = operand
    made = [(f"result {number}", result) for number, result in enumerate(op.results)]
    made += [(f"argument {number}", arg) for region in op.regions[:1] for number, arg in enumerate(region.block.args)]
    for name, value in made:
        for what, type in changed(type_ := value.type):
            retype(value, type)
            if is_taken(op):
                yield f"{name} {what}"
        retype(value, type_)
    for name, attribute in list(op.properties.items()):
        if name in NAMES:
            continue
        for what, other in rewritten(attribute):
            op.properties[name] = other
            if is_taken(op):
                yield f"{name} {what}"
        del op.properties[name]
        if is_taken(op):
            yield f"{name} gone"
        op.properties[name] = attribute


def rewritten(attribute: Attribute) -> Iterator[tuple[str, Attribute]]:
    """Attributes with another number or word, with more parts, with fewer."""
    if isinstance(attribute, IntAttr):
        yield "number", IntAttr(attribute.data + 1000)
    elif isinstance(attribute, IntegerAttr):
        number = attribute.value.data
        yield "number", IntegerAttr(number ^ 1 if attribute.type == i1 else number + 1000, attribute.type)
    elif isinstance(attribute, StringAttr):
        yield "word", StringAttr("other")
    elif isinstance(attribute, DenseArrayBase):
        numbers = list(attribute.get_values())
        for what, others in lists(numbers, [number + 1000 for number in numbers]):
            yield what, DenseArrayBase.from_list(attribute.elt_type, others)
    elif isinstance(attribute, ArrayAttr):
        for what, others in lists(list(attribute.data), []):
            yield what, ArrayAttr(others)


def lists(parts: list[Any], otherwise: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """What a list becomes."""
    if parts:
        yield "more", [*parts, parts[-1]]
        yield "fewer", parts[:-1]
    if otherwise:
        yield "numbers", otherwise


def retype(value: SSAValue, type: Attribute) -> None:
    """In place, so that the op stays as it is."""
    value._type = type


def described(found: set[str]) -> str:
    """As the table has it."""
    parts: dict[str, list[str]] = {}
    for each in sorted(found):
        part, _, what = each.rpartition(" ")
        parts.setdefault(part, []).append(what)
    return "; ".join(f"{part}: {', '.join(whats)}" for part, whats in parts.items())


def test_all_else_is_refused() -> None:
    """Every op of the dialects' texts, with every type, list and number in turn."""
    found: dict[str, set[str]] = {}
    for op in examples():
        assert is_taken(op), op
        found.setdefault(op.name, set()).update(free(op))
    assert {name: described(those) for name, those in found.items() if those} == FREE
