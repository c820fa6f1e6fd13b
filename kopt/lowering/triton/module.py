"""The emitted module: imports, helper functions, kernels, and the host function that launches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import Float8E4M3FNType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from kopt.analysis.entry import entry_function
from kopt.dialects import tile, triton
from kopt.dialects.tile.extents import extent_of
from kopt.lowering.host.torch_calls import HostFunction, LaunchPrinter, print_function
from kopt.lowering.names import Names
from kopt.lowering.printer import Handler
from kopt.lowering.triton import (
    atomics,
    control,
    descriptors,
    elementwise,
    inline,
    memory,
    random,
    ranges,
    reductions,
    scalars,
    shapes,
)
from kopt.lowering.triton.helpers import Helpers
from kopt.lowering.triton.kernel import TritonPrinter, block_sizes, launched_extents, limits_only
from kopt.lowering.writer import Writer
from kopt.open_extents import OpenExtent
from kopt.walk import walk

#: Names that emitted modules use for themselves.
_RESERVED = ("torch", "triton", "tl", "TensorDescriptor", descriptors.ALIGN)

#: How each operation of a kernel is printed.
HANDLERS: dict[type[Operation], Handler] = {
    **scalars.HANDLERS,
    **ranges.HANDLERS,
    **memory.HANDLERS,
    tile.LoadOp: descriptors.print_load,
    tile.StoreOp: descriptors.print_store,
    **atomics.HANDLERS,
    **elementwise.HANDLERS,
    **random.HANDLERS,
    **shapes.HANDLERS,
    **reductions.HANDLERS,
    **control.HANDLERS,
    **inline.HANDLERS,
}


def print_module(module: ModuleOp, entry: str) -> str:
    """The Python text of a function whose grids are `triton.launch` ops; needs torch and triton only.

    What launches compute has a Triton form: ``verify-triton`` has seen to that.
    """
    func = entry_function(module, entry)
    names = Names(_RESERVED)
    public = names.public(entry)
    kernels = kernel_names(func, names)
    writer = Writer()
    writer.lines(["import torch", "import triton", "import triton.language as tl"])
    descriptors.print_import(writer, kernels)
    print_kernels(writer, kernels, names)
    writer.lines(["", ""])
    print_function(writer, func, public, printer_of(kernels), kernels.values())
    return writer.text()


def kernel_names(func: FuncOp, names: Names) -> dict[triton.LaunchOp, str]:
    """The names of the ``@triton.jit`` functions that a function launches, new ones in its module."""
    launches = walk(func, triton.LaunchOp)
    return {launch: names.fresh(f"{launch.sym_name.data}_kernel", "kernel") for launch in launches}


def print_kernels(writer: Writer, kernels: Mapping[triton.LaunchOp, str], names: Names) -> None:
    """The kernels that a function launches, after the helpers that they call."""
    helpers = Helpers(names)
    for launch in kernels:
        inline.define_functions(launch, helpers)
    texts = [_kernel_text(launch, name, helpers) for launch, name in kernels.items()]
    helpers.print(writer)
    for text in texts:
        writer.lines(["", "", *text.splitlines()])


def _kernel_text(launch: triton.LaunchOp, name: str, helpers: Helpers) -> str:
    writer = Writer()
    kernel = TritonPrinter(launch, writer, helpers, HANDLERS)
    limits = [kernel.extents[extent].text for extent in limits_only(launch)]
    writer.line(f"@triton.jit(do_not_specialize={limits})".replace("'", '"') if limits else "@triton.jit")
    with writer.block(f"def {name}({', '.join(kernel.parameters)}):"):
        if written := [name for each in launch.written_only if (name := kernel[each].text) in kernel.parameters]:
            writer.comment(f"only written: {', '.join(written)}")
        with _cells_of(kernel, launch):
            kernel.print_block(launch.body.block)
    return writer.text()


@contextmanager
def _cells_of(kernel: TritonPrinter, launch: triton.LaunchOp) -> Iterator[None]:
    """The loop over the cells of a persistent program, around what it does for one; nothing for other programs.

    ``for pid in tl.range(tl.program_id(0), 1000, 132):``, or over neighbours.
    """
    if launch.persistent is None:
        yield
        return
    cells = _cells(launch, "tl.cdiv", lambda one: kernel.extent(one).text)
    step = _at_most(launch.persistent.data, cells)
    first, last = kernel.names.fresh("first_cell"), kernel.names.fresh("last_cell")
    arguments = f"tl.program_id(0), {cells}, {step}"
    if launch.blocked:
        share = -(-int(cells) // int(step)) if cells.isdigit() else f"tl.cdiv({cells}, {step})"
        kernel.line(f"{first} = tl.program_id(0) * {share}")
        kernel.line(f"{last} = min({first} + {share}, {cells})")
        arguments = f"{first}, {last}"
    with kernel.cells(f"tl.range({arguments})"):
        yield


def _cells(launch: triton.LaunchOp, divide: str, name: Callable[[OpenExtent], str]) -> str:
    """How many cells a launch has, by the extents of its arrays where these differ from call to call."""
    extents = [(extent_of(value), size) for value, size in launch.per]
    open = [f"{divide}({name(extent)}, {size})" for extent, size in extents if extent is not None]
    factor = launch.programs.data
    return " * ".join([*([str(factor)] if factor != 1 or not open else []), *open])


def programs(launch: triton.LaunchOp, function: HostFunction) -> str:
    """How many programs a launch has: one a cell, or those that share them."""
    cells = _cells(launch, "triton.cdiv", function.extent)
    if launch.persistent is None:
        return cells
    return _at_most(launch.persistent.data, cells)


def _at_most(most: int, cells: str) -> str:
    """The lower of two counts, of which the second is text."""
    return str(min(most, int(cells))) if cells.isdigit() else f"min({most}, {cells})"


def printer_of(kernels: Mapping[triton.LaunchOp, str]) -> LaunchPrinter:
    """What prints launches of kernels: ``name_0_kernel[(8,)](x, out, BLOCK_0=64, num_warps=4, num_stages=2)``."""

    def print_launch(function: HostFunction, launch: triton.LaunchOp) -> None:
        arguments = [function.names[value] for value in launch.inputs]
        arguments = [*_as_bytes(launch, arguments)] if launch.e4m3_bytes else arguments
        arguments = [*descriptors.arguments(launch, arguments), *map(function.extent, launched_extents(launch))]
        options = [f"{name}={size}" for name, _, size in block_sizes(launch)]
        options += [f"num_warps={launch.num_warps.data}", f"num_stages={launch.num_stages.data}"]
        if launch.max_registers is not None:
            options.append(f"maxnreg={launch.max_registers.data}")
        function.writer.line(f"{kernels[launch]}[({programs(launch, function)},)]({', '.join([*arguments, *options])})")

    return print_launch


def _as_bytes(launch: triton.LaunchOp, arguments: Sequence[str]) -> Iterator[str]:
    """The arguments of a launch, those in float8_e4m3fn as bytes."""
    for value, text in zip(launch.inputs, arguments, strict=True):
        element = value.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
        yield f"{text}.view(torch.uint8)" if isinstance(element, Float8E4M3FNType) else text
