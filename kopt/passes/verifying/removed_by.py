"""Which pass removes an operation, for lowerings that meet it: what is missing in a pipeline is named."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from kopt.diagnostics import Problem

#: The pass after which no operation of a name, or of a dialect, is left, by the family whose code is printed.
REMOVED_BY: Mapping[str, Mapping[str, str]] = {
    "pallas": {
        "symm.all_reduce": "expand-collectives",
        "tile.grid": "functionalise-host",
        "host.copy": "functionalise-host",
        "host.launch": "bind-buffers",
        "tile.block_size": "fold-block-sizes",
        "tile.valid_count": "fold-block-sizes",
        "tile.valid_lanes": "resolve-validity",
        "pallas.fetch": "realise-dmas",
        "pallas.send": "realise-dmas",
    },
    "triton": {
        "jagged": "lower-jagged",
        "symm.all_reduce": "symm-to-dps",
        "symm.all_gather": "symm-to-dps",
        "symm.reduce_scatter": "symm-to-dps",
        "symm.all_to_all": "symm-to-dps",
        "tile.grid": "convert-tile-to-triton",
        "tile.slice": "convert-slices-to-gathers",
        "tile.dynamic_slice": "convert-slices-to-gathers",
        "tile.concat": "convert-slices-to-gathers",
        "tile.block_size": "fold-block-sizes",
        "tile.valid_count": "fold-block-sizes",
        "tile.valid_lanes": "resolve-validity",
    },
}


def formless(op: Operation, family: str, message: str) -> Problem:
    """What is said of an operation that has no form: the pass that should have removed it, else ``message``."""
    table = REMOVED_BY[family]
    dialect = op.name.partition(".")[0]
    if (name := table.get(op.name) or table.get(dialect)) is None:
        return Problem(op, message, id="no-form")
    note = f"a target's whole pipeline does so: {family}-{_EXAMPLE[family]}, among those of --show-pipelines"
    return Problem(op, f"{message}: run {name} first", (note,), id="pass-order")


_EXAMPLE = {"pallas": "v6e", "triton": "sm90"}
