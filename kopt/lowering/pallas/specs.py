"""The call of a kernel in the public function: `pl.pallas_call` with its grid, block specs, scratch and options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from kopt.analysis.ranges import binding
from kopt.dialects.pallas import CallOp, WindowAttr
from kopt.dialects.tile import GridOp, RefType
from kopt.lowering.pallas.printing import Printing
from kopt.lowering.writer import Names

#: Lists longer than this are written an item a line.
_LONG = 90

_SEMAPHORES = {"semaphore": "DMA", "counter": "REGULAR"}
_SPACES = {"smem": "pltpu.SMEM", "hbm": "pltpu.HBM", "any": "pl.ANY"}


def call_grid(call: CallOp) -> GridOp:
    """The grid in a call's body."""
    grid = next(op for op in call.body.block.ops if isinstance(op, GridOp))
    return grid


def grid_extents(grid: GridOp) -> list[int]:
    """Number of cells along each dimension; one cell where the grid has none."""
    return [binding(range).trips or 0 for range in grid.ranges] or [1]


def print_call(call: CallOp, kernel: str, printing: Printing, narrow: bool = False) -> None:
    """Writes ``out = pl.pallas_call(kernel, …)(x, y)``; ``narrow`` where numbers of the kernel must not be 64-bit."""
    if narrow:
        with printing.block("with jax.enable_x64(False):"):
            print_call(call, kernel, printing)
        return
    results = [printing.names.bind(output) for output in call.outputs]
    printing.line(f"{', '.join(results)} = pl.pallas_call(", call)
    for option in (f"{kernel},", *_options(call, printing)):
        printing.writer.lines(f"    {line}" for line in option.splitlines())
    pairs = zip(call.inputs, call.windows.data, strict=False)
    operands = [
        printing.name(value) if number in call.aliased else _operand(value, window, printing)
        for number, (value, window) in enumerate(pairs)
    ]
    printing.line(f")({', '.join(operands)})")


def _operand(value: SSAValue, window: WindowAttr, printing: Printing) -> str:
    """An operand; one that the kernel copies from is pinned, or XLA might put it where DMAs are slow.

    One that a result takes over is not: XLA would pin a copy of it.
    """
    name = printing.name(value)
    return f"pltpu.with_memory_space_constraint({name}, pltpu.HBM)" if window.space.data == "hbm" else name


def _options(call: CallOp, printing: Printing) -> Iterator[str]:
    """The arguments of `pl.pallas_call`, each on lines of its own with its comma."""
    for option in _arguments(call, printing):
        yield f"{option},"


def _arguments(call: CallOp, printing: Printing) -> Iterator[str]:
    grid = call_grid(call)
    names = Names()
    indices = [names.fresh(range.name_hint, "i") for range in grid.ranges] or ["i"]
    windows = list(call.windows.data)
    inputs, outputs = windows[: len(call.inputs)], windows[len(call.inputs) :]
    yield f"grid={_tuple(grid_extents(grid))}"
    yield f"in_specs={text_list([block_spec(window, indices) for window in inputs])}"
    yield f"out_specs={_one_or_list([block_spec(window, indices) for window in outputs])}"
    yield f"out_shape={_one_or_list([_shape(output, printing) for output in call.outputs])}"
    if call.scratch:
        yield f"scratch_shapes={text_list([_scratch(ref, printing) for ref in call.scratch])}"
    if aliases := {operand: result for result, operand in enumerate(call.aliased) if operand >= 0}:
        yield f"input_output_aliases={aliases}"
    yield f"compiler_params=pltpu.CompilerParams({', '.join(_parameters(call))})"
    yield f'name="{call.sym_name.data}"'


def _parameters(call: CallOp) -> Iterator[str]:
    words = [f'"{word.data}"' for word in call.semantics.data]
    yield f"dimension_semantics={_tuple(words)}"
    if call.vmem_limit is not None:
        yield f"vmem_limit_bytes={call.vmem_limit.value.data}"
    if call.collective is not None:
        yield f"collective_id={call.collective.value.data}"


def _tuple(items: Sequence[object]) -> str:
    return f"({', '.join(map(str, items))}{',' if len(items) == 1 else ''})"


def text_list(items: Sequence[str]) -> str:
    """A list on one line, or an item a line where it is long."""
    line = f"[{', '.join(items)}]"
    return line if len(line) < _LONG else "\n".join(["[", *(f"    {item}," for item in items), "]"])


def _one_or_list(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else text_list(items)


def block_spec(window: WindowAttr, indices: Sequence[str], known: Sequence[str] = ()) -> str:
    """The `pl.BlockSpec` of a window; ``indices`` and ``known`` spell its block number's dimensions and symbols."""
    space = f"memory_space={_SPACES[window.space.data]}" if window.space.data in _SPACES else ""
    if space and not any(expr.used_dims() for expr in window.index.data.results):
        return f"pl.BlockSpec({space})"
    block = _tuple([size or None for size in window.sizes])
    numbers = [_spell(str(expr), {"d": indices, "s": known}) for expr in window.index.data.results]
    where = f", {space}" if space else ""
    return f"pl.BlockSpec({block}, lambda {', '.join(indices)}: {_tuple(numbers)}{where})"


def _spell(text: str, names: dict[str, Sequence[str]]) -> str:
    """An affine expression in Python."""
    text = text.replace("floordiv", "//").replace("mod", "%")
    text = re.sub(r"\b([ds])(\d+)", lambda match: names[match[1]][int(match[2])], text)
    return text[1:-1] if text.startswith("(") and text.count("(") == 1 else text


def _shape(value: SSAValue, printing: Printing) -> str:
    assert isinstance(value.type, MemRefType)
    return f"jax.ShapeDtypeStruct({_tuple(value.type.get_shape())}, {printing.dtype(value.type.element_type)})"


def _scratch(ref: SSAValue, printing: Printing) -> str:
    assert isinstance(ref.type, RefType)
    shape = _tuple(ref.type.shape)
    if (kind := _SEMAPHORES.get(ref.type.space.data)) is not None:
        return f"pltpu.SemaphoreType.{kind}({shape})"
    space = {"vmem": "pltpu.VMEM", "smem": "pltpu.SMEM"}[ref.type.space.data]
    return f"{space}({shape}, {printing.dtype(ref.type.element_type)})"
