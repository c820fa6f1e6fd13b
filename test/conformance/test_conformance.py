"""Every call of the table, in every dtype and shape class, on every target, beside torch."""

from __future__ import annotations

import pytest

from .kernels import Inputs, expected, refused, refused_by_compiler, run
from .table import ARITHMETIC, COMPARISONS, GROUPS, MOMENTS, REDUCTIONS, SHAPES, SIGNS, TARGETS, Group, refusal

#: Sizes that divide no block, by form.
RAGGED = {"lanes": (13, 37), "rows": (5, 6, 9), "whole": (6, 9)}
#: One dimension, sizes of 1, no elements.
OTHERS = {"lanes": [(37,), (1,), (1, 5), (5, 1), (0, 4), (0,)], "rows": [(1, 6, 9), (0, 6, 9)]}
#: What stands for its like where each shape costs a compilation.
SAMPLES = (SIGNS, ARITHMETIC, COMPARISONS, REDUCTIONS, MOMENTS, SHAPES)


def _mode(target: str) -> str:
    return target if target == "reference" else f"{target}:interpret"


def _cases() -> list[object]:
    each = [(group, dtype, target) for target in TARGETS for group in GROUPS for dtype in group.dtypes]
    return [pytest.param(*case, id=f"{case[0].title}-{case[1]}-{case[2]}", marks=_marks(*case[1:])) for case in each]


def _marks(dtype: str, target: str) -> tuple[pytest.MarkDecorator, ...]:
    """XLA compiles each kernel: the dtypes beside the main ones wait for the long run."""
    return (pytest.mark.slow,) if target == "pallas" and dtype not in ("f32", "bf16", "i32", "bool") else ()


def _check(group: Group, dtype: str, target: str, shape: tuple[int, ...], folder) -> None:
    calls = [call for call in group.calls if refusal(target, call, dtype) is None]
    if calls:
        problems = run(group, calls, Inputs.of(group.domain, dtype, shape), _mode(target), folder)
        assert not problems, "\n".join(problems)


@pytest.mark.parametrize(("group", "dtype", "target"), _cases())
def test_calls(group: Group, dtype: str, target: str, tmp_path) -> None:
    """Ragged blocks, in each dtype."""
    _check(group, dtype, target, RAGGED[group.form], tmp_path)


SHAPED = [(g, s, t) for g in SAMPLES for s in OTHERS[g.form] for t in TARGETS]


def _named(value: object) -> str:
    return value.title if isinstance(value, Group) else str(value)


@pytest.mark.parametrize(("group", "shape", "target"), SHAPED, ids=_named)
def test_shapes(group: Group, shape: tuple[int, ...], target: str, tmp_path) -> None:
    """Other shape classes, in one dtype."""
    _check(group, "f32", target, shape, tmp_path)


_CHIPS = ("pallas:tpu7x", "triton:sm90")
#: A wide and a narrow type of each group, one on each chip: which one alternates.
COMPILED = [
    (group, dtype, _CHIPS[(number + place) % 2])
    for number, group in enumerate(GROUPS)
    for place, dtype in enumerate([found for found in ("f32", "bf16", "i32", "i8") if found in group.dtypes][:2])
]


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.title)
def test_alone(group: Group, tmp_path) -> None:
    """Each call in a kernel of its own: none works only beside others.

    In turn one runs on the GPU and one lowers for the TPU. What one of them refuses is for the other.
    """
    dtype, problems = group.dtypes[0], []
    inputs = Inputs.of(group.domain, dtype, RAGGED[group.form])
    for number, call in enumerate(group.calls):
        takes = [target for target in TARGETS[1:] if refusal(target, call, dtype) is None]
        match takes[number % len(takes)] if takes else None:
            case "triton":
                problems += run(group, [call], inputs, _mode("triton"), tmp_path)
            case "pallas":
                problems += filter(None, [refused(group.form, call, inputs, "pallas:interpret", tmp_path)])
    assert not problems, "\n".join(problems)


@pytest.mark.slow
@pytest.mark.parametrize(("group", "dtype", "target"), COMPILED, ids=_named)
def test_compiles(group: Group, dtype: str, target: str, tmp_path) -> None:
    """What runs interpreted compiles for chips."""
    inputs = Inputs.of(group.domain, dtype, (300, 200) if group.form == "lanes" else RAGGED[group.form])
    calls = [call for call in group.calls if refusal(target.partition(":")[0], call, dtype) is None]
    assert not refused_by_compiler(group, calls, inputs, target, tmp_path)


REFUSED = [(g, c, d) for g in GROUPS for c in g.calls for d in g.dtypes if refusal("pallas", c, d)]
#: One dtype for each call, 64-bit integers last: their rule is one.
FIRST = {(group.title, call): (group, call, dtype) for group, call, dtype in reversed(REFUSED)}.values()


@pytest.mark.parametrize(("group", "call", "dtype"), FIRST, ids=_named)
def test_refusals(group: Group, call: str, dtype: str, tmp_path) -> None:
    """What the table says a target refuses, it refuses in those words."""
    rule = refusal("pallas", call, dtype)
    assert rule is not None
    found = refused(group.form, call, Inputs.of(group.domain, dtype, RAGGED[group.form]), "pallas:interpret", tmp_path)
    assert rule.says in found


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.title)
def test_methods(group: Group, tmp_path) -> None:
    """``x.f(…)`` is ``torch.f(x, …)``, where torch has both."""
    inputs = Inputs.of(group.domain, group.dtypes[0], RAGGED[group.form])
    calls = [as_method(call) for call in group.calls if call.startswith("torch.")]
    known = [call for call in calls if call and _torch_has(call, inputs)]
    assert not run(group, known, inputs, "reference", tmp_path) if known else True


def as_method(call: str) -> str:
    """The same call as a method of ``x``, or nothing where the call is no function of it."""
    name, _, rest = call.removeprefix("torch.").partition("(")
    if not rest.startswith("x") or rest[1:2] not in (",", ")") or name in ("where", "broadcast_tensors"):
        return ""
    return f"x.{name}({rest[1:].removeprefix(', ')}"


def _torch_has(call: str, inputs: Inputs) -> bool:
    try:
        expected(call, inputs)
    except (AttributeError, TypeError):
        return False
    return True
