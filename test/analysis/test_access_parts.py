"""What has to run to know where a function's accesses go: known at import, the same in each call, or from data."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.access_parts import AccessPart, computed_part, fixed_part, visible_part
from test.named import named, only

TEXT = """
func.func @f(%x: memref<100xf32>, %rows: memref<100xi32>, %go: memref<1xi1>) {{
  tile.grid (%i: b0=4) in (100) {{
    %r = tile.load %rows[%i] : memref<100xi32> -> !tile.tile<b0=4 x i32>
    %n = tile.index %i : !tile.range<b0=4>
    %one = tile.full 1 : !tile.tile<b0=4 x i32>
    %next = tile.add %n, %one : !tile.tile<b0=4 x i32>
    %z = tile.full 0.0 : !tile.tile<b0=4 x f32>
    {body}
  }}
  func.return
}}
"""
LOAD = "%v = tile.load %x[{}] : memref<100xf32> -> !tile.tile<b0=4 x f32>"
STORE = "tile.store %z, %x[{}] : !tile.tile<b0=4 x f32>, memref<100xf32>"


class Parts:
    """The parts of one function."""

    def __init__(self, *body: str):
        module = parse(TEXT.format(body="\n".join(body)))
        self.func, self.values = only(module, FuncOp), named(module)

    def located(self, part: AccessPart) -> set[str]:
        """The indices of what a part locates, by their names."""
        return {str(index.name_hint) for op in part.part.located for index in op.operands if index.name_hint != "x"}

    def ask(self) -> tuple[set[str], set[str], set[str]]:
        return tuple(
            map(self.located, (visible_part(self.func, 1000), fixed_part(self.func), computed_part(self.func)))
        )  # pyright: ignore


@pytest.mark.parametrize("body", [(), (LOAD.format("%i"),), (LOAD.format("%i"), STORE.format("%i"))])
def test_of_most_functions_nothing_is_left(body: tuple[str, ...]) -> None:
    func = Parts(*body).func
    assert not visible_part(func, 1000) and not fixed_part(func) and not computed_part(func)


def test_places_that_shapes_tell_are_fixed() -> None:
    """The last lane reads behind the array."""
    assert Parts(LOAD.format("%next")).ask() == ({"next"}, {"next"}, set())


def test_places_that_data_tell_are_computed() -> None:
    visible, fixed, computed = Parts(LOAD.format("%r")).ask()
    assert (fixed, computed) == (set(), {"r"})
    found = visible_part(Parts(LOAD.format("%r")).func, 1000)
    assert found.part.assumed or not visible


def test_a_mask_that_data_tell_makes_an_access_computed() -> None:
    mask = "%m = tile.lt %r, %one : !tile.tile<b0=4 x i32>"
    load = LOAD.format("%next").replace("] :", "] mask %m :")
    visible, fixed, computed = Parts(mask, load).ask()
    assert (visible, fixed, computed) == (set(), set(), {"next", "m"})


def test_so_does_a_branch() -> None:
    body = (
        "%s = tile.load %go[0] : memref<1xi1> -> !tile.tile<i1>\n%c = tile.extract %s : !tile.tile<i1> to i1",
        f"scf.if %c {{\n{LOAD.format('%next')}\n}}",
    )
    assert Parts(*body).ask() == (set(), set(), {"next"})


def test_cells_that_share_an_array_are_watched() -> None:
    """Each reads what the next one writes."""
    parts = Parts(LOAD.format("%next"), STORE.format("%i"))
    x = parts.values["next"].owner.parent.parent_op().parent.args[0]  # pyright: ignore
    assert computed_part(parts.func).watched == {x} == visible_part(parts.func, 100).watched
    assert visible_part(parts.func, 99).watched == frozenset()
    assert fixed_part(parts.func).watched == frozenset()
    assert computed_part(parts.func).part.located or computed_part(parts.func).part.run


def test_nothing_to_run_is_false() -> None:
    assert not AccessPart(fixed_part(Parts().func).part)
    assert bool(fixed_part(Parts(LOAD.format("%next")).func))
