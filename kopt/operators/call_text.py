"""The function of one kind of call that ``torch.compile`` follows: a text of names of constants and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kopt.operators.definition import Operator
from kopt.operators.structure import Structure
from kopt.runtime.results import Constant, FromArgument, FromResult


def call_function(
    operator: Operator, structure: Structure, given: dict[str, Any], operands: list[Any], recorded: bool
) -> Callable[..., Any]:
    """The function of a call's arguments that Dynamo follows: the operator, and what the kernel returns.

    ``given`` are the expressions of the parameters; those that have none are defaults. ``recorded`` says whether
    autograd records the call.
    """
    text = _Text({"operator": operator.differentiated if recorded else operator.overload}, operands)
    for name, item in operator.form.tree:
        text.place(item, given.get(name))
    places = [text.places[number] for number in range(len(operands))]
    tensors = [x for x, operand in zip(places, operator.form.operands, strict=True) if operand.is_tensor]
    arguments = [*tensors, *map(text.constant, structure.hidden)]
    count = len(structure.specs)
    outputs = ["result"] if count == 1 else [f"result[{number}]" for number in range(count)]
    value = text.tree(structure.results.tree, outputs, arguments)
    lines = [
        f"def make({', '.join(text.names)}):",
        " def call(args, kwargs):",
        f"  result = operator({', '.join(places)})",
        f"  return {value}",
        " return call",
    ]
    space: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<kopt call>", "exec"), space)
    return space["make"](*text.names.values())


class _Text:
    """The text of a function under way: the constants that it names, and where its operands are."""

    def __init__(self, names: dict[str, Any], operands: list[Any]):
        self.names = names
        self.operands = operands
        self.places: dict[int, str] = {}

    def constant(self, value: Any) -> str:
        """A name for a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def place(self, item: Any, x: Any) -> None:
        """Notes the operands in a parameter of which ``x`` is the expression, or those of its items."""
        if hasattr(item, "number"):
            self.places[item.number] = self.constant(self.operands[item.number]) if x is None else x
        elif isinstance(item, dict | list | tuple):
            for key, part in item.items() if isinstance(item, dict) else enumerate(item):
                deeper = f"{x}[{self.constant(key)}]" if isinstance(x, str) else x and x[key]
                self.place(part, deeper)

    def tree(self, tree: Any, outputs: list[str], arguments: list[str]) -> str:
        """The expression of a value that is built of results and arguments."""
        if isinstance(tree, FromResult):
            return outputs[tree.number]
        if isinstance(tree, FromArgument):
            return arguments[tree.number]
        if isinstance(tree, Constant):
            return self.constant(tree.value)
        if isinstance(tree, dict):
            pairs = [f"{self.constant(key)}: {self.tree(item, outputs, arguments)}" for key, item in tree.items()]
            return f"{{{', '.join(pairs)}}}"
        items = "".join(f"{self.tree(item, outputs, arguments)}, " for item in tree)
        if hasattr(tree, "_fields"):
            return f"{self.constant(type(tree))}({items})"
        return f"[{items}]" if isinstance(tree, list) else f"({items})"
