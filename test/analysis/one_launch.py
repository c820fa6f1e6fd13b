"""A function of one launch from the body of its grid: arrays by name, those written last."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from kopt import parse
from kopt.analysis.buffer_kinds import PlacedArray
from kopt.analysis.windows import windows
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp, GridOp
from kopt.walk import walk
from test.named import named, only


@dataclass(frozen=True)
class OneLaunch:
    """A parsed launch."""

    module: ModuleOp

    @property
    def launch(self) -> LaunchOp:
        return only(self.module, LaunchOp)

    @property
    def grid(self) -> GridOp:
        return only(self.module, GridOp)

    @property
    def loops(self) -> list[ForOp]:
        return walk(self.grid, ForOp)

    @property
    def values(self) -> dict[str, SSAValue]:
        """What is in the launch by the names there."""
        args = {arg.name_hint: arg for arg in self.launch.body.block.args if arg.name_hint}
        return {**args, **named(self.launch)}

    def __getitem__(self, name: str):
        """The operation that makes a value."""
        return self.values[name].owner

    def place(self, name: str, **more) -> PlacedArray:
        """An array of the launch, by its name there."""
        args = self.launch.body.block.args
        number = args.index(self.values[name])
        return PlacedArray(self.launch, self.grid, number, windows(self.grid, args)[args[number]], **more)


def one_launch(body: str, grid: str = "(%i: b0=8) in (64)", writes: str = "", **arrays: str) -> OneLaunch:
    """``arrays`` are shapes and element types, ``x="64x256xf32"``; ``writes`` names those that the launch writes."""
    written = sorted(writes.split(), key=[*arrays].index)
    numbers = ", ".join(str([*arrays].index(name)) for name in written)
    types = {name: f"memref<{array}>" for name, array in arrays.items()}
    results = ", ".join(types[name] for name in written)
    given = "".join(f"%res{':' + str(len(written)) if len(written) > 1 else ''} = " if written else "")
    text = f"""
func.func @f({", ".join(f"%{name}_given: {type}" for name, type in types.items())}) {{
  {given}host.launch @f ({", ".join(f"%{name} = %{name}_given" for name in types)}) writes [{numbers}]
      : ({", ".join(types.values())}) -> {results if len(written) == 1 else f"({results})"} {{
    tile.grid {grid} {{
      {body}
    }}
  }}
  func.return
}}
"""
    return OneLaunch(parse(text))
