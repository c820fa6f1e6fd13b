"""Steps of cells as data: sizes come later, and loops are found wherever they stand."""

from __future__ import annotations

from kopt.ir.polynomial import parameter, substituted
from kopt.ir.register_code import Nest, RegisterCode, Shape, Step, nests_of

b = parameter("b")


def test_sizes_change_shapes_alone() -> None:
    code = RegisterCode((Step("read", (0,), shapes=(0,)),), (Shape((b, 128), 16), Shape((8, b))))
    sized = code.sized(lambda size: substituted(size, {"b": 64}))
    assert sized.shapes == (Shape((64, 128), 16), Shape((8, 64), 32))
    assert sized.steps is code.steps and hash(sized) != hash(code)


def test_loops_in_loops_come_after_them() -> None:
    inner = Nest((), tag="k")
    outer = Nest((Step("compute"), Step("loop", nest=inner)), tag="j")
    condition = Nest((Step("write"),))
    steps = (Step("loop", nest=outer), Step("write"), Step("region", nest=condition))
    assert [nest.tag for nest in nests_of(steps)] == ["j", "k", ""]
