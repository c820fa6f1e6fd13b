"""What a call gives back, and what it writes, by the specs of its arguments: the kernel is imported, not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from kopt.operators.operands import taken_apart
from kopt.runtime.results import FromResult, Result
from kopt.runtime.seeds import RandomSeed
from kopt.specs import TensorSpec, contiguous_strides, dtype_named
from kopt.trees import leaves

if TYPE_CHECKING:
    from kopt.runtime.compiled_kernel import CompiledKernel


@dataclass(frozen=True)
class Structure:
    """What follows from an import: the specs of the results, how the Python result is built, and what is written.

    ``mutated`` are the numbers of the tensor arguments that change, ``hidden`` the tensors of closures and globals.
    """

    specs: tuple[TensorSpec, ...]
    results: Result
    mutated: tuple[int, ...]
    hidden: tuple[Any, ...]

    @property
    def draws(self) -> bool:
        """Whether each call draws random numbers."""
        return any(isinstance(value, RandomSeed) for value in self.hidden)

    @property
    def form(self) -> tuple[Any, ...]:
        """What the operators of two calls must have in common."""
        places = tuple(getattr(leaf, "number", None) for leaf in leaves(self.results.tree))
        return len(self.specs), self.mutated, self.draws, places


def structure_of(imported: Any) -> Structure:
    """The structure of an imported kernel."""
    from kopt.analysis.entry import entry_function
    from kopt.signatures import result_specs

    specs = result_specs(entry_function(imported.module, imported.entry))
    count = len(specs) - len(imported.mutated)
    return Structure(specs[:count], imported.results, tuple(imported.mutated), tuple(imported.hidden))


def structure_of_compiled(compiled: CompiledKernel) -> Structure:
    """The structure of a compiled kernel."""
    form, executable = compiled.form, compiled.executable
    specs = executable.results or ()
    return Structure(specs[: len(specs) - len(form.mutated)], form.results, form.mutated, executable.hidden)


def outputs_of(structure: Structure, value: Any) -> list[torch.Tensor]:
    """The results in a Python value that a call has given, by their numbers."""
    found: dict[int, torch.Tensor] = {}
    for leaf, item in zip(leaves(structure.results.tree), leaves(value), strict=True):
        if isinstance(leaf, FromResult):
            found[leaf.number] = item
    return [found[number] for number in range(len(structure.specs))]


def fresh(outputs: Sequence[torch.Tensor], operands: Sequence[Any]) -> list[torch.Tensor]:
    """Results in row-major order and in memory of their own, as an operator's must be."""
    taken = {operand.untyped_storage().data_ptr() for operand in operands if isinstance(operand, torch.Tensor)}
    found = []
    for output in outputs:
        own = output.untyped_storage().data_ptr() not in taken
        row_major = tuple(output.stride()) == contiguous_strides(tuple(output.shape))
        found.append(output if own and row_major else output.clone(memory_format=torch.contiguous_format))
        taken.add(found[-1].untyped_storage().data_ptr())
    return found


def exact(number: Any) -> Any:
    """A number; of one that torch leaves open, the traced program is for this value alone from now on."""
    kind = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}.get(type(number))
    return number if kind is None else kind(number)


def hint(number: Any) -> Any:
    """A number as it is in the example that torch traces with."""
    if isinstance(number, torch.SymInt):
        from torch.fx.experimental.symbolic_shapes import optimization_hint

        return optimization_hint(number)
    if isinstance(number, torch.SymFloat):  # one that a tensor holds is known when the graph runs: any serves as well
        return 1.0 if number.node._hint is None else number.node._hint
    return exact(number)


def specs_of(values: Mapping[str, Any], known: Callable[[Any], Any]) -> dict[str, Any]:
    """Values of parameters with specs for tensors, and numbers that are ``known``."""
    form, operands = taken_apart(values)
    return form.values([_spec(x, known) if isinstance(x, torch.Tensor) else known(x) for x in operands])


def _spec(tensor: torch.Tensor, known: Callable[[Any], Any]) -> TensorSpec:
    return TensorSpec(
        tuple(map(known, tensor.shape)), dtype_named(str(tensor.dtype)), tuple(map(known, tensor.stride()))
    )


@contextmanager
def untraced() -> Iterator[None]:
    """While it lasts, torch does nothing to what is computed: as in a thread that has just begun, without gradients."""
    from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
    from torch.utils._python_dispatch import _disable_current_modes

    state = torch._C._get_tracing_state()
    set_state: Callable[[Any], None] = torch._C._set_tracing_state  # pyright: ignore[reportAttributeAccessIssue]
    if state is not None:
        set_state(None)
    try:
        with (
            _without_function_modes(),
            temporarily_clear_interpreter_stack(),
            _disable_current_modes(),
            torch._C._DisablePythonDispatcher(),
            torch._C._ForceDispatchKeyGuard(*_dispatch_keys()),
            torch.no_grad(),
        ):
            yield
    finally:
        if state is not None:
            set_state(state)


@contextmanager
def _without_function_modes() -> Iterator[None]:
    """While it lasts, no mode sees torch's functions: export has one that writes changes of autograd into its graph."""
    from torch._C import _len_torch_function_stack
    from torch.overrides import _pop_mode, _push_mode

    modes = [_pop_mode() for _ in range(_len_torch_function_stack())]
    try:
        yield
    finally:
        for mode in reversed(modes):
            _push_mode(mode)


@cache
def _dispatch_keys() -> tuple[Any, Any]:
    """The dispatch keys that a thread includes and excludes in the beginning; inside of an operator it has others."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(
            lambda: (torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set())
        ).result()
