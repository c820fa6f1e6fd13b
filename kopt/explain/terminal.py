"""The terminal's form of an explanation: a table of the passes, what they said, and the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kopt.explain.drawings.amounts import count, size
from kopt.explain.plan_view import COSTS

#: How all tables look.
_PLAIN: dict[str, Any] = {"title_justify": "left", "box": None, "pad_edge": False}
_SEVERITIES = {"error": "bold red", "warning": "yellow", "remark": "cyan", "note": "dim"}
#: What is said of a stage, by its status.
_STATUSES = {"import": "", "changed": "", "unchanged": "dim", "refused": "bold red"}


def show(data: Mapping[str, Any], console: Console | None = None) -> None:
    """Prints it, in colours where the terminal has some."""
    (console or Console(highlight=False)).print(Group(*_parts(data)))


def _parts(data: Mapping[str, Any]) -> Iterator[RenderableType]:
    kernel = data["kernel"]
    sizes = "" if kernel["block_sizes"] is None else f", block sizes {kernel['block_sizes']}"
    yield Text(f"{kernel['signature']} for {kernel['target']}{sizes}", "bold")
    yield _passes(data)
    for launch in data["plan"]["launches"]:
        yield _buffers(launch)
        yield _costs(launch)
    if data["no_values"]:
        yield Text(f"no values: {data['no_values']}", "dim")


def _passes(data: Mapping[str, Any]) -> Table:
    """Each pass that changed or said something."""
    table = Table("pass", "lines", "what it said", **_PLAIN)
    quiet = 0
    for stage in data["stages"]:
        if stage["status"] == "unchanged" and not stage["remarks"]:
            quiet += 1
            continue
        lines = f"+{stage['added']} -{stage['removed']}" if stage["added"] or stage["removed"] else ""
        said = [Text(_said(data, one), _SEVERITIES.get(one["severity"], "")) for one in stage["remarks"]]
        if stage["verdict"]:
            said.append(Text(stage["verdict"]["text"]))
        table.add_row(Text(stage["name"], _STATUSES[stage["status"]]), lines, Text("\n").join(said))
    table.add_row(Text(f"{quiet} passes changed nothing", "dim"), "", "")
    return table


def _said(data: Mapping[str, Any], remark: Mapping[str, Any]) -> str:
    if remark["place"] is None:
        return f"{remark['severity']}: {remark['message']}"
    source, line, column = data["places"][remark["place"]]
    return f"{data['sources'][source]['file']}:{line}:{column}: {remark['severity']}: {remark['message']}"


def _buffers(launch: Mapping[str, Any]) -> Table:
    table = Table("buffer", "array", "block", "bytes", title=f"plan of {launch['name']}", **_PLAIN)
    arrays = {one["name"]: f"{one['dtype']}[{','.join(one['shape'])}]" for one in launch["operands"]}
    for one in launch["buffers"]:
        block = "not known" if one["block"] is None else " x ".join(map(str, one["block"]))
        table.add_row(Text(one["text"]), Text(arrays.get(one["operand"], "")), block, size(one["bytes"]))
    return table


def _costs(launch: Mapping[str, Any]) -> Table:
    table = Table("item", "by kopt's model", **_PLAIN)
    cost = launch["cost"]
    for axis in launch["axes"]:
        table.add_row(Text(f"blocks of {axis['name']}"), f"{count(axis['trips'])} of {count(axis['size'])}")
    for key, name, said in COSTS:
        if cost[key] is not None:
            table.add_row(name, said(cost[key]))
    return table
