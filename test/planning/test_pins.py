"""Decisions that a configuration makes of plans: read, refused where they are none, handed on as options of a pass."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.config import make_config
from kopt.errors import ConfigError
from kopt.pipeline_text import parse_pipeline
from kopt.plans.kinds import KINDS, LOOPS
from kopt.plans.pins import EXAMPLES, Pin, Pins, options, read_options
from kopt.plans.plan import LoopSchedule


def doubled(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


def test_pins_are_data():
    config = make_config(
        {
            "accesses": {"k": "resident", "k#1": "window(i, j) x3 accumulate(k)", "x": "pointer vec 8 evict last"},
            "loops": {"j": "resident peel(full | diagonal) unroll 2"},
            "order": ["i", "j"],
        }
    )
    assert config.pins == Pins(
        {
            "k": Pin("resident"),
            "k#1": Pin("window", ("i", "j"), 3, (("accumulate", ("k",)),)),
            "x": Pin("pointer", options=(("vec", 8), ("evict", "last"))),
        },
        {"j": LoopSchedule("resident", 2, ("full", "diagonal"))},
        ("i", "j"),
    )
    assert hash(config.key) != hash(make_config(None).key)


@pytest.mark.parametrize("config", [None, {}, {"accesses": None, "loops": None, "order": None}, {"accesses": {}}])
def test_nothing_is_pinned(config):
    assert not make_config(config).pins


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_pinned(kind):
    assert make_config({"accesses": {"x": kind}}).pins.accesses == {"x": Pin(kind)}


@pytest.mark.parametrize("kind", LOOPS)
def test_every_schedule_can_be_pinned(kind):
    assert make_config({"loops": {"k": kind}}).pins.loops == {"k": LoopSchedule(kind)}


WRONG = [
    *(({key: value}, f"'{key}' is a mapping") for key in ("accesses", "loops") for value in (["k"], "k", 3, True)),
    *(({"accesses": {name: "window"}}, "ids of accesses") for name in ("", "k 1", "k#", "k#x", 3, "%k", "k\n")),
    *(({"loops": {name: "grid"}}, "tags of loops") for name in ("", "k 1", "1k", "k#1", 3, None)),
    *(({key: {"k": words}}, "has words for values") for key in ("accesses", "loops") for words in (3, ["grid"], None)),
    *(({"order": value}, "is a list of axes") for value in ("ij", [], [3], ["i", None], {"i": 1}, 3, ["i j"])),
    ({"order": ["i", "i"]}, "has each axis once"),
    ({"accesses": {"k": "residnt"}}, "unknown kind of buffer: 'residnt'; did you mean 'resident'.*window, resident"),
    ({"accesses": {"k": ""}}, "expected a kind of buffer: there are window, resident"),
    ({"accesses": {"k": "window vec 8"}}, "at 'vec 8': unknown word of 'window': 'vec'; there are address, accumulate"),
    ({"accesses": {"k": "window x0"}}, "at least one deep"),
    ({"accesses": {"k": "window(i"}}, "expected ','"),
    ({"accesses": {"k": "pointer evict never"}}, "unknown 'evict': 'never'; there are first, last"),
    ({"accesses": {"k": "window; x2"}}, "at '; x2': expected nothing more"),
    ({"accesses": {"k": "pick from @x"}}, "'from' names a buffer, which the planner does"),
    ({"loops": {"k": "fast"}}, "unknown schedule of loops: 'fast'; there are grid, resident, prefetch"),
    ({"loops": {"k": "resident warps 8"}}, "at 'warps 8': expected nothing more"),
    ({"loops": {"k": "resident unroll 0"}}, "expected a positive number: unroll n"),
    ({"loops": {"k": "resident peel(full | full)"}}, "peels no two different parts"),
]


@pytest.mark.parametrize(("config", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_impossible_pins(config, message):
    with pytest.raises(ConfigError, match=message):
        make_config(config)
    with pytest.raises(ConfigError, match=message) as caught:
        kopt.kernel(doubled, config=config)
    assert caught.value.location is not None and caught.value.location.file == __file__


def test_examples_are_pins():
    assert isinstance(EXAMPLES["accesses"], Mapping) and make_config(EXAMPLES).pins


@pytest.mark.parametrize("config", [{}, EXAMPLES, {"loops": {"b2": "resident unroll 2"}}, {"order": ["b0"]}])
def test_options_are_pins(config):
    """What the pipelines give to ``plan-accesses``, and what text gives to it."""
    made = make_config(config)
    given = options(made.accesses, made.loops, made.order)
    assert read_options(**{"accesses": (), "loops": (), "order": (), **given}) == made.pins
    text = " ".join(f"{key}={','.join(map(quoted, items))}" for key, items in given.items())
    (read,) = parse_pipeline(f"plan-accesses{{{text}}}")
    assert read.pins == made.pins  # pyright: ignore[reportAttributeAccessIssue]


def quoted(item: str) -> str:
    return f'"{item}"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('accesses="k = residnt"', "unknown kind of buffer: 'residnt'; did you mean 'resident'"),
        ("accesses=k", "expected a name, '=' and words, as 'k = resident', found 'k'"),
        ('loops="k = fast"', "unknown schedule of loops: 'fast'"),
        ("order=i,i", "has each axis once"),
    ],
)
def test_options_are_checked(text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        parse_pipeline(f"plan-accesses{{{text}}}")
    assert caught.value.location is not None and caught.value.location.file == "<pass-pipeline>"
