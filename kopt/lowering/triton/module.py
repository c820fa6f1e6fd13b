"""The emitted module: imports, helper functions, kernels, and the host function that launches them."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from kopt.diagnostics import location_of
from kopt.dialects import triton
from kopt.errors import LoweringError
from kopt.lowering.host.torch_calls import print_function
from kopt.lowering.triton import (
    atomics,
    control,
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
from kopt.lowering.triton.kernel import Handler, Kernel, block_sizes
from kopt.lowering.writer import Writer, is_identifier

#: How each operation of a kernel is printed.
HANDLERS: dict[type[Operation], Handler] = {
    **scalars.HANDLERS,
    **ranges.HANDLERS,
    **memory.HANDLERS,
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

    Raises `LoweringError`, with the place, for ops that have no Triton form, and for names that are no Python names.
    """
    func = _function(module, entry)
    writer = Writer()
    writer.lines(["import torch", "import triton", "import triton.language as tl"])
    print_kernels(writer, func)
    writer.lines(["", ""])
    print_function(writer, func, print_launch)
    return writer.text()


def print_kernels(writer: Writer, func: FuncOp) -> None:
    """The kernels that a function launches, after the helpers that they call."""
    helpers = Helpers()
    launches = [op for op in func.walk() if isinstance(op, triton.LaunchOp)]
    kernels = [_kernel_text(launch, helpers) for launch in launches]
    helpers.print(writer)
    for text in kernels:
        writer.lines(["", "", *text.splitlines()])


def _function(module: ModuleOp, entry: str) -> FuncOp:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == entry and op.body.blocks:
            if not is_identifier(entry):
                raise LoweringError(f"'{entry}' cannot be the name of a Python function", location_of(op))
            return op
    raise LoweringError(f"no function '{entry}' in the module", location_of(module))


def kernel_name(launch: triton.LaunchOp) -> str:
    """The name of a launch's ``@triton.jit`` function."""
    name = f"{launch.sym_name.data}_kernel"
    if not is_identifier(name):
        raise LoweringError(f"'{name}' cannot be the name of a Python function", location_of(launch))
    return name


def _kernel_text(launch: triton.LaunchOp, helpers: Helpers) -> str:
    writer = Writer()
    kernel = Kernel(launch, writer, helpers, HANDLERS)
    writer.line("@triton.jit")
    with writer.block(f"def {kernel_name(launch)}({', '.join(kernel.parameters)}):"):
        if launch.written_only:
            writer.comment(f"only written: {', '.join(kernel[pointer].text for pointer in launch.written_only)}")
        sizes = block_sizes(launch)
        writer.lines(f"{name}: tl.constexpr = {sizes[tag]}" for tag, name in kernel.blocks.items())
        kernel.print_block(launch.body.block)
    return writer.text()


def print_launch(writer: Writer, launch: triton.LaunchOp, arguments: list[str]) -> None:
    """``name_0_kernel[(8,)](x, out, num_warps=4, num_stages=2)``."""
    options = [f"num_warps={launch.num_warps.data}", f"num_stages={launch.num_stages.data}"]
    writer.line(f"{kernel_name(launch)}[({launch.programs.data},)]({', '.join([*arguments, *options])})")
