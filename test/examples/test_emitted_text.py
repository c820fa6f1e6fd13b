"""The text of emitted modules is as in ``test/golden``, which ``pytest --update-golden`` writes anew."""

from __future__ import annotations

from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import kopt
from examples.registry import BY_NAME, DTYPES
from test.kernels.jagged_kernels import jagged_softmax, jagged_sum_by_rows

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "test" / "golden"
TARGETS = ("pallas:v6e", "triton:sm90")

#: Kernels of tests, with the specs of their arguments.
KERNELS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "jagged_softmax": (jagged_softmax, ("f32[10240,256]", "i32[513]")),
    "jagged_sum_by_rows": (jagged_sum_by_rows, ("f32[10240,256]", "i32[513]")),
}
#: Examples of which the rows of some arguments differ from call to call.
OPEN = {
    "geglu": ("gate", "up"),
    "layer_norm": ("x",),
    "matmul": ("x",),
    "rms_norm": ("x",),
    "rotary": ("q", "k", "cos", "sin"),
    "softmax": ("x",),
    "swiglu": ("gate", "up"),
}


class Module(NamedTuple):
    """An emitted module: of which kernel, in which form, for which target."""

    name: str
    form: str
    target: str

    @property
    def file(self) -> Path:
        """Where it stands."""
        return GOLDEN / self.form / f"{self.name}-{self.target.partition(':')[2]}.py"

    def emitted(self) -> str:
        """Its text now."""
        if self.name in KERNELS:
            function, specs = KERNELS[self.name]
            return kopt.kernel(function).lower(*specs, target=self.target).source
        example = BY_NAME[self.name]
        kernel = example.kernel
        if self.form == "ragged":
            arguments, config = example.unfilled("ragged", DTYPES["f32"]), example.sizes["ragged"].config
            return kernel.lower(*arguments, target=self.target, config=config or None).source
        if self.form == "open":
            kernel = kopt.kernel(kernel.fn, dynamic=dict.fromkeys(OPEN[self.name], 0))
        return kernel.lower(*example.unfilled("real", DTYPES["bf16"]), target=self.target).source


#: ``real``: bf16 at the sizes of models, in the blocks that kopt chooses. ``ragged``: f32 in given blocks that do not
#: divide the sizes. ``open``: as ``real``, with rows that differ from call to call.
FORMS = {"real": [*BY_NAME, *KERNELS], "ragged": [*BY_NAME], "open": [*OPEN]}
MODULES = [Module(name, form, target) for form, names in FORMS.items() for name in names for target in TARGETS]


@pytest.mark.parametrize("module", MODULES, ids="-".join)
def test_a_module_is_as_in_its_file(module: Module, request: pytest.FixtureRequest) -> None:
    now, path = module.emitted(), module.file
    assert str(ROOT) not in now
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(now)
    was = path.read_text() if path.exists() else ""
    lines = unified_diff(was.splitlines(), now.splitlines(), str(path.relative_to(ROOT)), "now", lineterm="")
    if was != now:
        pytest.fail("\n".join(lines), pytrace=False)


def test_every_file_is_compared() -> None:
    assert {*GOLDEN.rglob("*.py")} == {module.file for module in MODULES}
