"""The emitted Pallas module: imports, helper functions, one kernel function a call, and the public function."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation

from kopt.analysis.entry import entry_function
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile.extents import argument_extents
from kopt.lowering.host.jax_calls import HANDLERS as HOST
from kopt.lowering.names import Names
from kopt.lowering.pallas.kernel import print_kernel
from kopt.lowering.pallas.printing import RESERVED, PallasPrinter
from kopt.lowering.pallas.specs import print_call
from kopt.lowering.printer import Handler
from kopt.lowering.writer import Writer
from kopt.open_extents import plain_name
from kopt.walk import walk

_IMPORTS = {
    "functools": "import functools",
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "pl": "from jax.experimental import pallas as pl",
    "pltpu": "from jax.experimental.pallas import tpu as pltpu",
    "P": "from jax.sharding import PartitionSpec as P",
}


def print_module(module: ModuleOp, entry: str) -> str:
    """The self-contained Python module of a function whose launches are `pallas.call`.

    It imports JAX only and defines ``entry`` (by its `public_name`), which takes the function's arrays and returns its
    results. All that it does has a spelling: ``verify-pallas`` and ``verify-host`` have seen to that.
    """
    func = entry_function(module, entry)
    names = Names(RESERVED)
    name = names.public(entry)
    text = print_functions(func, name, names, HOST)
    return f'"""{name}: Pallas kernels for TPU, emitted by kopt."""\n\n{text}'


def print_functions(
    func: FuncOp, name: str, names: Names, handlers: Mapping[type[Operation], Handler], rest: str = ""
) -> str:
    """The imports, helpers and kernels of a function, and itself as ``name``, then ``rest``.

    ``handlers`` print the host ops that may stand around its calls.
    """
    body = Writer()
    helpers: dict[str, str] = {}
    kernels = {op: names.fresh(f"{op.sym_name.data}_kernel") for op in walk(func, CallOp)}
    for call, kernel in kernels.items():
        print_kernel(call, kernel, body, helpers)
        body.trim()
        body.lines(("", ""))
    around = {CallOp: partial(_print_launch, kernels), ReturnOp: _print_return}
    _print_public(func, name, PallasPrinter(body, names, {**handlers, **around}, helpers))
    return _header(helpers, body.text() + rest)


def _header(helpers: dict[str, str], body: str) -> str:
    """The imports that the rest names, and the helper functions."""
    text = "\n\n\n".join([*(helper.strip() for helper in helpers.values()), body])
    imports = [line for name, line in _IMPORTS.items() if re.search(rf"(?<![\w.]){name}[.(]", text)]
    return "\n".join([*imports, "", "", text])


def _print_public(func: FuncOp, entry: str, printing: PallasPrinter) -> None:
    args = [printing.names.bind(arg) for arg in func.body.block.args]
    with printing.block(f"def {entry}({', '.join(args)}):"):
        for extent, (array, dim) in argument_extents(func.body.block.args).items():
            printing.extents[extent] = printing.names.fresh(plain_name(extent))
            printing.line(f"{printing.extents[extent]} = {printing.names[array]}.shape[{dim}]")
        printing.print_block(func.body.block)


def _print_launch(kernels: Mapping[CallOp, str], printing: PallasPrinter, op: CallOp) -> None:
    print_call(op, kernels[op], printing, narrow=_handles_wide(op))


def _handles_wide(call: CallOp) -> bool:
    """Whether the function around a call has 64-bit arrays: JAX is then told to keep them, but not in the kernel."""
    func = call.parent_op()
    assert func is not None
    block = func.regions[0].block
    values = [*block.args, *(value for op in block.ops for value in (*op.operands, *op.results))]
    return any(_is_wide(value.type) for value in values)


def _is_wide(type: Attribute) -> bool:
    return isinstance(type, MemRefType) and getattr(type.element_type, "bitwidth", 0) == 64


def _print_return(printing: PallasPrinter, op: ReturnOp) -> None:
    values = [printing[value].text for value in op.arguments]
    printing.line(f"return {', '.join(values)}" if values else "return None")
