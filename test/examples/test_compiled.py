"""Every example through the compilers of real chips: no such chip is needed."""

import importlib.util
from itertools import cycle

import pytest

from examples.registry import BY_NAME, DTYPES

#: The size to compile at: a model's on the newest chip of each kind, ragged on the others, whose compilers are slower.
SIZES = {
    "pallas:tpu7x": "real",
    "triton:sm90": "real",
    "triton:gfx942": "ragged",
}
#: A row takes one of these, in turn.
OLDER = ("pallas:v5e", "pallas:v6e")
#: Of light rows.
REAL = ("pallas:tpu7x", "triton:sm90")
CASES = [
    (name, target, size)
    for (name, example), older in zip(BY_NAME.items(), cycle(OLDER))
    for target, size in (dict.fromkeys(REAL, "real") if example.light else {**SIZES, older: "ragged"}).items()
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
