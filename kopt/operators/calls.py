"""Calls of a kernel that torch traces, transforms or differentiates: they go by way of its operators."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch

from kopt.errors import ArgumentError
from kopt.importing import torch_precision
from kopt.operators.definition import Operator
from kopt.operators.levels import call_operator
from kopt.operators.operands import Form, taken_apart, tensors_in
from kopt.operators.structure import Structure, hint, specs_of, structure_of, structure_of_compiled, untraced
from kopt.runtime import torch_tracing
from kopt.runtime.admission import admit_traced
from kopt.runtime.bounded_cache import BoundedCache
from kopt.runtime.cache import call_key


class Operators:
    """The operators of one kernel: as many as its calls have forms."""

    def __init__(self, kernel: Any):
        self.kernel = kernel
        self._structures: BoundedCache[tuple[Any, Structure]] = BoundedCache()
        self._compiled: WeakKeyDictionary[Any, Structure] = WeakKeyDictionary()
        self._defined: dict[Hashable, Operator] = {}

    def call(self, values: Mapping[str, Any]) -> Any:
        """A call by the values of all parameters."""
        admit_traced(self.kernel.fn.__name__, values)
        plain = not any(map(torch_tracing.is_traced, tensors_in(list(values.values()))))
        structure = self._structure_of_plain(dict(values)) if plain else self.structure(values)
        self.check_hidden(structure)
        form, operands = taken_apart(values)
        operator = self.operator(form, structure)
        outputs = call_operator(operator, operands)
        outputs = [outputs] if isinstance(outputs, torch.Tensor) else outputs or ()
        tensors = [x for x in operands if isinstance(x, torch.Tensor)]
        return structure.results.build(outputs, [*tensors, *structure.hidden])

    def overload(self, values: Mapping[str, Any]) -> Any:
        """The operator of torch for calls with such values."""
        return self.operator(taken_apart(values)[0], self.structure(values)).overload

    def structure(self, values: Mapping[str, Any], known: Callable[[Any], Any] = hint) -> Structure:
        """What follows from the specs of a call's arguments; numbers that torch leaves open are what is ``known``."""
        kernel, specs = self.kernel, specs_of(values, known)
        target = kernel._target(None, values.values())
        key = str(target), torch_precision(), call_key(kernel.fn, list(specs.values()))

        def make() -> tuple[Any, Structure]:
            with untraced():
                imported = kernel._import(specs, target)
            return imported.guards, structure_of(imported)

        return self._structures.find_or_make(key, lambda found: _hold(found[0]), make)[1]

    def _structure_of_plain(self, values: dict[str, Any]) -> Structure:
        """What follows from a call of tensors that have elements: the kernel is compiled for it as for any other."""
        target = self.kernel._target(None, values.values())
        if not target.lowers:
            return self.structure(values)
        with untraced():
            compiled = self.kernel._compiled_for(values, target)
        if compiled not in self._compiled:
            self._compiled[compiled] = structure_of_compiled(compiled)
        return self._compiled[compiled]

    def operator(self, form: Form, structure: Structure) -> Operator:
        """The operator of a form of calls, defined when it is first asked for."""
        key = form.key, structure.form
        if key not in self._defined:
            with untraced():
                self._defined[key] = Operator(self, form, structure)
        return self._defined[key]

    def check_hidden(self, structure: Structure) -> None:
        """Raises `ArgumentError` where a gradient would be lost that goes through a closure's tensor."""
        if torch.is_grad_enabled() and any(getattr(x, "requires_grad", False) for x in structure.hidden):
            raise ArgumentError(
                f"{self.kernel.fn.__name__}: a tensor of its closure requires grad, and gradients go by arguments only",
                notes=["pass it as an argument, or detached: x.detach()"],
                id="gradient",
            )


def _hold(guards: Sequence[Any]) -> bool:
    """Whether names that an import read still have their values; of specs it has read nothing else."""
    return all(guard.holds(()) for guard in guards)
