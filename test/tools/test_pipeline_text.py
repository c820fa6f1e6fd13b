"""Pipelines as text: nesting, options of every type, and errors that point at their place."""

from __future__ import annotations

import pytest

from kopt.config import make_config
from kopt.errors import ConfigError
from kopt.pass_manager import parse_pipeline, pipeline_text
from kopt.passes.named_pipelines import NAMED_PIPELINES
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target

pytestmark = pytest.mark.usefixtures("misbehaving")


def options(text: str):
    """The one pass of a pipeline."""
    (found,) = parse_pipeline(f"test-options{text}")
    return found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("cse", ["cse"]),
        ("cse,dce", ["cse", "dce"]),
        (" cse , dce ", ["cse", "dce"]),
        ("builtin.module()", []),
        ("builtin.module(cse,dce)", ["cse", "dce"]),
        ("builtin.module(cse,func.func(dce,canonicalize),any(cse))", ["cse", "dce", "canonicalize", "cse"]),
        ("builtin.module(cse{})\n", ["cse"]),
    ],
)
def test_passes_come_in_order(text: str, names: list[str]) -> None:
    """Plain lists, anchors and nesting."""
    assert [found.name for found in parse_pipeline(text)] == names


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("{mode=slow}", "mode", "slow"),
        ("{count=7}", "count", 7),
        ("{count=-7}", "count", -7),
        ("{scale=2}", "scale", 2.0),
        ("{scale=1e-3}", "scale", 1e-3),
        ('{sizes="b0=64,b1=128"}', "sizes", "b0=64,b1=128"),
        ("{sizes='b0=64'}", "sizes", "b0=64"),
        ("{sizes=64}", "sizes", "64"),
        ("{dims=1,2,3}", "dims", (1, 2, 3)),
        ("{dims=1}", "dims", (1,)),
        ("{flag}", "flag", True),
        ("{flag=false}", "flag", False),
        ("{loop-type=fori}", "loop_type", "fori"),
        ("{loop_type=fori}", "loop_type", "fori"),
        ("{count=2 flag mode=slow}", "mode", "slow"),
    ],
)
def test_options_take_their_fields_types(text: str, field: str, value: object) -> None:
    """Each kind of option, quoted or not, dashes or underscores."""
    found = getattr(options(text), field)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("test-option", 1, "unknown pass or pipeline 'test-option'; did you mean 'test-options'?"),
        ("cse,test-options{mod=fast}", 18, "pass 'test-options' has no option 'mod'; did you mean 'mode'?"),
        ("test-options{zzz=1}", 14, "; it has mode, count, scale, sizes, dims, flag, loop-type"),
        ("test-options{mode=medium}", 14, "option 'mode' of pass 'test-options' takes one of fast, slow, not medium"),
        ("test-options{count=1,2}", 14, "option 'count' of pass 'test-options' takes int, not 1,2"),
        ("test-options{count}", 14, "option 'count' of pass 'test-options' takes int"),
        ("test-needs", 1, "pass 'test-needs' needs the option 'value'"),
        ("test-options{", 14, "expected the name of an option or '}' here"),
        ("test-options{mode=}", 19, "expected a value here"),
        ("cse dce", 5, "expected ',' or the end of the pipeline here"),
        ("(cse)", 1, "expected the name of a pass here"),
        ("builtin.module(cse", 19, "expected ')' here"),
        ("gpu.module(cse)", 1, "passes cannot be anchored on 'gpu.module'"),
    ],
)
def test_errors_point_at_their_place(text: str, column: int, message: str) -> None:
    """What is wrong, and the column where."""
    with pytest.raises(ConfigError) as caught:
        parse_pipeline(text)
    assert message in caught.value.message
    assert caught.value.location is not None and caught.value.location.col == column


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cse,test-options,dce",
        "test-options{count=-7 scale=0.001 flag=true loop-type=fori}",
        "test-options{sizes=64 dims=1}",
        'test-options{sizes=\'a "b", {c}\' dims=1,2 loop-type="it\'s"}',
        'test-options{sizes="true" loop-type=""}',
    ],
)
def test_what_is_printed_parses_to_the_same_passes(text: str) -> None:
    """Options of every type, and strings that look like something else."""
    passes = parse_pipeline(text)
    assert parse_pipeline(pipeline_text(passes)) == passes


@pytest.mark.parametrize("name", ["pallas-tpu7x", "triton-sm90", "reference"])
def test_a_named_pipeline_is_its_targets(name: str) -> None:
    """The name alone, among other passes, and as printed."""
    passes = pipeline(parse_target(name.replace("-", ":")), make_config(None))
    assert parse_pipeline(name) == parse_pipeline(pipeline_text(passes)) == NAMED_PIPELINES[name] == passes
    assert parse_pipeline(f"builtin.module(cse,any({name}))")[1:] == passes


def test_a_configured_pipeline_is_printed_with_its_pins() -> None:
    """Words of plans have blanks and marks in them."""
    config = make_config({"accesses": {"k": "resident", "k#1": "window x3"}, "loops": {"j": "resident unroll 2"}})
    passes = pipeline(parse_target("pallas:v6e"), config)
    text = pipeline_text(passes)
    assert '"k#1 = window x3"' in text and parse_pipeline(text) == passes
