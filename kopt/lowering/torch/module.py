"""The emitted program: imports, kernels if there are any, and a function of tensors and process groups."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from kopt.analysis.entry import entry_function
from kopt.analysis.groups import groups_of
from kopt.dialects import triton
from kopt.dialects.host import PartitionOp
from kopt.lowering.host.torch_calls import HANDLERS as HOST
from kopt.lowering.host.torch_calls import HostFunction
from kopt.lowering.names import Names
from kopt.lowering.torch.collectives import HANDLERS as COLLECTIVES
from kopt.lowering.torch.partitions import HELPER, print_partition
from kopt.lowering.triton.module import kernel_names, print_kernels, printer_of
from kopt.lowering.writer import Writer

#: What a program may import besides torch, each where the name is used.
_IMPORTS = {
    "dist": "import torch.distributed as dist",
    "symm_mem": "from torch.distributed import _symmetric_memory as symm_mem",
}
#: The names of a program besides.
_RESERVED = (*_IMPORTS, "Captured")

#: How each operation of a program is printed.
HANDLERS = {**HOST, **COLLECTIVES, PartitionOp: print_partition}


class ProgramPrinter(HostFunction):
    """The state of printing a host program: names, those of process groups too, and what makes ids its own.

    ``runs`` are the texts of its captured runs.
    """

    def __init__(
        self,
        func: FuncOp,
        writer: Writer,
        kernels: Mapping[triton.LaunchOp, str],
        arguments: Sequence[SSAValue] | None = None,
    ):
        arguments = func.body.block.args if arguments is None else arguments
        super().__init__(arguments, writer, printer_of(kernels), HANDLERS, (*_RESERVED, *kernels.values()))
        self.groups = {group: self.names.fresh(group, "group") for group in groups_of(func)}
        self.runs: list[str] = []
        self._func, self._kernels = func, kernels
        self._text = str(func)

    def add_run(self, op: PartitionOp, arguments: Sequence[SSAValue], written: Sequence[int]) -> str:
        """Prints a captured run as a function of arrays and groups of its own; the name of what replays it."""
        name = self.names.fresh(f"{self._func.sym_name.data}_{len(self.runs)}")
        function, writer = self.names.fresh(f"run_{name}"), Writer()
        run = ProgramPrinter(self._func, writer, self._kernels, arguments)
        with writer.block(f"def {function}({', '.join([*run.parameters, *run.groups.values()])}):"):
            for inner in op.body.block.ops:
                run.print(inner)
            if op.outputs:
                writer.line(f"return {', '.join(run.names[value] for value in op.yielded)}")
        which = f", {tuple(written)}" if written else ""
        self.runs.append(f"{writer.text()}\n\n{name} = Captured({function}{which})\n")
        return name

    def alloc_id(self, id: str) -> int:
        """The number of a persistent array: the same on all ranks and in every run, another in any other program."""
        digest = hashlib.sha256(f"{self._text}\n{id}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1


def print_module(module: ModuleOp, entry: str) -> str:
    """The Python text of a host function; needs torch only, and Triton where it launches kernels.

    The function takes its tensors in order, and the process group of each of its groups by name. All that it does has
    a form in torch: ``verify-host`` has seen to that, and ``verify-triton`` where it launches kernels.
    """
    func = entry_function(module, entry)
    names = Names((*_RESERVED, "torch", "triton", "tl"))
    public = names.public(entry)
    kernels = kernel_names(func, names)
    text = _program_text(func, public, kernels)
    writer = Writer()
    writer.line("import torch")
    writer.lines(line for name, line in _IMPORTS.items() if re.search(rf"(?<!\.)\b{name}\.", text))
    if kernels:
        writer.lines(["import triton", "import triton.language as tl"])
        print_kernels(writer, kernels, names)
    writer.lines(["", "", *text.splitlines()])
    return writer.text()


def _program_text(func: FuncOp, name: str, kernels: Mapping[triton.LaunchOp, str]) -> str:
    """The function, below its captured runs."""
    writer = Writer()
    program = ProgramPrinter(func, writer, kernels)
    parameters = [*program.parameters, *(["*", *program.groups.values()] if program.groups else [])]
    with writer.block(f"def {name}({', '.join(parameters)}):"):
        program.print_extents()
        for op in func.body.block.ops:
            program.print(op)
    runs = [HELPER.strip("\n") + "\n", *program.runs] if program.runs else []
    return "\n\n".join([*runs, writer.text()])
