"""What is compiled without being run: examples with arguments of no values, at more sizes than the registry's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from examples.example import Size, UnfilledInputs
from examples.registry import BY_NAME, EXAMPLES, Example

#: Sizes at which what is chosen matters more than at those of the registry.
WIDE = {
    "matmul_4096": ("matmul", (4096, 4096, 4096)),
    "softmax_wide": ("softmax", (1024, 131072)),
    "softmax_two_pass_wide": ("softmax_two_pass", (1024, 131072)),
    "cross_entropy_wide": ("cross_entropy_rows", (8192, 128000)),
    "kl_divergence_wide": ("kl_divergence", (4096, 65536)),
    "attention_4096": ("attention", (4, 16, 4096, 128)),
    "causal_attention_4096": ("causal_attention", (4, 16, 4096, 128)),
    "exp_odd": ("exp", (4096, 2501)),
    "sum_rows_long": ("sum_rows", (8, 1 << 20)),
}


class Shapes(UnfilledInputs):
    """Makes arguments that have a shape and a dtype only, in a mode of fake tensors."""

    def __init__(self, dtype: torch.dtype, device: str):
        self.dtype = dtype
        self.device = device

    def below(self, high: int, *shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.int32, device=self.device)

    def offsets(self, items: int, rows: int) -> torch.Tensor:
        return torch.empty(items + 1, dtype=torch.int64, device=self.device)

    def seed(self) -> torch.Tensor:
        return torch.empty((), dtype=torch.int64, device=self.device)


def subjects(names: Sequence[str] = ()) -> Iterator[Example]:
    """The examples and the wider ones, or those of some names."""
    for example in (*EXAMPLES, *(wider(name) for name in WIDE)):
        if not names or example.name in names:
            yield example


def wider(name: str) -> Example:
    """One of `WIDE`."""
    base, dims = WIDE[name]
    return replace(BY_NAME[base], name=name, sizes={"real": Size(dims)})


def subject(name: str) -> Example:
    """The example, or the wider one, of a name."""
    return wider(name) if name in WIDE else BY_NAME[name]


def base_name(name: str) -> str:
    """The name of the example that one of `WIDE` is a size of."""
    return WIDE[name][0] if name in WIDE else name


def arguments(example: Example, dtype: torch.dtype, device: str | None = None) -> tuple[Any, ...]:
    """Its arguments, with no numbers in them; those of a device are for a mode of fake tensors."""
    if device is None:
        return example.unfilled("real", dtype)
    return example.args(Shapes(dtype, device), *example.sizes["real"].dims)


def calling(function: str, args: Sequence[Any], entry: str) -> tuple[str, list[torch.Tensor]]:
    """The text of a function ``entry`` of tensors that calls another with them and with what is no tensor.

    A function among the arguments becomes None: generated code has it inside.
    """
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    place = iter(range(len(tensors)))
    passed = [f"tensors[{next(place)}]" if isinstance(value, torch.Tensor) else _literal(value) for value in args]
    return f"\n\ndef {entry}(*tensors):\n    return {function}({', '.join(passed)})\n", tensors


def _literal(value: Any) -> str:
    if callable(value):
        return "None"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    raise TypeError(f"no text for an argument of type {type(value).__name__}")
