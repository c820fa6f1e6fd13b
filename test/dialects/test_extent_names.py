"""Which extent each ``?`` of a text is: those that it names, and arguments' own where it does not."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.func import FuncOp

from kopt.dialects.tile.extent_names import bind_extents, has_extents, name_extents, unnamed
from kopt.open_extents import OpenExtent, is_open
from kopt.parsing import parse_module
from test.named import named, only

TEXT = """
func.func @f(%x: memref<?x64xf32>, %y: memref<8x?xf32>){names} {{
  %out = host.alloc{own} : memref<?x64xf32>
  func.return
}}
"""


def parsed(names: str = "", own: str = ""):
    def attribute(text: str) -> str:
        return "" if not text else " {tile.extents = [" + ", ".join(f'"{name}"' for name in text.split()) + "]}"

    return parse_module(TEXT.format(names=" attributes" + attribute(names) if names else "", own=attribute(own)))


def extents(module) -> list[object]:
    """The names of the extents of arguments and results, and where there is none, the number."""
    func = only(module, FuncOp)
    values = [*func.body.block.args, *(result for op in func.body.block.ops for result in op.results)]
    return [
        extent.name if isinstance(extent, OpenExtent) else "?" if extent == DYNAMIC_INDEX else extent
        for value in values
        for extent in value.type.get_shape()
    ]


@pytest.mark.parametrize(
    ("names", "own", "found"),
    [
        ("", "x.size(0)", ["x.size(0)", 64, 8, "y.size(1)", "x.size(0)", 64]),
        ("n n", "n", ["n", 64, 8, "n", "n", 64]),
        ("n m", "m", ["n", 64, 8, "m", "m", 64]),
        ("n m", "other", ["n", 64, 8, "m", "other", 64]),
    ],
)
def test_names_are_extents(names: str, own: str, found: list[object]) -> None:
    module = parsed(names, own)
    bind_extents(module)
    assert extents(module) == found and has_extents(module)
    func = only(module, FuncOp)
    assert [type.get_shape() for type in func.function_type.inputs] == [
        argument.type.get_shape() for argument in func.body.block.args
    ]
    # One name is one extent, and text that names them has the same ones.
    by_name: dict[str, object] = {}
    for value in named(module).values():
        for extent in value.type.get_shape():
            assert not is_open(extent) or by_name.setdefault(extent.name, extent) is extent
    name_extents(func)
    again = parse_module(str(module))
    assert str(again) == str(module)


def test_results_of_which_nothing_is_said_are_not_bound() -> None:
    module = parsed("n m")
    func = only(module, FuncOp)
    alloc = func.body.block.first_op
    assert unnamed(func) is alloc
    bind_extents(module)
    assert "?" in extents(module)
    assert unnamed(only(parsed("n m", "n"), FuncOp)) is None


def test_extents_that_are_known_are_taken() -> None:
    module, known = parsed("n m", "n"), OpenExtent("n", 5, 16, 48)
    bind_extents(module, [known])
    assert named(module)["x"].type.get_shape()[0] is known and named(module)["out"].type.get_shape()[0] is known
    other = named(module)["y"].type.get_shape()[1]
    assert (other.name, other.multiple, other.now) == ("m", 1, 1024)


def test_what_extents_have_at_least() -> None:
    module = parsed("n n", "n")
    bind_extents(module, least=lambda shape, dim: 7 if dim == 1 else 3)
    assert named(module)["x"].type.get_shape()[0].least == 7


def test_a_module_of_numbers_has_none() -> None:
    module = parse_module("func.func @f(%x: memref<8xf32>) {\n  func.return\n}")
    assert not has_extents(module) and unnamed(only(module, FuncOp)) is None
