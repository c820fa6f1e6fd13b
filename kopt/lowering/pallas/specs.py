"""The call of a kernel in the public function: `pl.pallas_call` with its grid, block specs, scratch and options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from kopt.analysis.revisit_order import grid_of
from kopt.dialects.pallas import CallOp, WindowAttr
from kopt.dialects.tile import BeginOp, GetOp, GridOp, IdOp, IndexOp, PutOp, RefType
from kopt.dialects.tile.extents import ExtentOp, extent_of
from kopt.ir.ranges import Binding, binding
from kopt.lowering.expr import Expr, add, number, spell, times
from kopt.lowering.names import Names, public_name, quoted
from kopt.lowering.pallas.printing import RESERVED, PallasPrinter
from kopt.lowering.writer import source_place
from kopt.open_extents import OpenExtent, blocks, open_extents, plain_name

#: Where the scratch memory of a kernel may be, and its semaphores.
SCRATCH = {"vmem": "pltpu.VMEM", "smem": "pltpu.SMEM"}
SEMAPHORES = {"semaphore": "DMA", "counter": "REGULAR"}
_SPACES = {"smem": "pltpu.SMEM", "hbm": "pltpu.HBM", "any": "pl.ANY"}


def call_grid(call: CallOp) -> GridOp:
    """The grid in a call's body."""
    return grid_of(call)


def grid_extents(grid: GridOp) -> list[int]:
    """Number of cells along each dimension; one cell where the grid has none."""
    return [_cells(binding(range)) for range in grid.ranges] or [1]


def _cells(bound: Binding) -> int:
    extent = extent_of(bound.upper)
    return bound.trips or 0 if extent is None else blocks(extent, bound.size)


def print_call(call: CallOp, kernel: str, printing: PallasPrinter, narrow: bool = False) -> None:
    """Writes ``out = pl.pallas_call(kernel, …)(x, y)``; ``narrow`` where numbers of the kernel must not be 64-bit."""
    if narrow:
        with printing.block("with jax.enable_x64(False):"):
            print_call(call, kernel, printing)
        return
    results = [printing.names.bind(output) for output in call.outputs]
    pairs = zip(call.inputs, call.windows.data, strict=False)
    operands = [
        printing.name(value) if number in call.aliased else _operand(value, window, printing)
        for number, (value, window) in enumerate(pairs)
    ]
    head, tail = f"{', '.join(results)} = pl.pallas_call", f"({', '.join(operands)})"
    kernel = with_extents(kernel, call, printing)
    printing.writer.call(head, [kernel, *_arguments(call, printing)], tail, source_place(call))


def with_extents(kernel: str, call: CallOp, printing: PallasPrinter) -> str:
    """A kernel that has the extents that it asks for: ``functools.partial(add_kernel, x_size_0=x_size_0)``."""
    names = extent_names(call)
    given = [f"{names[extent]}={printing.extent(extent)}" for extent in asked_extents(call)]
    return f"functools.partial({kernel}, {', '.join(given)})" if given else kernel


def extent_names(call: CallOp) -> dict[OpenExtent, str]:
    """What a kernel calls the extents that differ from call to call."""
    names = Names(RESERVED)
    extents = open_extents(op.extent for op in call.body.block.ops if isinstance(op, ExtentOp))
    return {extent: names.fresh(plain_name(extent)) for extent in extents}


def asked_extents(call: CallOp) -> list[OpenExtent]:
    """The extents that differ from call to call and that a kernel computes with, beside the grid that they limit."""
    found = [(op.result, op.extent) for op in call.body.block.ops if isinstance(op, ExtentOp)]
    asked: set[SSAValue] = {
        value for value, _ in found if any(not isinstance(use.operation, GridOp) for use in value.uses)
    }
    for range in call_grid(call).ranges:
        bound = binding(range)
        if isinstance(bound.upper, SSAValue) and not _asks_for_begin_alone(range):
            asked.add(bound.upper)
    return open_extents(extent for value, extent in found if value in asked)


def _operand(value: SSAValue, window: WindowAttr, printing: PallasPrinter) -> str:
    """An operand; one that the kernel copies from is pinned, or XLA might put it where DMAs are slow.

    One that a result takes over is not: XLA would pin a copy of it.
    """
    name = printing.name(value)
    return f"pltpu.with_memory_space_constraint({name}, pltpu.HBM)" if window.space.data == "hbm" else name


def _asks_for_begin_alone(range: SSAValue) -> bool:
    """Whether nothing asks where a range ends."""
    return all(isinstance(use.operation, BeginOp | IdOp | IndexOp | GetOp | PutOp) for use in range.uses)


def _arguments(call: CallOp, printing: PallasPrinter) -> Iterator[str]:
    """The arguments of `pl.pallas_call` after the kernel."""
    grid = call_grid(call)
    names = Names(RESERVED)
    indices = [names.fresh(range.name_hint, "i") for range in grid.ranges] or ["i"]
    given = [names.fresh(ref.name_hint, "numbers") for ref in call.input_refs[: call.prefetched_count]]
    steps, scratch = [*_steps(call, indices, given, printing)], [_scratch(ref, printing) for ref in call.scratch]
    memory = [f"scratch_shapes={text_list(scratch)}"] if scratch else []
    if given:
        spec = [f"num_scalar_prefetch={len(given)}", *steps, *memory]
        yield f"grid_spec=pltpu.PrefetchScalarGridSpec({', '.join(spec)})"
    else:
        yield from steps
    yield f"out_shape={_one_or_list([_shape(output, printing) for output in call.outputs])}"
    yield from () if given else memory
    if aliases := {operand: result for result, operand in enumerate(call.aliased) if operand >= 0}:
        yield f"input_output_aliases={aliases}"
    yield f"compiler_params=pltpu.CompilerParams({', '.join(_parameters(call))})"
    yield f"name={quoted(public_name(call.sym_name.data))}"


def _steps(call: CallOp, indices: Sequence[str], given: Sequence[str], printing: PallasPrinter) -> Iterator[str]:
    """The grid, and what each of its steps sees; index maps take the prefetched operands behind the cell's numbers."""
    windows = list(call.windows.data)
    specs = [block_spec(window, [*indices, *given], _numbers(window, indices, given)) for window in windows]
    yield f"grid={printing.shape_text(grid_extents(call_grid(call)))}"
    yield f"in_specs={text_list(specs[len(given) : len(call.inputs)])}"
    yield f"out_specs={_one_or_list(specs[len(call.inputs) :])}"


def _numbers(window: WindowAttr, indices: Sequence[str], given: Sequence[str]) -> list[str]:
    """The numbers that an index map computes: ``group[i]``, ``jnp.minimum(group[i], 9)``."""
    found: list[str] = []
    for one in window.numbers.data:
        parts = [_spell(expr, indices, found).text for expr in one.of.data.results]
        if one.kind.data == "load":
            found.append(f"{given[one.operand.data]}[{', '.join(parts)}]")
        else:
            found.append(reduce(lambda left, right: f"jnp.{one.kind.data}imum({left}, {right})", parts))
    return found


def _parameters(call: CallOp) -> Iterator[str]:
    words = [quoted(word.data) for word in call.semantics.data]
    yield f"dimension_semantics={_tuple(words)}"
    if call.vmem_limit is not None:
        yield f"vmem_limit_bytes={call.vmem_limit.value.data}"
    if call.collective is not None:
        yield f"collective_id={call.collective.value.data}"
    if call.unchecked is not None:
        yield "disable_bounds_checks=True"


def _tuple(items: Sequence[object]) -> str:
    return f"({', '.join(map(str, items))}{',' if len(items) == 1 else ''})"


def text_list(items: Sequence[str]) -> str:
    """``[a, b]``."""
    return f"[{', '.join(items)}]"


def _one_or_list(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else text_list(items)


def block_spec(window: WindowAttr, indices: Sequence[str], known: Sequence[str] = ()) -> str:
    """The `pl.BlockSpec` of a window; ``indices`` and ``known`` spell its block number's dimensions and symbols."""
    space = f"memory_space={_SPACES[window.space.data]}" if window.space.data in _SPACES else ""
    if space and not window.grid_dims:
        return f"pl.BlockSpec({space})"
    block = _tuple([size or None for size in window.sizes])
    numbers = [_spell(expr, indices, known).text for expr in window.index.data.results]
    where = f", {space}" if space else ""
    return f"pl.BlockSpec({block}, lambda {', '.join(indices)}: {_tuple(numbers)}{where})"


def _spell(expr: AffineExpr, dims: Sequence[str], symbols: Sequence[str]) -> Expr:
    """An affine expression in Python."""
    if isinstance(expr, AffineConstantExpr):
        return number(expr.value)
    if isinstance(expr, AffineDimExpr | AffineSymExpr):
        return Expr((dims if isinstance(expr, AffineDimExpr) else symbols)[expr.position])
    assert isinstance(expr, AffineBinaryOpExpr)
    return _AFFINE[expr.kind](_spell(expr.lhs, dims, symbols), _spell(expr.rhs, dims, symbols))


_AFFINE: dict[AffineBinaryOpKind, Callable[[Expr, Expr], Expr]] = {
    AffineBinaryOpKind.Add: add,
    AffineBinaryOpKind.Mul: times,
    AffineBinaryOpKind.Mod: partial(spell, "{0} % {1}"),
    AffineBinaryOpKind.FloorDiv: partial(spell, "{0} // {1}"),
    AffineBinaryOpKind.CeilDiv: partial(spell, "-(-{0} // {1})"),
}


def _shape(value: SSAValue, printing: PallasPrinter) -> str:
    assert isinstance(value.type, MemRefType)
    shape, dtype = printing.shape_text(value.type.get_shape()), printing.dtype(value.type.element_type)
    return f"jax.ShapeDtypeStruct({shape}, {dtype})"


def _scratch(ref: SSAValue, printing: PallasPrinter) -> str:
    assert isinstance(ref.type, RefType)
    shape = _tuple(ref.type.shape)
    if (kind := SEMAPHORES.get(ref.type.space.data)) is not None:
        return f"pltpu.SemaphoreType.{kind}({shape})"
    return f"{SCRATCH[ref.type.space.data]}({shape}, {printing.dtype(ref.type.element_type)})"
