"""Steps of cells as data: sizes come later, and loops are found wherever they stand."""

from __future__ import annotations

from kopt.ir.polynomial import parameter, substituted
from kopt.ir.register_code import Nest, RegisterCode, RegisterShape, RegisterStep, nests_of

b = parameter("b")


def test_sizes_change_shapes_alone() -> None:
    code = RegisterCode(
        (RegisterStep("read", (0,), shapes=(0,)),), (RegisterShape((b, 128), 16), RegisterShape((8, b)))
    )
    sized = code.sized(lambda size: substituted(size, {"b": 64}))
    assert sized.shapes == (RegisterShape((64, 128), 16), RegisterShape((8, 64), 32))
    assert sized.steps is code.steps and hash(sized) != hash(code)


def test_loops_in_loops_come_after_them() -> None:
    inner = Nest((), tag="k")
    outer = Nest((RegisterStep("compute"), RegisterStep("loop", nest=inner)), tag="j")
    condition = Nest((RegisterStep("write"),))
    steps = (RegisterStep("loop", nest=outer), RegisterStep("write"), RegisterStep("region", nest=condition))
    assert [nest.tag for nest in nests_of(steps)] == ["j", "k", ""]
