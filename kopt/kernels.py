"""Python kernels: the decorator, the call, and the cache between them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from kopt.cached_property import cached_property
from kopt.config import Config, make_config
from kopt.error_places import placed
from kopt.errors import ArgumentError, KoptError, UnsupportedError, VmemError
from kopt.garbage_collection import collected_later
from kopt.helion_configs import helion_config
from kopt.language.running import RUNNING
from kopt.notebooks import html
from kopt.operators.graphs import traced, traced_on
from kopt.runtime.admission import admit_call, arrays_in, traced_by_jax
from kopt.runtime.bounded_cache import BoundedCache
from kopt.runtime.guards import MISS, Guard, before
from kopt.runtime.open_arrays import OpenArrays, as_called, known_dims, refusing
from kopt.runtime.open_numbers import OpenNumbers, known_parameters
from kopt.runtime.torch_tracing import REASON, breaks_graphs, keep_untraced, may_need_operator
from kopt.source_lines import source_of
from kopt.specs import as_spec
from kopt.tuning.tunable import TunableKernel

if TYPE_CHECKING:
    from kopt.frontend import Imported
    from kopt.lowered import Lowered
    from kopt.operators.calls import Operators
    from kopt.operators.gradients import BackwardRule
    from kopt.programs import ProgramOptions
    from kopt.runtime.cache import CallKeys
    from kopt.runtime.compiled_kernel import CompiledKernel
    from kopt.targets.target import Target


P = ParamSpec("P")
R = TypeVar("R")


class Kernel(TunableKernel, Generic[P, R]):
    """A Python function in the Helion language that runs as a kernel.

    Called with torch tensors or JAX arrays (and scalars, dtypes, None, callables, tuples of tensors), it imports the
    function for those shapes, lowers it for the target, and runs it; what was built is kept for the next call with
    like arguments. Torch in, torch out; JAX in, JAX out.

    Args: ``fn`` the function; ``config`` as in `kopt.config`; ``target`` where it runs, as in `parse_target`; the
    default is the accelerator that is there, else the first installed of ``pallas:interpret``, ``triton:interpret``
    and ``reference``; ``KOPT_TARGET`` overrides that; ``dynamic`` the parameters whose numbers are run-time scalars:
    one kernel serves all of their values; and dimensions of arrays, by a mapping (``{"x": [0]}``) or as
    ``"x.size(0)"``. None: numbers and extents that have changed from one call to another, where the kernel computes
    with them, or walks them, only; the first ones are compiled in.
    """

    #: Whether torch may see an operator for a call.
    _has_operators = True

    def __init__(
        self,
        fn: Callable[P, R],
        config: Mapping[str, Any] | Config | None = None,
        target: Any = None,
        dynamic: Collection[str] | Mapping[str, Any] | None = None,
    ):
        self.fn = fn
        with placed(fn):
            self.config = make_config(config)
        self.target = target
        self._compiled: BoundedCache[CompiledKernel] = BoundedCache()
        self._guards: tuple[Guard, ...] = ()
        self._backward: BackwardRule | None = None
        self._on: dict[Any, Kernel] = {_named(target): self}
        self._signature = inspect.signature(fn, follow_wrapped=False)
        self._dynamic = dynamic
        names, dims = known_dims(dynamic, self._signature.parameters)
        self._numbers, self._arrays = OpenNumbers(known_parameters(self._signature, names)), OpenArrays(dims)
        functools.update_wrapper(self, fn)
        keep_untraced(Kernel.__call__)

    def __repr__(self) -> str:
        return f"<kopt kernel {self.fn.__qualname__}>"

    def _repr_html_(self) -> str:
        return html(repr(self), source=source_of(self.fn))

    def __reduce__(self) -> Any:
        """By reference: the module and name that the function has."""
        first = next(iter(self._on.values()))
        return self.fn.__qualname__ if first is self else (Kernel.on, (first, str(self.target)))

    def on(self, target: str) -> Kernel[P, R]:
        """The same kernel on another target: ``softmax.on("pallas:strict")(x)``. They share what they compiled."""
        if (other := self._on.get(_named(target))) is None:
            other = self._for_target(target)
            other._compiled, other._on, other._backward = self._compiled, self._on, self._backward
        return self._on.setdefault(_named(target), other)

    on._torchdynamo_inline = traced_on  # pyright: ignore[reportFunctionMemberAccess]

    def _for_target(self, target: str) -> Kernel:
        return Kernel(self.fn, self.config, target, self._dynamic)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the kernel. Raises `ArgumentError`, `ConfigError`, `UnsupportedError`, `LoweringError`."""
        if (running := RUNNING.get()) is not None:
            return running.call(self.fn, self.config, args, kwargs)
        try:
            for guard in (guards := self._guards):
                if (result := guard(self, args, kwargs)) is not MISS:
                    if guard is not guards[0]:
                        self._guards = before(guard, guards)
                    return result
            return self._call(args, kwargs)
        except (KoptError, ModuleNotFoundError):
            with placed(self.fn):
                raise

    __call__._torchdynamo_inline = traced  # pyright: ignore[reportFunctionMemberAccess]

    @breaks_graphs
    def _call_outside(self, *args: Any, **kwargs: Any) -> Any:
        """A call that breaks the graph of ``torch.compile``."""
        return self(*args, **kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that no guard knows: what it leaves is a guard for others like it."""
        values = self._bind(args, kwargs)
        if self._has_operators and may_need_operator():
            from kopt.operators.levels import takes

            if takes(values):
                return self._operators.call(values)
        admit_call(self.fn.__name__, values)
        target = self._target(None, values.values())
        if not target.lowers:
            return self._run_python(values)
        if self._backward is not None and traced_by_jax(values):
            from kopt.operators.jax_gradients import call

            return call(self, values, self._compiled_for(values, target))
        keys = self._keys(target)
        key = keys.of(values)
        compiled = self._compiled_for(values, target, keys)
        result = compiled.run(values)
        guard = compiled.guard(self, args, kwargs) if self._surroundings(target) is None else None
        if guard is not None and self._keys(target).of(values) == key:  # what runs may change what the key is of
            self._guards = before(self._kept.watched(guard), self._guards)
        return result

    def _compiled_for(self, values: dict[str, Any], target: Target, given: CallKeys | None = None) -> CompiledKernel:
        """What runs a call: what was compiled for others like it, else what now is; ``given`` are the call's keys."""
        keys = self._keys(target) if given is None else given

        def compiled(opened: dict[str, Any]) -> CompiledKernel:
            return self._compiled.find_or_make(
                keys.of(opened),
                lambda found: found.form.holds(values),
                lambda: self._compile(opened, target),
            )

        return self._arrays.compiled(
            values, target, keys.of, lambda opened: self._numbers.compiled(opened, keys.of, compiled)
        )

    @cached_property
    def _operators(self) -> Operators:
        """The kernel as torch's tracers and transforms see it."""
        from kopt.operators.calls import Operators

        return Operators(self)

    def operator(self, *args: Any, **kwargs: Any) -> Any:
        """The kernel as an operator of torch, ``torch.ops.kopt.…``, for calls with arguments like these.

        Operators are defined when torch first asks for one. A process that loads an exported program or a package asks
        by this. Args: tensors, or specs such as ``"f32[4096,2560]"`` in their place. Raises `UnsupportedError` for
        programs, and as `lower` does.
        """
        with placed(self.fn):
            if not self._has_operators:
                raise UnsupportedError(f"'{self.fn.__name__}' is a program, and {REASON}")
            values = {name: as_spec(value) for name, value in self._bind(args, kwargs).items()}
            admit_call(self.fn.__name__, values, lowers=True)
            return self._operators.overload(values)

    def backward(self, function: Any = None, *, saved: Sequence[str] | None = None) -> Any:
        """Gives the kernel a backward: ``@softmax.backward``, ``softmax.backward(kernel, saved=("grad", "result"))``.

        ``function``, a kernel or a function, takes gradients, results and arguments of the forward by the names of its
        parameters, or in the order of ``saved``: ``grad``, ``result`` (``grad_0``, … where there are several results)
        and the names of the forward's parameters. It returns the gradients of the forward's floating-point tensors in
        order, or a dict of them by name. Raises `ArgumentError` for other names.
        """
        if function is None:
            return functools.partial(self.backward, saved=saved)
        from kopt.operators.gradients import backward_rule

        rule = backward_rule(self, function, saved)
        for kernel in self._on.values():
            kernel._backward = rule
        return function

    def _run_python(self, values: dict[str, Any]) -> Any:
        """On the target ``eager``: the function itself."""
        from kopt.eager.kernel import run
        from kopt.runtime.exchange import check_grad

        for name, array in (found for item in values.items() for found in arrays_in(*item)):
            check_grad(array, name)
        bound = inspect.BoundArguments(self._signature, dict(values))  # pyright: ignore[reportArgumentType]
        return run(self.fn, bound.args, bound.kwargs, self.config)

    def _keys(self, target: Target) -> CallKeys:
        from kopt.runtime.cache import CallKeys, torch_state

        return CallKeys(self.fn, str(target), torch_state(), self._surroundings(target), self._kept.state())

    def _compile(self, values: dict[str, Any], target: Target) -> CompiledKernel:
        """From the cache on disk, else compiled, and kept there after its first call."""
        from kopt.runtime.devices import require
        from kopt.stored.disk_cache import DiskCall

        require(target, traces=True)
        config = self._kept.configuration(as_called(values, target), target)[0]
        call = DiskCall.of(self.fn, list(values.values()), target, config, self._surroundings(target))
        if call is not None and (found := call.find(self._signature)) is not None:
            return found
        compiled = (low := self._kept.lowered(values, target, self._lower)).compile()
        if call is not None:
            compiled.after_call = lambda: call.keep(low)
        return compiled

    def lower(self, *args: Any, target: Any = None, config: Mapping[str, Any] | None = None, **kwargs: Any) -> Lowered:
        """Imports and lowers the kernel for arguments, without running it.

        Args: tensors, or specs such as ``"f32[4096,2560]"`` in their place; ``target`` and ``config`` override the
        kernel's own. Raises as calling does.
        """
        with placed(self.fn):
            checked = None if config is None else make_config(config)
            values = {name: as_spec(value) for name, value in self._bind(args, kwargs).items()}
            admit_call(self.fn.__name__, values, lowers=True)
            found = self._target(target)
            opened = self._numbers.named_open(self._arrays.named_open(values, found))
            if checked is None:
                return self._kept.lowered(opened, found, self._lower)
            return self._lower(opened, found, checked)

    def executable(self, *args: Any, target: Any = None, config: Mapping[str, Any] | None = None, **kwargs: Any) -> Any:
        """What runs the kernel on a target, which it names: compiled for arguments as `lower` takes them."""
        found = self._target(target)
        if found.lowers:
            return self.lower(*args, target=found, config=config, **kwargs).compile()
        from kopt.eager.kernel import EagerKernel

        return EagerKernel(self._configured(config), found)

    def _configured(self, config: Mapping[str, Any] | None) -> Kernel:
        return self if config is None else Kernel(self.fn, config, self.target, self._dynamic)

    def cache_clear(self) -> None:
        """Forgets everything that was compiled."""
        self._compiled.clear()
        for kernel in self._on.values():
            kernel._guards = ()

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The values of all parameters by name, defaults included."""
        from kopt.specs import stored

        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{self.fn.__name__}: {error}") from None
        bound.apply_defaults()
        return {name: stored(value) for name, value in bound.arguments.items()}

    def _target(self, target: Any, values: Iterable[Any] = ()) -> Target:
        """The target that is named, else the default one; programs go by the arguments too."""
        from kopt.runtime.devices import default_target
        from kopt.targets.target import parse_target

        named = target if target is not None else self.target
        return default_target() if named is None else parse_target(named)

    def _surroundings(self, target: Target) -> Hashable:
        """What a call depends on besides its arguments, None for nothing."""
        return None

    def _algorithm(self, target: Target) -> str | None:
        """The algorithm of collectives that name none."""
        return None

    def _plan(self, groups: Mapping[str, str], target: Target) -> ProgramOptions | None:
        """How memory and collectives are planned, for a program of process groups."""
        return None

    def _lower(self, values: dict[str, Any], target: Target, config: Config) -> Lowered:
        """Lowers; where the config's blocks do not fit, says which do."""
        try:
            with refusing(values):
                return self._lower_once(values, target, config)
        except VmemError as error:
            from kopt.fitting_blocks import with_sizes_that_fit

            raise with_sizes_that_fit(error, config, lambda other: self._lower_once(values, target, other)) from None

    def _imported(self, values: dict[str, Any], target: Target, config: Config) -> tuple[Imported, Config]:
        """The function imported for a call, and the configuration with the sizes of its blocks."""
        from kopt.importing import import_for_target

        return import_for_target(self.fn, values, target, config, self._algorithm(target))

    def _import(self, values: dict[str, Any], target: Target) -> Imported:
        """The function imported for the specs of a call, whose program says what comes back and what is written."""
        from kopt.diagnostics import collect
        from kopt.targets.target import parse_target

        with collected_later(), collect():
            return self._imported(values, target if target.lowers else parse_target("reference"), self.config)[0]

    def _lower_once(self, values: dict[str, Any], target: Target, config: Config) -> Lowered:
        target.refuse_lowering()
        from kopt.diagnostics import Diagnostic, collect, report
        from kopt.importing import form_of, signature_of
        from kopt.lowered import lower

        with collected_later():
            with collect() as remarks:
                for text in config.remarks:
                    report(Diagnostic("remark", text))
                imported, config = self._imported(values, target, config)
            return lower(
                imported.module,
                imported.entry,
                target,
                config,
                signature_of(imported),
                imported.hidden,
                form_of(self._signature, values, imported),
                self._plan(imported.groups, target),
                imported.groups,
                opened=imported.opened,
                remarks=remarks,
                allow_inline=True,  # whoever wrote it has written this process's Python too
            )


def _named(target: Any) -> Hashable:
    """What a target is known by among the kernels of one function."""
    return type(target), str(target)


@overload
def kernel(
    fn: Callable[P, R],
    *,
    config: Mapping[str, Any] | Config | None = None,
    target: Target | str | None = None,
    dynamic: Collection[str] | Mapping[str, Any] | None = None,
) -> Kernel[P, R]: ...


@overload
def kernel(
    fn: None = None,
    *,
    config: Mapping[str, Any] | Config | None = None,
    target: Target | str | None = None,
    dynamic: Collection[str] | Mapping[str, Any] | None = None,
) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...


def kernel(fn: Any = None, *, config: Any = None, target: Any = None, dynamic: Any = None) -> Any:
    """Makes a kernel of a Python function: ``@kopt.kernel``, ``@kopt.kernel(config={…})``, ``kopt.kernel(f)``.

    ``dynamic`` names numbers and dimensions that differ from call to call, as in `Kernel`; ``()`` compiles each.

    ``fn`` is a plain function or a Helion kernel. Of a Helion kernel's own ``config``, and of one given here in its
    words, the keys that kopt has are honoured. Raises `ArgumentError` for anything else.
    """
    if fn is None:
        return functools.partial(kernel, config=config, target=target, dynamic=dynamic)
    if isinstance(fn, Kernel):
        said = dynamic if dynamic is not None else fn._dynamic
        return Kernel(fn.fn, config if config is not None else fn.config, target or fn.target, said)
    inner = fn if inspect.isfunction(fn) else getattr(fn, "fn", None)
    if not inspect.isfunction(inner):
        raise ArgumentError(f"a kernel is made of a Python function, found {type(fn).__name__}")
    return Kernel(inner, config if inner is fn else helion_config(fn, config), target, dynamic)
