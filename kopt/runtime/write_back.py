"""How a call's final values reach the arguments that the kernel mutates: copied into them, or swapped with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kopt.diagnostics import Diagnostic, report
from kopt.errors import Location
from kopt.runtime.exchange import convert
from kopt.runtime.sharing import sharing
from kopt.runtime.swap import take_over, why_copied, why_kept
from kopt.specs import framework_of


@dataclass
class WriteBack:
    """The mutated arguments of one executable.

    ``mutated`` are their numbers, ``names`` the names of the first arguments; ``swap`` lets torch tensors take over
    the storage of their final values where `kopt.runtime.swap` finds that safe. ``remarks`` says where it was not.
    """

    mutated: tuple[int, ...]
    names: Sequence[str]
    swap: bool = False
    location: Location | None = None
    remarks: list[Diagnostic] = field(default_factory=list)

    def hazards(self, values: list[Any]) -> dict[int, str | None]:
        """Before a call: why each mutated torch tensor keeps its storage, or None; empty where nothing is swapped."""
        if not self.swap:
            return {}
        tensors = [number for number in self.mutated if framework_of(values[number]) == "torch"]
        return {number: why_kept(values[number], _without(values, number)) for number in tensors}

    def apart(self, values: list[Any], outputs: list[Any]) -> list[Any]:
        """Copies of the outputs that lie in memory of mutated arguments: the write-back must not change them."""
        written = [values[number] for number in self.mutated]
        return [_copy(output) if any(sharing([output, value]) for value in written) else output for output in outputs]

    def finish(self, values: list[Any], outputs: list[Any], hazards: dict[int, str | None]) -> list[Any]:
        """After a call: updates the mutated arguments; gives the results, then the final values of JAX arrays."""
        count = len(outputs) - len(self.mutated)
        extra = []
        for place, number in enumerate(self.mutated, count):
            value, final = values[number], outputs[place]
            if framework_of(value) == "jax":
                extra.append(final)
            elif final is value:
                _note(value)
            else:
                final = convert(final, framework_of(value) or "numpy")
                others = [*values, *_without(outputs, place)]
                if number in hazards and self._may_swap(number, hazards[number], final, others):
                    take_over(value, final)
                else:
                    _store(value, final)
        return outputs[:count] + extra

    def _may_swap(self, number: int, hazard: str | None, final: Any, others: list[Any]) -> bool:
        reason = hazard or why_copied(final, others)
        if reason is None:
            return True
        name = f"'{self.names[number]}'" if number < len(self.names) else "a tensor of the kernel's closure"
        said = Diagnostic("remark", f"{name} keeps its storage and is copied into: {reason}", self.location)
        if said not in self.remarks:
            self.remarks.append(said)
            report(said)
        return False


def _without(values: list[Any], place: int) -> list[Any]:
    return values[:place] + values[place + 1 :]


def _copy(array: Any) -> Any:
    return array.clone() if framework_of(array) == "torch" else array.copy()


def _note(value: Any) -> None:
    """Tells torch that a tensor has changed by a launch in its own memory: autograd may have saved it."""
    if framework_of(value) == "torch":
        import torch

        torch.autograd.graph.increment_version(value)


def _store(value: Any, final: Any) -> None:
    """Copy final elements into the caller's torch tensor or NumPy array."""
    if framework_of(value) == "numpy":
        np.copyto(value, final)
        return
    import torch

    with torch.no_grad():
        value.copy_(final)
