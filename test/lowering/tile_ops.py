"""Kernels of a few operations on loaded tiles, and the lines that they become."""

from __future__ import annotations

import re
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from kopt import parse
from kopt.context import make_context
from kopt.lowering.pallas.module import print_module as print_pallas
from kopt.lowering.triton.module import print_module as print_triton
from kopt.pass_manager import parse_pipeline, run

#: What is loaded where an operation names it.
TILES = {
    "a": "8 x 16 x f32", "b": "8 x 16 x f32", "c": "16 x f32", "d": "16 x 8 x f32", "e": "1 x f32", "s": "f32",
    "h": "8 x 16 x bf16", "g": "8 x 16 x bf16", "f": "8 x 16 x f64", "n": "8 x 16 x i32", "k": "16 x i32",
    "l": "8 x 16 x i64", "t": "8 x 16 x i8", "m": "8 x 16 x i1", "p": "i1", "z": "1 x i1", "q": "i32", "r": "1 x i8",
    "v": "2 x 8 x 16 x f32", "w": "8 x 1 x f32",
}  # fmt: skip


PALLAS = "functionalise-host,eliminate-output-only,insert-masks,plan-accesses,apply-schedule,legalise-element-types,"


def triton_lines(ops: str, result: str) -> list[str]:
    """The lines of a Triton kernel behind what it loads; of the store of ``%o`` what is stored."""
    module, used = _module(ops, result)
    run(module, make_context(), parse_pipeline("convert-tile-to-triton"))
    lines = _plain(print_triton(module, "f").split("def f_0_kernel(")[1].split("\ndef ")[0])
    return [_stored(line) for line in lines[1:] if not re.match(rf"({'|'.join(used) or '-'}) = tl\.load\(x", line)]


def pallas_lines(ops: str, result: str) -> list[str]:
    """The lines of a Pallas kernel behind what it loads; of the store of ``%o`` what is stored."""
    module, used = _module(ops, result)
    run(module, make_context(), parse_pipeline(f"{PALLAS}bind-buffers"))
    lines = _plain(print_pallas(module, "f").split("def f_kernel(")[1].split("\ndef ")[0])
    lines = [re.sub(r"^out_ref\[.*?\] = ", "store ", line) for line in lines[1:]]
    return [line for line in lines if not re.match(rf"({'|'.join(used) or '-'}) = x._ref\[", line)]


def rows(path: Path) -> list[tuple[str, str, str]]:
    """Of a table: operations, the type of what is stored, and the last lines for it."""
    lines = path.read_text().splitlines()[1:]
    return [(ops, *row.strip().split(": ", 1)) for ops, row in zip(lines[::2], lines[1::2], strict=True)]


def is_told(lines: list[str], text: str) -> bool:
    """Whether some lines end as a table says."""
    found = "; ".join(lines).replace("(; ", "(").replace("; )", ")").removesuffix("; store o")
    return found == text or found.endswith(f"; {text}")


def spelt_out(ops: str) -> str:
    """The operations of a table's row, with the names of types."""
    return re.sub(r"(?<=[:,>o] )<", "!tile.tile<", ops).replace(" | ", "\n")


def _module(ops: str, result: str) -> tuple[ModuleOp, list[str]]:
    """A function with a grid of one cell, and the names of the tiles that it loads."""
    used = [name for name in TILES if re.search(rf"%{name}\b", ops)]
    arrays = {name: f"memref<{TILES[name].replace(' ', '')}>" for name in used}
    out = f"memref<{result.replace(' ', '')}>"
    arguments = ", ".join(f"%x{name}: {array}" for name, array in arrays.items())
    loads = [
        f"%{n} = tile.load %x{n}[{_all(TILES[n])}] : {each} -> !tile.tile<{TILES[n]}>" for n, each in arrays.items()
    ]
    store = f"tile.store %o, %out[{_all(result)}] : !tile.tile<{result}>, {out}"
    body = "\n".join([f"%out = host.alloc : {out}", "tile.grid (%i: b0=1) in (1) {", *loads, ops, store, "}"])
    return parse(f"func.func @f({arguments}) -> {out} {{\n{body}\nfunc.return %out : {out}\n}}"), used


def _plain(text: str) -> list[str]:
    """Lines without comments and indentation."""
    lines = [re.sub(r" *# <string>:\d+$", "", line).strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def _stored(line: str) -> str:
    """What is stored, for a store."""
    found = re.match(r"tl\.store\(out(?: \+ (?:\(.*?\]\)|tl\.arange\(0, \d+\)))?, (.*)\)$", line)
    return f"store {found[1]}" if found else line


def _all(type: str) -> str:
    return ", ".join(":" for _ in type.split(" x ")[:-1])
