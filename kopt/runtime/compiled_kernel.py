"""A compiled kernel as its Python function: from values of parameters to arrays, from results to what it returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kopt.runtime.executable import Executable
from kopt.runtime.guards import Compiled, Guard, Path, make_guard
from kopt.runtime.pallas_interpret import as_list
from kopt.runtime.read_values import ReadValue
from kopt.runtime.results import Constant, FromArgument, FromResult, Result
from kopt.runtime.run_time_scalars import ScalarArgument, follow
from kopt.runtime.torch_tracing import breaks_graphs, keep_untraced
from kopt.specs import TensorSpec, framework_of
from kopt.targets.target import Target


@dataclass(frozen=True)
class CallForm:
    """What a call of a Python function has to do with one of the function that was imported.

    ``signature`` is the Python function's; ``paths`` say where its tensors are in the values of the parameters: a
    parameter's name, then keys into tuples and dicts, or what computes one of numbers. ``numbers`` are the paths of
    those that each call gives. ``results`` rebuilds what Python returns; ``mutated`` numbers the
    tensors that are written, hidden ones counted on; ``reads`` are values that the import relied on. ``arguments`` are
    the values of the parameters that are data, in which tensors are `FromArgument`; nothing else is kept alive.
    """

    signature: inspect.Signature
    paths: tuple[Path | ScalarArgument, ...]
    results: Result
    mutated: tuple[int, ...] = ()
    reads: tuple[ReadValue, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False)
    numbers: frozenset[Path] = frozenset()

    def tensors(self, values: dict[str, Any]) -> list[Any]:
        """The tensors of a call, in the order of the imported function.

        Raises `ArithmeticError` for numbers that an argument cannot hold.
        """
        first = next((path for path in self.paths if isinstance(path, tuple)), None)
        like = None if first is None else follow(values, first)
        return [
            path.array(values, like) if isinstance(path, ScalarArgument) else follow(values, path)
            for path in self.paths
        ]

    def holds_numbers(self, values: dict[str, Any]) -> bool:
        """Whether the arguments that are computed of numbers can hold those of a call."""
        try:
            self.tensors(values)
        except ArithmeticError:
            return False
        return True

    def holds(self, values: dict[str, Any]) -> bool:
        """Whether what the import read from tensors and globals still has the same value."""
        tensors = self.tensors(values) if self.reads else []
        return all(read.holds(tensors) for read in self.reads)

    @property
    def gives_results(self) -> bool:
        """Whether Python returns what the imported function does."""
        return not self.mutated and self.results.is_only_result

    def rebuild(self, outputs: list[Any], arguments: list[Any]) -> Any:
        """What Python returns, by the results and final values that came, and all tensors that went in.

        JAX arrays cannot change: their final values follow the results, unless they are among these.
        """
        if not self.mutated:
            return self.results.build(outputs, arguments)
        changed = [number for number in self.mutated if framework_of(arguments[number]) == "jax"]
        finals = outputs[len(outputs) - len(changed) :] if changed else []
        for number, final in zip(changed, finals, strict=True):
            arguments[number] = final
        results = outputs[: len(outputs) - len(changed)]
        value = self.results.build(results, arguments)
        extra = [arguments[number] for number in changed if number not in self.results.arguments]
        if not extra:
            return value
        first = [] if value is None else list(value) if type(value) is tuple else [value]
        return extra[0] if not first and len(extra) == 1 else (*first, *extra)


def form_of_tensors(names: Sequence[str], results: int, mutated: Sequence[int]) -> CallForm:
    """The form of calls of a function of IR: its tensors by name or in order; its results, a tuple where several."""
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    leaves = tuple(map(FromResult, range(results)))
    tree = leaves[0] if results == 1 else leaves or Constant(None)
    arguments = {name: FromArgument(number) for number, name in enumerate(names)}
    paths = tuple((name,) for name in names)
    return CallForm(inspect.Signature(parameters), paths, Result(tree), tuple(mutated), arguments=arguments)


@dataclass(eq=False)  # JAX's transformations hash what they are given
class CompiledKernel:
    """A kernel ready to run on its target, called with the arguments of the Python function.

    Torch and NumPy arguments that the kernel changes are updated. JAX arrays cannot change: their final values follow
    the results, unless the kernel returns those arguments itself.
    """

    executable: Executable
    form: CallForm
    #: What is still to be done once a call has gone well; None where nothing is.
    after_call: Callable[[], None] | None = None
    #: The types of arguments of calls that have no guard: text for them is not made again and again.
    unguarded: set[tuple[type, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        keep_untraced(CompiledKernel.__call__)
        self.executable.framework = "torch"  # a kernel that makes tensors from numbers alone asks torch for them

    @property
    def target(self) -> Target:
        """Where it runs."""
        return self.executable.target

    @breaks_graphs
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the kernel for arguments like those that it was lowered for."""
        bound = self.form.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self.run(bound.arguments)

    def run(self, values: dict[str, Any]) -> Any:
        """Runs the kernel for parameters by name, defaults included."""
        tensors = self.form.tensors(values)
        return self.form.rebuild(self.outputs(tensors), [*tensors, *self.executable.hidden])

    def outputs(self, tensors: list[Any]) -> list[Any]:
        """What the emitted function gives for the tensors of a call: results, then final values of JAX arrays."""
        outputs = as_list(self.executable(*tensors))
        if self.after_call is not None:
            after, self.after_call = self.after_call, None
            after()
        return outputs

    @property
    def _open(self) -> dict[Path, TensorSpec]:
        """The specs of arrays with extents that any call may give, by their paths."""
        pairs = zip(self.form.paths, self.executable.params.specs, strict=True)
        return {path: spec for path, spec in pairs if isinstance(path, tuple) and spec.open}

    def guard(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Guard | None:
        """The short way for calls of a kernel like one that was admitted and has run; None where there is none."""
        types = tuple(map(type, (*args, *kwargs.values())))
        if types in self.unguarded:
            return None
        bound = self.form.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        form, hidden = self.form, self.executable.hidden
        launch = self.executable.launcher(form.tensors(bound.arguments))

        def rebuilt(*tensors: Any) -> Any:
            return form.rebuild(as_list(launch(*tensors)), [*tensors, *hidden])

        run = launch if form.gives_results else rebuilt
        found = Compiled(form.paths, hidden, form.mutated, form.reads, form.numbers, run, self._open)
        guard = make_guard(kernel, form.signature, args, kwargs, found)
        if guard is None:
            self.unguarded.add(types)
        return guard
