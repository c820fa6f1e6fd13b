"""The text of emitted modules is as in ``test/golden``, which ``pytest --update-golden`` writes anew."""

from __future__ import annotations

from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

import kopt
from examples.registry import BY_NAME, DTYPES
from test.kernels.jagged_kernels import jagged_softmax, jagged_sum_by_rows

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "test" / "golden"
TARGETS = ("pallas:v6e", "triton:sm90")

#: Kernels of the registry, at the sizes of models.
EXAMPLES = (
    "attention",
    "causal_attention",
    "chunk_scan",
    "counting_sort",
    "cross_entropy_rows",
    "dropout",
    "embedding",
    "fp8_matmul",
    "geglu",
    "grouped_matmul",
    "layer_norm",
    "matmul",
    "matmul_backward",
    "packed_attention",
    "rotary",
    "scatter_add",
    "softmax",
    "split_matmul",
)
#: Kernels of tests, with the specs of their arguments.
KERNELS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "jagged_softmax": (jagged_softmax, ("f32[10240,256]", "i32[513]")),
    "jagged_sum_by_rows": (jagged_sum_by_rows, ("f32[10240,256]", "i32[513]")),
}
NAMES = sorted([*EXAMPLES, *KERNELS])


def emitted(name: str, target: str) -> str:
    """The module that is emitted for a kernel."""
    if name in KERNELS:
        function, specs = KERNELS[name]
        return kopt.kernel(function).lower(*specs, target=target).source
    example = BY_NAME[name]
    return example.kernel.lower(*example.unfilled("real", DTYPES["bf16"]), target=target).source


def file_of(name: str, target: str) -> Path:
    """Where a module stands."""
    return GOLDEN / f"{name}-{target.partition(':')[2]}.py"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_a_module_is_as_in_its_file(name: str, target: str, request: pytest.FixtureRequest) -> None:
    path, now = file_of(name, target), emitted(name, target)
    assert str(ROOT) not in now
    if request.config.getoption("--update-golden"):
        path.write_text(now)
    was = path.read_text() if path.exists() else ""
    lines = unified_diff(was.splitlines(), now.splitlines(), str(path.relative_to(ROOT)), "now", lineterm="")
    if was != now:
        pytest.fail("\n".join(lines), pytrace=False)


def test_every_file_is_compared() -> None:
    assert set(GOLDEN.iterdir()) == {file_of(name, target) for name in NAMES for target in TARGETS}
