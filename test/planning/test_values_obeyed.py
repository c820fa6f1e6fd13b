"""Plans of accesses at computed places are obeyed: edited in text, or pinned in a configuration; or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.analysis.plans import plan_of
from kopt.config import Config
from kopt.context import make_context
from kopt.dialects.tile import GridOp
from kopt.errors import ConfigError, KoptError, LoweringError
from kopt.lowered import Lowered
from kopt.parsing import parse_module
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.plans.kinds import KINDS, VALUES
from kopt.plans.plan import Plan
from kopt.targets.target import parse_target

pytest.importorskip("jax")

TARGET = "pallas:interpret"
ROWS = 64
#: Where each row's block begins.
_BEGINS = np.arange(ROWS)[:, None] // 16 * 16


def embedding(table, ids, out):
    for i in hl.tile(ids.size(0)):
        out[i, :] = table[ids[i], :]
    return out


def label(x, ids, out):
    for i in hl.tile(ids.size(0)):
        row = x[i, :]
        out[i] = torch.amax(row, -1) - hl.load(x, [i.index[:, None], ids[i][:, None]]).squeeze(1)
    return out


def added(x, ids, out):
    for i in hl.tile(ids.size(0)):
        hl.atomic_add(out, [ids[i], slice(None)], x[i, :])
    return out


def counted(x, ids, out):
    for i in hl.tile(ids.size(0)):
        hl.atomic_add(out, [ids[i]], x[i])
    return out


def bounded(x, ids, out):
    for i in hl.tile(ids.size(0)):
        out[i, :] = hl.load(x, [i.begin * 64 + (i.index[:, None] % 5) * 7 + hl.arange(64)[None, :]])
    return out


def runs(x, ids, out):
    for i in hl.tile(ids.size(0)):
        out[i, :] = hl.load(x, [ids[i][:, None] * 64 + hl.arange(64)[None, :]])
    return out


#: Each kernel with the shapes of its arrays, its expected result, and the access that is at computed places.
Case = tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...], Callable[..., np.ndarray], str]
CASES: dict[str, Case] = {
    "embedding": (embedding, (300, 200), (ROWS, 200), lambda x, n: x[n], "table"),
    "label": (label, (ROWS, 300), (ROWS,), lambda x, n: x.max(1) - x[np.arange(ROWS), n], "x#1"),
    "added": (added, (ROWS, 200), (300, 200), lambda x, n: _summed(x, n, (300, 200)), "out"),
    "counted": (counted, (ROWS,), (300,), lambda x, n: _summed(x, n, (300,)), "out"),
    "bounded": (
        bounded,
        (20_000,),
        (ROWS, 64),
        lambda x, n: x[_BEGINS * 64 + (np.arange(ROWS)[:, None] % 5) * 7 + np.arange(64)],
        "x",
    ),
    "runs": (runs, (20_000,), (ROWS, 64), lambda x, n: x[n[:, None] * 64 + np.arange(64)], "x"),
}
#: The kinds that the access of each may have, the planner's first.
MAY = {
    "embedding": ("one_hot", "rows"),
    "label": ("pick", "one_hot", "rows"),
    "added": ("row_loop", "one_hot", "row_dma"),
    "counted": ("one_hot", "row_loop", "row_dma"),
    "bounded": ("places", "runs", "one_hot", "rows", "bounded"),
    "runs": ("runs", "one_hot", "rows"),
}


def _summed(x: np.ndarray, n: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(shape, np.float32)
    np.add.at(found, n, x)
    return found


def arguments(name: str) -> list[torch.Tensor]:
    """Whole numbers, whose sums are exact."""
    _, shape, out, *_ = CASES[name]
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(-50, 50, shape, generator=generator).float()
    return [x, torch.randint(300, (ROWS,), generator=generator, dtype=torch.int32), torch.zeros(out)]


def lowered(name: str, config: dict[str, Any]) -> Lowered:
    return kopt.kernel(CASES[name][0]).lower(*arguments(name), target=TARGET, config={"block_sizes": [16], **config})


def check(name: str, run: Callable[..., Any]) -> None:
    """The kernel computes what NumPy does."""
    x, ids, out = arguments(name)
    expected = CASES[name][3](x.numpy(), ids.numpy())
    found = run(x, ids, out)
    np.testing.assert_array_equal(np.asarray(found), expected)


def plan_after(low: Lowered, stage: str) -> Plan | None:
    """The plan of the only grid after a pass."""
    (grid,) = [op for op in parse_module(dict(low.stages())[stage]).walk() if isinstance(op, GridOp)]
    return plan_of(grid)


def kind(low: Lowered, name: str) -> str:
    """What the plan says of the access at computed places."""
    plan = plan_after(low, "plan-values")
    assert plan is not None
    return plan.buffer(CASES[name][4]).kind


@pytest.mark.parametrize("name", CASES)
def test_the_planner_takes_the_first(name: str) -> None:
    assert kind(lowered(name, {}), name) == MAY[name][0]


@pytest.mark.parametrize("wanted", VALUES)
@pytest.mark.parametrize("name", CASES)
def test_every_kind_is_obeyed_or_refused(name: str, wanted: str) -> None:
    """What a tuner does: each is tried; what may be is right, and what cannot be says what can."""
    config = {"accesses": {CASES[name][4]: wanted}}
    if wanted not in MAY[name]:
        with pytest.raises(LoweringError, match=f"cannot stand in a buffer of kind '{wanted}' here: ") as caught:
            lowered(name, config)
        assert caught.value.location is not None and caught.value.location.file == __file__
        assert all(kind in caught.value.message for kind in MAY[name]), caught.value.message
        return
    low = lowered(name, config)
    assert kind(low, name) == wanted
    check(name, low.compile())
    final = plan_after(low, "plan-accesses")
    assert final is not None and {buffer.kind for buffer in final.buffers} <= {*KINDS} - {"one_hot", "pick", "runs"}


#: What tells the code of each kind from that of others.
CODE = {
    ("embedding", "one_hot"): ("_take_rows(", "_rows_ref"),
    ("embedding", "rows"): ("_rows_ref", "_take_rows("),
    ("label", "pick"): ("_take_along(", "_rows_ref"),
    ("label", "rows"): ("_rows_ref", "_take_rows("),
    ("added", "row_loop"): ("fori_loop", "make_async_copy(new_out"),
    ("added", "one_hot"): ("jnp.dot(", "row_sent"),
    ("added", "row_dma"): ("row_sent", "jnp.dot("),
}


@pytest.mark.parametrize(("name", "wanted"), CODE)
def test_code(name: str, wanted: str) -> None:
    there, gone = CODE[name, wanted]
    source = lowered(name, {"accesses": {CASES[name][4]: wanted}}).source
    assert there in source, source
    assert gone not in source, source


def planned(name: str) -> str:
    """A kernel as text, with its plan."""
    return dict(lowered(name, {}).stages())["plan-values"]


def from_text(text: str) -> Lowered:
    """The rest of the pipeline, from text that has a plan on."""
    return kopt.lower_module(parse_module(text), target=TARGET)


@pytest.mark.parametrize("name", CASES)
def test_text_of_a_plan_is_the_plan(name: str) -> None:
    """Printed, read again and lowered by the passes that follow it is what is realised at once."""
    low = lowered(name, {})
    module, passes = parse_module(planned(name)), pipeline(parse_target(TARGET), Config())
    wanted = [one for one in passes if one.name in ("name-accesses", "realise-values")]
    run(module, make_context(), wanted)
    assert str(module) == dict(low.stages())["realise-values"]


EDITS = [
    ("embedding", "one_hot", "rows"),
    ("embedding", "rows", "one_hot"),
    ("label", "pick from @x", "rows"),
    ("added", "row_loop", "one_hot"),
    ("added", "row_loop", "row_dma"),
    ("added", "one_hot", "row_loop"),
    ("counted", "one_hot", "row_loop"),
    ("counted", "one_hot", "row_dma"),
]


@pytest.mark.parametrize(("name", "old", "new"), EDITS)
def test_edits_are_obeyed(name: str, old: str, new: str) -> None:
    first = {} if old.split()[0] == MAY[name][0] else {"accesses": {CASES[name][4]: old}}
    text = dict(lowered(name, first).stages())["plan-values"]
    assert f" {old}" in text, text
    check(name, from_text(text.replace(f" {old}", f" {new}")).compile())


def test_blocks_are_left_to_the_last_plan() -> None:
    """What is pinned to be a block is one: a row by a loaded number of an array that is far."""

    def one(table, ids, out):
        for i in hl.tile(ids.size(0), block_size=1):
            out[i.begin, :] = table[ids[i.begin], :]
        return out

    specs = ["f32[100000,128]", "i32[5]", "f32[5,128]"]
    low = kopt.kernel(one).lower(*specs, target=TARGET)
    plan = plan_after(low, "plan-values")
    assert plan is not None and plan.buffer("table").kind == "rows"
    low = kopt.kernel(one).lower(*specs, target=TARGET, config={"accesses": {"table": "window"}})
    assert plan_after(low, "plan-values") is None
    last = plan_after(low, "plan-accesses")
    assert last is not None and last.buffer("table").kind == "window"


def test_names_and_words_are_checked() -> None:
    with pytest.raises(ConfigError, match="no access is named 'tabel'; did you mean 'table'"):
        lowered("embedding", {"accesses": {"tabel": "rows"}})
    with pytest.raises(LoweringError, match="no Pallas code is made of '@table = %table.* rows x2' yet"):
        lowered("embedding", {"accesses": {"table": "rows x2"}})
    with pytest.raises(KoptError, match="no Pallas code is made of '@table = %table.* rows outstanding 64' yet"):
        lowered("embedding", {"accesses": {"table": "rows outstanding 64"}})
