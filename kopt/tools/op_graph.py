"""A module as a graph in graphviz' language, as mlir-opt's ``view-op-graph`` draws it: ``kopt … | dot -Tsvg``.

Operations are boxes with an edge from whoever defines each operand; a region is a box around its operations, and the
arguments of a block are ellipses in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

#: Characters of a label, at most.
_LONGEST = 40


def op_graph(module: ModuleOp) -> str:
    """The DOT text of a module, ending in a newline."""
    return "\n".join(_Graph().lines(module)) + "\n"


class _Graph:
    """Gives nodes numbers, in the order of the program."""

    def __init__(self) -> None:
        self._nodes: dict[SSAValue | Operation, str] = {}
        self._edges: list[str] = []
        self._clusters = 0

    def lines(self, module: ModuleOp) -> Iterator[str]:
        """The lines of the graph."""
        yield "digraph G {"
        yield "  compound = true;"
        yield '  node [shape = box, fontname = "monospace"];'
        yield from self._op(module, "  ")
        yield from (f"  {edge}" for edge in self._edges)
        yield "}"

    def _op(self, op: Operation, indent: str) -> Iterator[str]:
        if not op.regions:
            yield f"{indent}{self._node(op)} [label = {_quoted(_label(op))}];"
            self._connect(op)
            return
        self._clusters += 1
        yield f"{indent}subgraph cluster_{self._clusters} {{"
        inner = f"{indent}  "
        yield f"{inner}label = {_quoted(_label(op))};"
        if op.operands or op.results:  # an edge needs a node
            yield f"{inner}{self._node(op)} [shape = plain, label = {_quoted(op.name)}];"
            self._connect(op)
        for region in op.regions:
            yield from self._region(region, inner)
        yield f"{indent}}}"

    def _region(self, region: Region, indent: str) -> Iterator[str]:
        for block in region.blocks:
            for argument in block.args:
                yield f"{indent}{self._node(argument)} [shape = ellipse, label = {_quoted(_value(argument))}];"
            for op in block.ops:
                yield from self._op(op, indent)

    def _node(self, of: SSAValue | Operation) -> str:
        return self._nodes.setdefault(of, f"v{len(self._nodes)}")

    def _connect(self, op: Operation) -> None:
        for operand in op.operands:
            source = operand if isinstance(operand.owner, Block) else operand.owner
            label = f" [label = {_quoted('%' + operand.name_hint)}]" if operand.name_hint else ""
            self._edges.append(f"{self._node(source)} -> {self._node(op)}{label};")


def _label(op: Operation) -> str:
    """An operation's name, its symbol or its results' types."""
    symbol = op.properties.get("sym_name") or op.attributes.get("sym_name")
    lines = [f"{op.name} {symbol}" if symbol is not None else op.name]
    return "\n".join([*lines, *(_short(f": {result.type}") for result in op.results)])


def _value(value: SSAValue) -> str:
    name = value.name_hint or f"arg{getattr(value, 'index', 0)}"
    return _short(f"%{name}: {value.type}")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
