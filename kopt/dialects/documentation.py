"""What docstrings of ops and types say, as Markdown: for the reference pages and for editors."""

from __future__ import annotations

import inspect
import re
from typing import Any

from xdsl.irdl import OptionalDef, VariadicDef

from kopt.dialects import DIALECTS

#: A line of IR that a docstring shows without indenting it.
_IR_LINE = re.compile(rf"(%[\w.]+(, %[\w.]+)* = )|(({'|'.join(DIALECTS)})\.\w+ .*[:{{(])")


def markdown(doc: str | None) -> str:
    """A docstring as Markdown: indented lines and lines of IR become fenced code."""
    lines: list[str] = []
    in_code = False
    for line in inspect.cleandoc(doc or "").splitlines():
        if line.strip() and (code := _is_code(line, in_code)) != in_code:
            lines += ["", "```mlir"] if code else ["```", ""]
            in_code = code
        lines.append(line.removeprefix("    ") if in_code else line)
    text = "\n".join([*lines, "```"] if in_code else lines)
    return re.sub(r"\n\n+```(?=\n|$)", "\n```", re.sub(r"\n{3,}", "\n\n", text)).strip()


def _is_code(line: str, in_code: bool) -> bool:
    return line.startswith("    ") or bool(_IR_LINE.match(line)) or (in_code and line[0] in " }")


def summary(doc: str | None) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join(inspect.cleandoc(doc or "").split("\n\n")[0].split())


def parts_of(op: Any) -> str:
    """Operands, properties, regions and results of an op's class, by the names that Python code uses."""
    definition = op.get_irdl_definition()
    groups = {
        "operands": definition.operands,
        "properties": [item for item in definition.properties.items() if item[0] != "operandSegmentSizes"],
        "regions": definition.regions,
        "results": definition.results,
    }
    listed = [f"{title}: {', '.join(_part(*item) for item in items)}" for title, items in groups.items() if items]
    return f"*{'; '.join(listed)}*" if listed else ""


def _part(name: str, definition: Any) -> str:
    many = isinstance(definition, VariadicDef) and not isinstance(definition, OptionalDef)
    optional = isinstance(definition, OptionalDef) or type(definition).__name__.startswith("Opt")
    return f"`{name}`" + ("…" if many else " (optional)" if optional else "")
