"""IR of updates of computed rows, made from a few words each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """Rows ``%n`` of an array of ``shape`` combine with ``updates`` values, in blocks; of rank 1: elements.

    ``what`` is a kind of `atomic.rmw`, ``cas`` or ``store``. ``ordered`` where one cell holds all updates, so that
    previous values and last lanes are the reference's.
    """

    what: str = "add"
    dtype: str = "f32"
    shape: tuple[int, ...] = (37, 200)
    updates: int = 250
    index: str = "i32"
    block: int = 64
    columns: int = 128
    masked: bool = False
    previous: bool = False

    @property
    def text(self) -> str:
        """The module: ``f(idx, v, [e,] [m,] out, [seen])``."""
        flat = len(self.shape) == 1
        lanes = f"b0={self.block}" if flat else f"b0={self.block} x b1={self.columns}"
        tile, place = f"!tile.tile<{lanes} x {self.dtype}>", "%i" if flat else "%i, %j"
        extent = f"{self.updates}" if flat else f"{self.updates}x{self.shape[1]}"
        values = f"memref<{extent}x{self.dtype}>"
        out = f"memref<{'x'.join(map(str, self.shape))}x{self.dtype}>"
        rows = "%n" if flat else "%n, %j"
        grid = f"(%i: b0={self.block}" + ("" if flat else f", %j: b1={self.columns}") + ")"
        extents = f"({self.updates}" + ("" if flat else f", {self.shape[1]}") + ")"
        arguments = [f"%idx: memref<{self.updates}x{self.index}>", f"%v: {values}"]
        numbers = f"memref<{self.updates}x{self.index}> -> !tile.tile<b0={self.block} x {self.index}>"
        body = [
            f"%n = tile.load %idx[%i] : {numbers}",
            f"%a = tile.load %v[{place}] : {values} -> {tile}",
        ]
        if self.what == "cas":
            arguments.append(f"%e: {values}")
            body.append(f"%b = tile.load %e[{place}] : {values} -> {tile}")
        mask = ""
        if self.masked:
            arguments.append(f"%m: memref<{extent}xi1>")
            body.append(f"%k = tile.load %m[{place}] : memref<{extent}xi1> -> !tile.tile<{lanes} x i1>")
            mask = " mask %k"
        arguments.append(f"%out: {out}")
        result = "%old = " if self.previous or self.what == "cas" else ""
        arrow = f" -> {tile}" if self.previous and self.what != "cas" else ""
        op = {"store": "tile.store %a", "cas": "atomic.cas %b, %a"}.get(self.what, f"atomic.rmw {self.what} %a")
        body.append(f"{result}{op}, %out[{rows}]{mask} : {tile}, {out}{arrow}")
        if self.previous:
            arguments.append(f"%seen: {values}")
            body.append(f"tile.store %old, %seen[{place}]{mask} : {tile}, {values}")
        lines = "\n    ".join(body)
        return (
            f"func.func @f({', '.join(arguments)}) {{\n"
            f"  tile.grid {grid} in {extents} {{\n    {lines}\n  }}\n  func.return\n}}\n"
        )


CASES = {
    "scatter_add": Case(),
    "scatter_add_bf16": Case(dtype="bf16", shape=(40, 96), columns=96),
    "scatter_add_f16": Case(dtype="f16", shape=(33, 128), updates=70),
    "scatter_add_i32": Case(dtype="i32", shape=(9, 130)),
    "scatter_add_masked": Case(masked=True, index="i64"),
    "many_rows": Case(shape=(700, 128), updates=100),
    "segment_max": Case("max", shape=(20, 64), columns=64),
    "segment_max_bf16": Case("max", "bf16", shape=(20, 130)),
    "segment_min_i8": Case("min", "i8", shape=(20, 128)),
    "bits": Case("xor", "i32", shape=(20, 128), masked=True),
    "histogram": Case("add", "i32", shape=(37,)),
    "histogram_f32": Case("add", "f32", shape=(300,), masked=True),
    "histogram_i8_max": Case("max", "i8", shape=(300,), index="i64"),
    "large_histogram": Case("add", "i32", shape=(5000,), updates=200),
    "tickets": Case("add", "i32", shape=(37,), block=256, previous=True),
    "tickets_bf16": Case("add", "bf16", shape=(37,), block=256, previous=True, masked=True),
    "exchanged": Case("xchg", "f32", shape=(37, 200), updates=50, previous=True),
    "compared": Case("cas", "i32", shape=(200,), updates=60, previous=True),
    "compared_rows": Case("cas", "f32", shape=(20, 72), updates=60, columns=128, masked=True, previous=True),
    "stored": Case("store", "f32", shape=(37, 200), updates=60, masked=True),
    "stored_elements": Case("store", "bf16", shape=(300,), updates=60),
    "narrow_blocks": Case(shape=(37, 130), updates=60, columns=64, masked=True),
    "stored_in_narrow_blocks": Case("store", "bf16", shape=(37, 130), updates=60, columns=64),
    "one_row": Case(shape=(1, 1), updates=3, block=8, columns=128),
    "one_element": Case("max", "f32", shape=(1,), updates=3, block=8),
}
