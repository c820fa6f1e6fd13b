"""What may be called, by name: read off the frontend's tables, with the arguments that torch takes for each.

A pattern is a call with gaps. Each name of a table is tried with each pattern of its family, and those that torch
accepts are its calls; so a new entry of a table is drawn as soon as it is there. `gaps` says what fills them.
"""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from types import ModuleType
from typing import Any

import torch

from kopt.frontend.ops import (
    creation,
    elementwise,
    indexed,
    joining,
    matrices,
    random,
    reductions,
    scans,
    shapes,
    slicing,
    sorting,
)
from kopt.frontend.registration import ALIASES
from test.conformance.table import GROUPS, WITHOUT_VALUES
from test.property import language_calls

_SHAPES = """
    {f}({x})
    {f}({x}, {y})
    {f}({x}, {d})
    {f}({x}, [{p}])
    {f}({x}, {d}, {e})
    {f}({x}, {grouped})
    {f}({x}, {widened})
    {f}({x}, {times})
    {f}({x}, {order})
    {f}({x}, {pads})
    {f}({x}, {k}, dim={p})
    {f}({x}, {p}, 0, {k})
    {f}({x}, {p}, 0)
    {f}({x}, {parts}, {p})
    {f}({x}, {p}, {factors})
    {f}([{x}, {y}])
    {f}([{x}, {y}], {p})
    """
_PATTERNS: dict[ModuleType, str] = {
    elementwise: """
    {f}({x})
    {f}({x}, {y})
    {f}({x}, {y}, {z})
    {f}({x}, {c})
    {f}({c}, {x})
    {f}({b}, {x}, {y})
    {f}({b}, {x}, {c})
    {f}({x}, {b}, {c})
    {f}({x}, {dtype})
    """,
    reductions: """
    {f}({x})
    {f}({x}, {d})
    {f}({x}, dim={d})
    {f}({x}, dim={d}, keepdim=True)
    {f}({x}, dim=({d}, {e}))
    {f}({x}, dim={d}, dtype=torch.float32)
    {f}({x}, dim={d}, dtype=torch.int32)
    {f}({x}, dim={d}, correction=0)
    {f}({x}, [{last}])
    """,
    scans: """
    {f}({x}, {d})
    {f}({x}, dim={d}, dtype=torch.float32)
    {f}({x}, dim={d}, dtype=torch.int32)
    """,
    sorting: """
    {f}({x})
    {f}({x}, dim={d}, stable=True)
    {f}({x}, dim={d}, descending=True, stable=True)
    {f}({x}, {k}, dim={p})
    """,
    **dict.fromkeys((shapes, slicing, joining), _SHAPES),
    matrices: """
    {f}({x}, {y}.mT)
    {f}({x}.mT, {y})
    {f}({x}, {y})
    {f}({x}, {y}.select(-2, 0))
    {f}({x}.select(-1, 0), {y}.select(-1, 0))
    {f}({x} @ {y}.mT, {x}, {y}.mT)
    {f}({x} @ {y}.mT, {x}, {y}.mT, beta=2, alpha=0.5)
    {f}("ij,kj->ik", {x}, {y})
    {f}("ij,ij->j", {x}, {y})
    {f}("bij,bkj->bik", {x}, {y})
    """,
    indexed: """
    {f}({x}, {p}, {places})
    {f}({x}, {places}, {p})
    {f}({x}, {p}, {places}.flatten())
    """,
    creation: """
    {f}({x})
    {f}({x}, {c})
    {f}({x}, {c}, dtype=torch.float32)
    {f}({plain})
    {f}({plain}, {c})
    {f}({x}, {plain})
    {f}({x}, {plain}, {c})
    {f}({k})
    {f}({c})
    """,
    random: "",
}
#: With what patterns are tried.
_TRIAL = {
    "d": "0", "e": "-1", "p": "0", "k": "2", "c": "0.5", "dtype": "torch.int32", "last": "6", "grouped": "(2, 12)",
    "widened": "(3, 4, 6)", "times": "(1, 2)", "order": "(1, 0)", "pads": "(1, 2)", "parts": "[1, 3]",
    "factors": "(2, 2)", "plain": "(4, 6)",
}  # fmt: skip
#: Which have no calls to draw, and why.
WITHOUT_CALLS = {
    **WITHOUT_VALUES,
    "dropout": "draws random numbers",
    "item": "a number of the device has no operations on the host",
    "cpu": "only of tensors of the host",
    "cuda": "only of tensors of the host",
    "double": "the same as .to; what f64 meets is f64",
}


def tables() -> dict[str, ModuleType]:
    """Each name of the frontend's tables and its family; other names for the same have the same."""
    own = {name: family for family in _PATTERNS for name in family.TABLE}
    return own | {alias: own[name] for alias, name in ALIASES.items()}


@functools.cache
def calls() -> dict[str, tuple[str, ...]]:
    """The patterns that torch accepts, by name; and the calls of the conformance table that fit any shape."""
    found = {name: tuple(_accepted(name, family)) for name, family in tables().items() if name not in WITHOUT_CALLS}
    written = [call for group in GROUPS if group.form == "lanes" for call in group.calls if "dropout" not in call]
    found |= {f"hl.{name}": forms for name, forms in language_calls.CALLS.items()}
    return {**found, "as written": tuple(re.sub(r"\b([xyz])\b", r"{\1}", call) for call in written)}


def _accepted(name: str, family: ModuleType) -> list[str]:
    patterns = [line for line in map(str.strip, _PATTERNS[family].splitlines()) if line]
    forms = [form for pattern in patterns for form in _forms(name, pattern)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "Implicit dimension choice")  # what torch guesses, kopt asks for
        return [form for form in forms if any(_works(form, *trial) for trial in _trials())]


def _forms(name: str, pattern: str) -> list[str]:
    """As a function, and as a method of the first argument; functions of ``torch.linalg`` by its own names."""
    if name.startswith("linalg_"):
        return [pattern.replace("{f}", f"torch.linalg.{name.removeprefix('linalg_')}")]
    homes = {"torch": torch, "F": torch.nn.functional, "torch.special": torch.special}
    spaces = [space for space, home in homes.items() if hasattr(home, name)]
    if spaces and pattern != "{f}({x})" and "inplace" in _parameters(getattr(homes[spaces[0]], name)):
        return []
    forms = [pattern.replace("{f}", f"{space}.{name}") for space in spaces[:1]]
    if hasattr(torch.Tensor, name) and pattern.startswith(("{f}({x})", "{f}({x}, ")):
        forms.append(pattern.replace("{f}({x}, ", f"{{x}}.{name}(").replace("{f}({x})", f"{{x}}.{name}()"))
    return forms


def _parameters(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters) if inspect.isfunction(function) else ()


@functools.cache
def _trials() -> list[tuple[str, torch.Tensor]]:
    shapes = [(4,), (4, 6), (2, 4, 6)]
    values = [torch.arange(0.0, 144, 3)[: torch.Size(shape).numel()].reshape(shape) % 7 + 0.5 for shape in shapes]
    return [("x", value.to(dtype)) for value in values for dtype in (torch.float32, torch.int32, torch.bool)]


def _works(form: str, name: str, value: torch.Tensor) -> bool:
    places = torch.zeros_like(value, dtype=torch.int64)
    names = {"torch": torch, "F": torch.nn.functional, "x": value, "b": value > 1, "places": places}
    text = form.format(x="x", y="x", z="x", b="b", places="places", **_TRIAL)
    try:
        first, second = (eval(text, names) for _ in range(2))
        of_zeros = eval(text, {**names, "x": torch.zeros_like(value)})
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError, NotImplementedError, UserWarning):
        return False
    triples = zip(parts(first), parts(second), parts(of_zeros), strict=True)
    return all(isinstance(a, torch.Tensor) and a.equal(b) and a.shape == c.shape for a, b, c in triples)


def parts(result: Any) -> tuple[Any, ...]:
    """What a call gives, one by one."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)
