"""Every example through the compilers of real chips: no such chip is needed."""

import importlib.util

import pytest

from examples.registry import BY_NAME, DTYPES
from test.rotating import rotating

#: What every example is compiled for, at a model's size.
MAIN = ("pallas:v6e", "triton:sm90")
#: A row takes one of these in turn, of ragged sizes.
OTHERS = ("pallas:tpu7x", "triton:gfx942", "pallas:v5e", "triton:sm80")
CASES = [
    (name, target, "real" if target in MAIN else "ragged")
    for name, target in rotating(BY_NAME, MAIN, OTHERS)
    if target in MAIN or not BY_NAME[name].light
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "size"), CASES)
def test_example_compiles(name, target, size):
    compiler = "libtpu" if target.startswith("pallas") else "triton"
    if importlib.util.find_spec(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    example = BY_NAME[name]
    args = example.unfilled(size, DTYPES["bf16"])
    report = example.kernel.lower(*args, target=target).report(estimates=False)
    assert report["legal"], report["reason"]
