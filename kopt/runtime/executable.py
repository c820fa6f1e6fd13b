"""A compiled kernel that can be called: checks its arguments, moves them to where the target runs, runs it, moves the
results back to the caller's framework, and writes back what the kernel mutated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kopt.diagnostics import Diagnostic
from kopt.errors import ArgumentError, ConfigError, KoptError, Location
from kopt.runtime.admission import admit_call, admit_known, admit_written
from kopt.runtime.argument_checks import check_accesses, check_intervals, check_slices
from kopt.runtime.devices import require
from kopt.runtime.emitted import needs_wide
from kopt.runtime.exchange import convert, lending, wide
from kopt.runtime.pallas_interpret import as_list
from kopt.runtime.seeds import drawn
from kopt.runtime.signature import Signature
from kopt.runtime.wire import Packed, from_reference, pack, to_reference, unpack
from kopt.runtime.write_back import WriteBack
from kopt.specs import TensorSpec, framework_of, spec_of, stored
from kopt.targets.target import Target, parse_target

if TYPE_CHECKING:
    from kopt.runtime.argument_checks import Checks

#: The Python callable behind the ``reference`` target; bf16 and fp8 values are held in float32.
Interpret = Callable[[list[np.ndarray]], list[np.ndarray]]


class Runner(Protocol):
    """Runs one emitted module on ``torch`` or ``jax`` arrays, or on ``packed`` bits."""

    @property
    def framework(self) -> str:
        """What it takes."""
        ...

    @property
    def devices(self) -> tuple[str, ...]:
        """The device types that it reads."""
        ...

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Call the kernel: its results, then the final value of each mutated argument."""
        ...


class ReferenceRunner:
    """Runs the NumPy reference interpreter on arrays as bits."""

    framework = "packed"
    devices = ("cpu",)

    def __init__(self, interpret: Interpret, results: Sequence[TensorSpec] | None):
        self._interpret = interpret
        self._results = results

    def run(self, arrays: Sequence[Packed]) -> list[Packed]:
        """Interpret; results take the dtypes of the result specs, or NumPy's own where there are none."""
        results = [np.asarray(result) for result in self._interpret([to_reference(array).copy() for array in arrays])]
        specs = self._results if self._results is not None else [spec_of(result) for result in results]
        return [from_reference(result, spec.dtype) for result, spec in zip(results, specs, strict=True)]


class Executable:
    """A kernel compiled for one target and one set of argument specs.

    Args: ``source`` the emitted module's text and ``entry`` its public function; ``params`` what it takes;
    ``hidden`` tensors of closures and globals, passed after the arguments; ``interpret`` the reference target's
    callable; ``mutated`` indices of the parameters (hidden ones count on) that the kernel writes, whose final values
    end the function's results; ``results`` the specs of everything it returns, where they are known (the reference
    target needs them for bf16 and fp8); ``time_limit`` seconds for a call that runs in a worker; ``race_cells`` the
    largest grid in which ``pallas:strict`` looks for races; ``swap`` whether mutated torch arguments of Pallas targets
    take over the storage of their final values where that is safe (`kopt.runtime.swap`), with a remark where it is not;
    ``location`` of the kernel, for remarks; ``checks`` what calls look at of its accesses and items, and ``intervals``
    those of integers by argument, before they run (`kopt.runtime.argument_checks`); ``groups`` torch's names of a
    program's process groups by those of its parameters, None for a kernel.

    Calling it returns None, a value or a tuple, in the framework of the arguments. torch and NumPy arguments that the
    kernel mutates are updated; for JAX arrays, which cannot change, the final values come last in the results.
    """

    def __init__(
        self,
        source: str,
        entry: str,
        params: Signature,
        target: Target | str,
        *,
        hidden: Sequence[Any] = (),
        interpret: Interpret | None = None,
        mutated: Sequence[int] = (),
        results: Sequence[TensorSpec] | None = None,
        time_limit: float | None = None,
        race_cells: int | None = None,
        swap: bool = False,
        location: Location | None = None,
        checks: Checks | None = None,
        intervals: Mapping[int, tuple[int, int]] | None = None,
        groups: Mapping[str, str] | None = None,
    ):
        self.source = source
        self.entry = entry
        self.params = params
        self.target = parse_target(target)
        self.hidden = tuple(hidden)
        self.mutated = tuple(mutated)
        self.results = None if results is None else tuple(results)
        #: What the results of a function without arguments are.
        self.framework = "numpy"
        names = [parameter.name for parameter in params.parameters]
        self.swaps = swap and self.target.family == "pallas"
        self._write_back = WriteBack(self.mutated, names, self.swaps, location)
        self._interpret = interpret
        self._time_limit = time_limit
        self._race_cells = race_cells
        self._names = [*names, *("a closure's tensor" for _ in hidden)]
        self._checks = checks
        self._intervals = intervals or {}
        self.groups = groups
        self.location = location

    def __repr__(self) -> str:
        return f"<kopt executable {self.params} for {self.target}>"

    def __call__(self, *args: Any) -> Any:
        try:
            return self._call(*args)
        except KoptError as error:
            if error.location is None:
                error.location, error.of_call = self.location, True
            raise

    def _call(self, *args: Any) -> Any:
        named = {p.name: arg for p, arg in zip(self.params.parameters, args, strict=False)}
        admit_call(self.params.kernel, named, lowers=True)  # the signature knows what is wrong with other devices
        framework = self.params.check(args, self._runner.devices)
        values = [*args, *drawn(self.hidden, args)]
        if self._runner.framework != "jax":
            for name, value in zip(self._names, values, strict=True):
                admit_known(self.params.kernel, name, value, str(self.target))
        for number in self.mutated:
            admit_written(self.params.kernel, self._names[number], values[number])
        return _packaged(self._run(values, self._framework(framework, args)))

    def _framework(self, found: str, args: Sequence[Any]) -> str:
        """The framework of the results, by what was found of the arguments."""
        if args:
            return found
        return framework_of(self.hidden[0]) or found if self.hidden else self.framework

    def _run(self, values: list[Any], framework: str) -> list[Any]:
        """Runs for values that were admitted: looks at what they hold, moves them there, and the results back."""
        if (checks := self._checks) is not None:
            check_slices(self.params.kernel, checks.slices, values, checks.host_arrays)
        check_intervals(self.params.kernel, self._names, self._intervals, values)
        if checks is not None:
            check_accesses(checks.accesses, values)
        hazards = self._write_back.hazards(values)
        outputs = self._runner.run([self._import(i, value) for i, value in enumerate(values)])
        exported = [self._export(output, framework) for output in outputs]
        if self.mutated and self._runner.framework != "torch":  # there, arguments have changed in place already
            exported = self._write_back.apart(values, exported)
        return self._write_back.finish(values, exported, hazards)

    def launcher(self, args: Sequence[Any]) -> Callable[..., Any]:
        """What to call for arguments that `kopt.runtime.guards` knows to be like these, which have run.

        It gives what the executable gives. Where the target takes the arrays as they are, it is the emitted function.
        """
        framework = self._framework(framework_of(args[0]) or "numpy" if args else "numpy", args)
        direct = None if self._has_checks else self._direct([*args, *self.hidden], framework)
        return direct or (lambda *args: _packaged(self._run([*args, *drawn(self.hidden, args)], framework)))

    @property
    def _has_checks(self) -> bool:
        """Whether each call looks at what arguments hold."""
        return bool(self._intervals) or self._checks is not None and self._checks.remain

    def _direct(self, values: Sequence[Any], framework: str) -> Callable[..., Any] | None:
        """The launcher where only the runner is between, or what lends it tensors; None where there is more to do."""
        frameworks = {framework_of(value) for value in values} | {framework}
        make = getattr(self._runner, "launcher", None)
        as_they_are = len(frameworks) == 1 and all(stored(value) is value for value in values)
        if make is None or not as_they_are:
            return None
        if framework != self._runner.framework:
            lends = framework == "torch" and not self.mutated and self.results is not None
            launch = lending(make(values, waits=True), values, self.results or ()) if lends else None
        else:
            launch = make(values)
        hidden, finish = self.hidden, self._write_back.finish
        if launch is None:
            return None
        if self.mutated:
            return lambda *args: _packaged(finish([*args, *hidden], as_list(launch(*args, *hidden)), {}))
        return (lambda *args: launch(*args, *hidden)) if hidden and launch else launch

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """What calls so far had to say, each once."""
        return tuple(self._write_back.remarks)

    @property
    def function(self) -> Callable[..., Any]:
        """The emitted function as this process runs it: of JAX arrays or of torch tensors.

        Raises `ConfigError` on targets that run in another process or not from the emitted text.
        """
        function = getattr(self._runner, "function", None)
        if function is None:
            raise ConfigError(
                f"target '{self.target}' does not run the emitted function in this process", id="target-not-here"
            )
        return function

    @cached_property
    def _runner(self) -> Runner:
        return make_runner(self)

    @cached_property
    def _specs(self) -> tuple[TensorSpec, ...]:
        """The specs of all inputs; the layout of a hidden tensor is taken as it is."""
        return (*self.params.specs, *(spec_of(value) for value in self.hidden))

    @cached_property
    def uses_wide(self) -> bool:
        """Whether JAX must keep 64-bit elements, by the arguments, the results or the text."""
        return needs_wide(self.source, (*self._specs, *(self.results or ())))

    def _import(self, index: int, value: Any) -> Any:
        """An argument as the runner takes it; a JAX buffer that the kernel would write to is copied."""
        if self._runner.framework == "packed":
            return pack(value)
        framework = framework_of(value) or ""
        array = convert(value, getattr(self._runner, "taken_as", {}).get(framework, self._runner.framework))
        shares = framework == "jax" and self._runner.framework == "torch"
        return array.clone() if shares and index in self.mutated else array

    def _export(self, value: Any, framework: str) -> Any:
        if not isinstance(value, Packed):
            return convert(value, framework)
        with wide(framework == "jax" and value.dtype.bits == 64):
            return unpack(value, framework)


def _packaged(results: list[Any]) -> Any:
    """No result → None, one → the value, several → a tuple."""
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def make_runner(exe: Executable) -> Runner:
    """The runner of an executable's target. Raises `ConfigError` where it cannot run here."""
    require(exe.target, traces=not exe.groups)
    return _RUNNERS[exe.target.family, exe.target.mode](exe)


def _reference(exe: Executable) -> Runner:
    if exe._interpret is None:
        raise ArgumentError("the reference target runs IR, and this executable has only emitted text")
    return ReferenceRunner(exe._interpret, exe.results)


def _pallas(exe: Executable) -> Runner:
    from kopt.runtime.mesh_program import MeshProgramRunner
    from kopt.runtime.pallas_interpret import PallasRunner

    if exe.groups:
        return MeshProgramRunner(exe.source, exe.entry, exe.target, exe.groups, exe.uses_wide)
    return PallasRunner(exe.source, exe.entry, exe.target, exe.uses_wide, exe.location)


def _strict(exe: Executable) -> Runner:
    if exe.groups:
        return _pallas(exe)
    from kopt.runtime.pallas_strict import RACE_CELLS, StrictRunner

    cells = RACE_CELLS if exe._race_cells is None else exe._race_cells
    return StrictRunner(exe.source, exe.entry, exe.target, exe.uses_wide, cells, exe._time_limit)


def _triton(exe: Executable) -> Runner:
    from kopt.runtime.triton_interpret import triton_runner

    if exe.groups is not None:
        from kopt.runtime.program import program_runner

        return program_runner(exe.source, exe.entry, exe.target, exe._specs, exe.groups, exe._time_limit)
    return triton_runner(exe.source, exe.entry, exe.target, exe._specs, exe._time_limit)


_RUNNERS: dict[tuple[str, str], Callable[[Executable], Runner]] = {
    ("reference", "interpret"): _reference,
    ("pallas", "interpret"): _pallas,
    ("pallas", "strict"): _strict,
    ("pallas", "chip"): _pallas,
    ("triton", "interpret"): _triton,
    ("triton", "chip"): _triton,
}
