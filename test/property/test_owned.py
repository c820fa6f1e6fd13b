"""Random kernels load what they have stored: often enough, and as torch defines it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from test.property.exploring import ROUND, draw
from test.property.judge import Undefined, judge, module_of

#: How many rounds are drawn, and of the kernels: how many in a hundred load in a nest what the nest stores.
_ROUNDS, _SHARE = 8, (20, 45)
#: What such kernels do, as the text of an access has it.
_FORMS: dict[str, Callable[[str], bool]] = {
    "atomic updates": lambda text: "hl.atomic_" in text,
    "parts": lambda text: ":" in text.replace("slice(None)", ""),
    "numbers of a tensor": lambda text: "torch.arange" in text or ".index" in text,
}


@pytest.fixture(scope="module")
def drawn() -> list[str]:
    """Different kernels."""
    texts: list[str] = []
    for number in range(_ROUNDS):
        draw(number, ROUND, False, lambda text: texts.append(text))
    return list(dict.fromkeys(texts))


def test_a_part_of_the_kernels_loads_what_it_has_stored(drawn: list[str]) -> None:
    """In a nest, in loops inside of it, in branches, through views, and in a nest that comes later."""
    found = {text: list(_loaded_again(text)) for text in drawn}
    share = 100 * sum(map(bool, found.values())) / len(drawn)
    assert _SHARE[0] <= share <= _SHARE[1]
    accesses = [access for each in found.values() for access in each]
    missing = [name for name, is_form in _FORMS.items() if not any(map(is_form, accesses))]
    assert not missing
    assert any("    w0 = " in text for text in drawn)


def test_torch_defines_what_is_loaded(drawn: list[str], tmp_path: Path) -> None:
    """No cell loads what another stores: the target `eager` would refuse the kernel."""
    own = [text for text in drawn if any(True for _ in _loaded_again(text))]
    refused = [said for text in own if "reads" in (said := _refusal(text, tmp_path))]
    assert not refused


def _refusal(text: str, folder: Path) -> str:
    try:
        judge(module_of(text, folder))
    except Undefined as refused:
        return str(refused).partition("\n")[0]
    return ""


def _loaded_again(text: str) -> Iterator[str]:
    """The accesses of a kernel to arrays that one nest both loads and stores."""
    module: Any = ast.parse(text)
    kernel = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "kernel")
    for nest in kernel.body:
        if isinstance(nest, ast.For):
            loads, stores = (list(_accesses(nest, kind)) for kind in (True, False))
            both = {name for name, _ in loads} & {name for name, _ in stores}
            yield from (access for name, access in [*loads, *stores] if name in both)


def _accesses(nest: ast.For, loads: bool) -> Iterator[tuple[str, str]]:
    """Names of arrays, and the text of each access."""
    for node in ast.walk(nest):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id[0] in "aow":
            if isinstance(node.ctx, ast.Load) is loads:
                yield node.value.id, ast.unparse(node)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
            function = ast.unparse(node.func)
            if function.startswith("hl.load" if loads else ("hl.store", "hl.atomic_")):
                yield node.args[0].id, ast.unparse(node)
