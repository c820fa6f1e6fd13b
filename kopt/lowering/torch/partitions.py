"""How captured runs are printed: a function of the arrays that they use, captured and replayed by a helper class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xdsl.dialects.arith import ConstantOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed, root
from kopt.dialects.host import PartitionOp
from kopt.lowering.host.torch_calls import print_inline
from kopt.walk import walk

if TYPE_CHECKING:
    from kopt.lowering.torch.module import ProgramPrinter

#: Emitted once, above the runs of a program that has any.
HELPER = '''
class Captured:
    """A run of device work, captured in a CUDA graph at its first call and replayed in later ones.

    On a CPU it just runs. ``static`` arrays are at the same addresses in every call. ``given`` ones are copied to where
    the capture found them, and those numbered in ``written`` back.
    """

    def __init__(self, run, written=()):
        self.run, self.written, self.graphs = run, written, {}

    def __call__(self, static, given, groups):
        if not any(array.is_cuda for array in (*static, *given)):
            return self.run(*static, *given, *groups)
        key = (*(array.data_ptr() for array in static), *groups)
        if key not in self.graphs:
            self.graphs[key] = self.capture(static, given, groups)
        graph, inputs, outputs = self.graphs[key]
        for inside, outside in zip(inputs, given):
            inside.copy_(outside)
        graph.replay()
        for number in self.written:
            given[number].copy_(inputs[number])
        return outputs

    def capture(self, static, given, groups):
        inputs = [array.clone() for array in given]
        before = [array.clone() for array in static]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # once outside of the graph: kernels are compiled, libraries set up
            self.run(*static, *inputs, *groups)
        torch.cuda.current_stream().wait_stream(stream)
        for array, saved in zip(static, before):
            array.copy_(saved)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = self.run(*static, *inputs, *groups)
        return graph, inputs, outputs
'''


def print_partition(program: ProgramPrinter, op: PartitionOp) -> None:
    """The call of a captured run, whose function is printed above; inline where copies of its arrays would not do."""
    static, given = list(dict.fromkeys(op.static)), given_to(op)
    if _share_what_is_written(op, given):
        print_inline(program, op)
        return
    name = program.add_run(op, [*static, *given], _written(op, given))
    call = f"{name}({_tuple(program, static)}, {_tuple(program, given)}, ({_listed(program.groups.values())}))"
    results = [program.names.bind(value, value.name_hint or "array") for value in op.outputs]
    program.writer.line(f"{', '.join(results)} = {call}" if results else call)


def given_to(op: PartitionOp) -> list[SSAValue]:
    """The arrays from outside that the run uses and that may be elsewhere in every call, in order of first use."""
    used = dict.fromkeys(value for inner in walk(op) if inner is not op for value in inner.operands)
    return [value for value in used if value not in op.static and _is_outside(op, value)]


def _is_outside(op: PartitionOp, value: SSAValue) -> bool:
    owner = value.owner
    within = owner if isinstance(owner, Operation) else owner.parent_op()
    return not (within is not None and op.is_ancestor(within) or isinstance(owner, ConstantOp))


def _written(op: PartitionOp, given: list[SSAValue]) -> list[int]:
    written = {root(value) for value in accessed(op, MemoryEffectKind.WRITE)}
    return [number for number, value in enumerate(given) if root(value) in written]


def _share_what_is_written(op: PartitionOp, given: list[SSAValue]) -> bool:
    """Whether two of the arrays are views of one that the run writes: copies of each would not see that."""
    roots = [root(value) for value in given]
    return any(roots.count(roots[number]) > 1 for number in _written(op, given))


def _tuple(program: ProgramPrinter, values: list[SSAValue]) -> str:
    return f"({_listed(program.names[value] for value in values)})"


def _listed(names: Iterable[str]) -> str:
    """``a, b`` or ``a,``: what stands between the parentheses of a tuple."""
    texts = list(names)
    return f"{texts[0]}," if len(texts) == 1 else ", ".join(texts)
