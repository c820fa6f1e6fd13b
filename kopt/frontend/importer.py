"""From a Python function and its arguments to a module: the import itself."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, SSAValue

from kopt import dtypes
from kopt.building import types
from kopt.config import unknown_key
from kopt.dialects.builder import as_hint
from kopt.dialects.host import AllocOp, CallOp, ViewOp
from kopt.dialects.tile.extent_names import name_extents
from kopt.dialects.tile.sizes import mark_read_sizes
from kopt.error_places import located
from kopt.errors import ArgumentError, ConfigError, UnsupportedError
from kopt.frontend import hooks, host_ops, source
from kopt.frontend.calls import current_rewritten
from kopt.frontend.dtypes import from_spec
from kopt.frontend.host import Host, HostArray, Root, to_torch
from kopt.frontend.open_shapes import bind, memref_type, stand_ins
from kopt.frontend.registration import register_all
from kopt.frontend.results import result_tree
from kopt.frontend.run_time_scalars import open_number
from kopt.frontend.state import state
from kopt.frontend.tracer import BlockInfo, Tracer
from kopt.runtime.admission import admit
from kopt.runtime.read_values import ReadValue, named_values
from kopt.runtime.results import Result
from kopt.runtime.run_time_scalars import Path, RunTimeScalar, ScalarArgument
from kopt.runtime.seeds import RandomSeed
from kopt.runtime.sharing import same_elements, share_an_element
from kopt.specs import TensorSpec, framework_of, is_struct, spec_of

if TYPE_CHECKING:
    from kopt.passes.opened import Opened

Sizes = Sequence[int] | Callable[[list[BlockInfo]], Sequence[int]]


@dataclass(frozen=True)
class Param:
    """One tensor argument of the imported function: its name in the IR, its spec, and where it comes from.

    ``path`` is the parameter's name, then keys into tuples and dicts; empty for hidden tensors, and what computes it
    for an argument that is made of a call's numbers.
    """

    name: str
    spec: TensorSpec
    path: Path | ScalarArgument = ()


@dataclass
class Imported:
    """What an import gives. ``params`` lists tensor arguments in order, hidden ones (``hidden``) last.

    ``results`` rebuilds the Python result from the function's; ``mutated`` numbers the arguments that are written;
    ``guards`` are host values the import relied on; ``blocks`` and ``tunables`` what a configuration may choose;
    ``groups`` torch's names of the process groups, by those of the IR; ``opened`` what the choice of block sizes
    changed in ``module``; ``choices`` the values that tunables may have, where they say so; ``printed`` what the kernel
    printed.
    """

    module: ModuleOp
    entry: str
    params: list[Param]
    hidden: list[Any]
    results: Result
    mutated: list[int]
    guards: list[ReadValue]
    blocks: list[BlockInfo]
    tunables: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    opened: Opened | None = None
    choices: dict[str, list[Any]] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)


def import_kernel(
    fn: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    block_sizes: Sizes | None = None,
    tunables: Mapping[str, Any] | None = None,
    dot_precision: str | None = None,
    all_reduce: str | None = None,
    pinned: bool = True,
) -> Imported:
    """Imports a function of the kernel language for given arguments.

    Args: ``fn`` a plain function or a kernel object that holds one; ``args`` arrays, specs, scalars, dtypes, None,
    callables, and tuples, lists and named tuples of them, with `RunTimeScalar` for numbers that each call gives;
    ``block_sizes`` one number for each open tile in order of appearance, or a function from what is known of them to
    the numbers, or None for provisional ones; ``tunables`` by name; ``dot_precision`` what f32 products may round to
    (a word of `PRECISIONS`; None: the target's default); ``pinned`` whether the sizes are to stay, and are no
    candidates that may turn out too large; ``all_reduce`` the algorithm of collectives that name none, as in
    `kopt.dialects.symm.AllReduceOp`.

    Raises `UnsupportedError` with the place for what cannot be imported, `ArgumentError`, `ConfigError`.
    """
    function = _function(fn)
    if callable(block_sizes):
        found = _Import(function, None, tunables or {}, dot_precision, all_reduce, pinned).run(args, kwargs or {})
        block_sizes = list(block_sizes(found.blocks))
    return _Import(function, block_sizes, tunables or {}, dot_precision, all_reduce, pinned).run(args, kwargs or {})


def _function(fn: Any) -> FunctionType:
    """The Python function of a kernel object; ``functools.wraps`` is not undone."""
    while not isinstance(fn, FunctionType):
        inner = getattr(fn, "fn", None)
        if inner is None:
            raise ArgumentError(f"a kernel is made of a Python function, found {type(fn).__name__}")
        fn = inner
    return fn


class _Import:
    """One import under way. It refers to itself, so it must not keep the arguments: memory and groups of processes."""

    def __init__(
        self,
        function: FunctionType,
        sizes: Sequence[int] | None,
        tunables: Mapping[str, Any],
        dot_precision: str | None,
        all_reduce: str | None,
        pinned: bool,
    ):
        register_all()
        self.function = function
        self.block = Block()
        self.tracer = Tracer(self.block, sizes, tunables, dot_precision, pinned)
        self.host = Host(self.tracer, host_ops.record, self._add_hidden, self._seed, self._scalar)
        self.host.all_reduce = all_reduce
        self.tracer.host = self.host
        self.tracer.hooks = hooks
        self.params: list[Param] = []
        self.metas: list[torch.Tensor] = []
        self.hidden: list[tuple[Param, Any, torch.Tensor]] = []

    def run(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Imported:
        """Runs the function and wraps up what was recorded."""
        bound = _bind(self.function, args, kwargs)
        outer, state.tracer = state.tracer, self.tracer
        try:
            values = {name: self._argument(value, (name,)) for name, value in bound.arguments.items()}
            bound.arguments.update(values)
            with located(source.runs_rewritten, source.positions), self.host:
                value = current_rewritten(self.function)(*bound.args, **bound.kwargs)
        except BaseException:
            sys.stdout.write("".join(self.tracer.printed))  # whoever looks for a mistake wants to see it
            raise
        finally:
            state.tracer = outer
            for each in reversed(self.tracer.launch_states):
                each.restore()
        return self._finish(value)

    # arguments

    def _argument(self, value: Any, path: tuple[Any, ...]) -> Any:
        """An argument as the kernel sees it: arrays become meta tensors."""
        if isinstance(value, tuple) and type(value).__name__ in ("ConstExpr", "constexpr"):
            value = value[0]
        elif isinstance(value, list | tuple):
            items = [self._argument(item, (*path, number)) for number, item in enumerate(value)]
            value = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        elif isinstance(value, dict):
            value = {key: self._argument(item, (*path, key)) for key, item in value.items()}
        elif isinstance(value, RunTimeScalar):
            value = open_number(path, value.kind)
        elif isinstance(value, TensorSpec) or framework_of(value) is not None or is_struct(value):
            value = self._tensor(value, path)
        else:
            self.host.groups.bring("_".join(map(str, path)), value)
        return value

    def _tensor(self, value: Any, path: tuple[Any, ...]) -> torch.Tensor:
        spec = spec_of(value)
        meta = _meta(spec)
        number = len(self.params)
        name = "_".join(str(part) for part in path)
        self.params.append(Param(name, spec, path))
        argument = self.block.insert_arg(array_type(spec), len(self.block.args))
        argument.name_hint = as_hint(name) if name.isidentifier() else None
        bind(argument, spec.shape)
        real = None if isinstance(value, TensorSpec) or is_struct(value) else value
        first = next((n for n, other in enumerate(self.host.real) if same_elements(other, real)), None)
        self.host.real.append(real)
        recipe = lambda data, number=number: data[number]  # noqa: E731
        array = HostArray(argument, Root(number), recipe, number)
        if first is not None:  # one tensor by two names: what is written by one is read by the other
            array = self.host.array(self.metas[first])
        self.metas.append(meta := self.host.track(meta, array))
        return meta

    def _add_hidden(self, tensor: torch.Tensor) -> torch.Tensor:
        """A real tensor that the kernel found in a closure or a global: a hidden argument."""
        for _, real, meta in self.hidden:
            if real is tensor:
                return meta
        if not self._is_outside(tensor):
            raise UnsupportedError("a tensor made by an operator that kopt does not see is used in a kernel")
        admit("a closure's tensor", tensor, lowers=True)
        return self._hide(f"hidden_{len(self.hidden)}", tensor, lambda _: tensor)

    def _scalar(self, argument: ScalarArgument) -> torch.Tensor:
        """The argument that holds a number which each call gives: it follows the tensors, hidden ones come last."""
        for param, meta in zip(self.params, self.metas, strict=True):
            if param.path == argument:
                return meta
        number = len(self.params)
        param = Param(self._scalar_name(argument), TensorSpec((), dtypes.BY_SPEC[argument.dtype]), argument)
        meta = self._unrecorded(param.spec)
        value = self.block.insert_arg(memref_type(meta), number)
        value.name_hint = as_hint(param.name)
        for _, _, hidden in self.hidden:
            array = self.host.array(hidden)
            array.argument = array.root.argument = (array.argument or 0) + 1
        self.params.append(param)
        self.host.real.append(np.zeros((), param.spec.dtype.torch))  # nothing on the host reads it
        self.metas.append(self.host.track(meta, HostArray(value, Root(number), None, number)))
        return meta

    def _scalar_name(self, argument: ScalarArgument) -> str:
        """After the parameters that it is computed of, and numbered where there are several."""
        stem = "_".join(str(key) for path in sorted(argument.paths, key=repr) for key in path)
        taken = {param.name for param in self.params}
        return next(name for n in count(1) if (name := stem if n == 1 else f"{stem}_{n}") not in taken)

    def _seed(self) -> torch.Tensor:
        """The seed of the kernel's random numbers: a hidden argument that each call draws."""
        device = next((str(value.device) for value in self.host.real if isinstance(value, torch.Tensor)), "cpu")
        found = next((meta for _, real, meta in self.hidden if isinstance(real, RandomSeed)), None)
        return self._hide("seed", RandomSeed(device=device), None) if found is None else found

    def _hide(self, name: str, value: Any, recipe: Any) -> torch.Tensor:
        """A hidden argument."""
        spec = spec_of(value)
        meta = self._unrecorded(spec)
        param = Param(name, spec)
        argument = self.block.insert_arg(memref_type(meta), len(self.block.args))
        argument.name_hint = as_hint(param.name)
        number = len(self.params) + len(self.hidden)
        self.host.track(meta, HostArray(argument, Root(number), recipe, number))
        self.hidden.append((param, value, meta))
        return meta

    def _unrecorded(self, spec: TensorSpec) -> torch.Tensor:
        """A meta tensor that is made while the kernel runs, and is no allocation of it."""
        self.host.quiet = True
        meta = _meta(spec)
        self.host.quiet = False
        return meta

    @staticmethod
    def _is_outside(tensor: torch.Tensor) -> bool:
        return tensor.device.type != "meta"

    # the end

    def _finish(self, value: Any) -> Imported:
        tracer, host = self.tracer, self.host
        if tracer.sizes is not None and len(tracer.sizes) != len(tracer.blocks):
            raise ConfigError(
                f"block_sizes has {len(tracer.sizes)} entries for {len(tracer.blocks)} open tiles", id="block-sizes"
            )
        unknown = sorted(set(tracer.given_tunables) - set(tracer.tunables))
        if unknown:
            raise unknown_key(unknown[0], tracer.tunables)
        outputs: list[SSAValue] = []
        with located(source.runs_rewritten, source.positions):
            results = result_tree(value, host, outputs)
        name = _entry_name(self.function)
        func = tracer.builder.add_function(
            name, self.block, outputs, [block.open for block in tracer.blocks if block.tags]
        )
        _drop_unused(self.block)
        if tracer.open_extents:
            name_extents(func)
        mark_read_sizes(func, [tag for block in tracer.blocks if block.read for tag in block.tags])
        return Imported(
            tracer.builder.module,
            name,
            [*self.params, *(param for param, _, _ in self.hidden)],
            [real for _, real, _ in self.hidden],
            results,
            self._mutated(),
            [*_read_elements(host.reads), *named_values(tracer.functions)],
            tracer.blocks,
            tracer.tunables,
            host.groups.names,
            choices=tracer.choices,
            printed=tracer.printed,
        )

    def _mutated(self) -> list[int]:
        metas = [*self.metas, *(meta for _, _, meta in self.hidden)]
        arrays = [self.host.array(meta) for meta in metas]
        mutated = [n for n, array in enumerate(arrays) if array.root.mutated and array.argument == n]
        self._refuse_overlaps(mutated)
        return mutated

    def _refuse_overlaps(self, mutated: Sequence[int]) -> None:
        """An argument that is written must share no element with another: each is an array of its own in the IR."""
        real = [*self.host.real, *(tensor for _, tensor, _ in self.hidden)]
        names = [param.name for param in (*self.params, *(param for param, _, _ in self.hidden))]
        for written in mutated:
            for other, value in enumerate(real):
                one = other == written or same_elements(real[written], value)
                if not one and share_an_element(real[written], value):
                    raise ArgumentError(
                        f"arguments '{names[written]}' and '{names[other]}' share memory, "
                        f"and {self.function.__name__} writes '{names[written]}'",
                        notes=["pass a copy of one of them, or the whole tensor and take its parts inside the kernel"],
                        id="shared-memory",
                    )


def _drop_unused(block: Block) -> None:
    """Erases host ops whose results nothing uses, such as those behind a value that became a constant."""
    for op in reversed(list(block.ops)):
        if isinstance(op, AllocOp | CallOp | ViewOp) and not any(result.uses for result in op.results):
            block.erase_op(op)


def _entry_name(function: FunctionType) -> str:
    return function.__name__ if function.__name__.isidentifier() else "kernel"


def array_type(spec: TensorSpec) -> MemRefType:
    """The IR's type of an argument. Arrays of which extents are open are contiguous: calls see to that."""
    return types.array_type(replace(spec, strides=None) if spec.open else spec)


def _meta(spec: TensorSpec) -> torch.Tensor:
    dtype = from_spec(spec.dtype)
    if spec.strides is None or spec.open:
        return torch.empty(stand_ins(spec.shape), dtype=dtype, device="meta")
    return torch.empty_strided(spec.shape, spec.strides, dtype=dtype, device="meta")


def _bind(function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
    try:
        bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentError(f"{function.__name__}: {error}") from None
    bound.apply_defaults()
    return bound


def _read_elements(reads: Iterable[tuple[Callable[[Any], Any], Any]]) -> list[ReadValue]:
    """Values read from tensors' data, as ``.item()`` does."""
    return [
        ReadValue("a value read from a tensor", lambda data, read=read: read([to_torch(v) for v in data]), value)
        for read, value in reads
    ]
