"""Python kernels imported for a target: block sizes chosen for its chip, calls that take the kernel's own arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kopt.config import Config
from kopt.runtime.guards import Compiled, Guard, make_guard
from kopt.runtime.pallas_interpret import as_list
from kopt.runtime.signature import Signature, TensorParameter
from kopt.specs import framework_of
from kopt.targets.target import Target

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp

    from kopt.frontend import BlockInfo, Imported
    from kopt.runtime.executable import Executable


#: How often a function is imported at most: sizes that Python reads are tried by imports.
_IMPORTS = 3


def import_for_target(
    fn: Callable[..., Any], values: dict[str, Any], target: Target, config: Config, all_reduce: str | None = None
) -> tuple[Imported, Config]:
    """Imports a function for a call's values, with the block sizes of the config or ones that fit the target's chip.

    ``all_reduce`` is the algorithm of a program's collectives that name none. Also gives what the config says to the
    lowering, with the sizes in it.
    """
    from kopt.analysis.scope import check_scope
    from kopt.diagnostics import remark
    from kopt.frontend import import_kernel
    from kopt.verification import verify_sizes

    signature = inspect.signature(fn, follow_wrapped=False)
    call = inspect.BoundArguments(signature, dict(values))  # pyright: ignore[reportArgumentType]

    def run(config: Config, sizes: Sequence[int] | None) -> Imported:
        return import_kernel(
            fn,
            call.args,
            call.kwargs,
            block_sizes=sizes,
            tunables=config.tunables,
            dot_precision=config.dot_precision or torch_precision(),
            all_reduce=all_reduce,
            pinned=config.block_sizes is not None,
        )

    imported = run(config, config.block_sizes)
    if (yielded := config.yielding(imported.tunables)) != config:
        config, imported = yielded, run(yielded, yielded.block_sizes)
    chosen, wanted = choose(imported, target, config)
    for _ in range(_IMPORTS - 1):
        if wanted == _sizes(chosen):
            break
        remark(_entry(chosen), f"imported again with the block sizes {wanted}: it computes with them while imported")
        imported = run(config, wanted)
        chosen, wanted = choose(imported, target, config, start="given")
    check_scope(chosen.module)
    if _sizes(chosen) == _sizes(imported):  # others are verified when they are substituted
        verify_sizes(chosen.module)
    return chosen, replace(config, block_sizes=tuple(_sizes(chosen)) or None)


def choose(imported: Imported, target: Target, config: Config, start: str = "open") -> tuple[Imported, list[int]]:
    """An import with the block sizes that suit a target, and all that are wanted where only another import has them."""
    from kopt.context import make_context
    from kopt.diagnostics import collect
    from kopt.dialects.tile import mark_open, open_blocks
    from kopt.passes.opened import Opened
    from kopt.passes.pipelines import choosing
    from kopt.passes.retyping import tag_sizes

    chosen = replace(imported, opened=Opened.of(imported.module) if start == "open" else None)
    with collect():  # what is wanted is imported
        choosing(target, config, start).apply(make_context(), chosen.module)
    func = _entry(chosen)
    sizes = tag_sizes(func)
    wanted = sizes | {tag: block.wanted for block in open_blocks(func) for tag in block.tags}
    mark_open(func, ())
    chosen.blocks = [replace(block, size=_size(block, sizes)) for block in imported.blocks]
    return chosen, [_size(block, wanted) for block in chosen.blocks]


def _size(block: BlockInfo, sizes: Mapping[str, Any]) -> int:
    """The size of a block in the IR; its own where no range has it."""
    return sizes[block.tags[0]] if block.tags else block.size


def _sizes(imported: Imported) -> list[int]:
    return [block.size for block in imported.blocks]


def _entry(imported: Imported) -> FuncOp:
    from kopt.analysis.entry import entry_function

    return entry_function(imported.module, imported.entry)


#: How torch's ``float32_matmul_precision`` lets f32 operands of a product be rounded.
_PRECISIONS = {"highest": "ieee", "high": "tf32", "medium": "bf16"}


def torch_precision() -> str:
    """The precision of f32 products that torch is set to, in kopt's words."""
    import torch

    return _PRECISIONS[torch.get_float32_matmul_precision()]


def signature_of(imported: Imported) -> Signature:
    """What the imported function takes from a caller: its tensors, without those that closures bring."""
    visible = imported.params[: len(imported.params) - len(imported.hidden)]
    return Signature(imported.entry, tuple(TensorParameter(param.name, param.spec) for param in visible))


@dataclass(eq=False)  # JAX's transformations hash what they are given
class CompiledKernel:
    """A kernel ready to run on its target, called with the arguments of the Python function.

    Torch and NumPy arguments that the kernel changes are updated. JAX arrays cannot change: their final values follow
    the results, unless the kernel returns those arguments itself.
    """

    fn: Callable[..., Any]
    executable: Executable
    imported: Imported
    #: The types of arguments of calls that have no guard: text for them is not made again and again.
    unguarded: set[tuple[type, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.executable.framework = "torch"  # a kernel that makes tensors from numbers alone asks torch for them

    @property
    def target(self) -> Target:
        """Where it runs."""
        return self.executable.target

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the kernel for arguments like those that it was lowered for."""
        bound = inspect.signature(self.fn, follow_wrapped=False).bind(*args, **kwargs)
        bound.apply_defaults()
        return self.run(bound.arguments)

    def holds(self, values: dict[str, Any]) -> bool:
        """Whether what the import read from tensors and globals still has the same value."""
        guards = self.imported.guards
        tensors = self._tensors(values) if guards else []
        return all(guard.holds(tensors) for guard in guards)

    def run(self, values: dict[str, Any]) -> Any:
        """Runs the kernel for parameters by name, defaults included."""
        tensors = self._tensors(values)
        outputs = as_list(self.executable(*tensors))
        return self._rebuild(outputs, [*tensors, *self.imported.hidden])

    def guard(
        self, kernel: Any, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Guard | None:
        """The short way for calls of a kernel like one that was admitted and has run; None where there is none."""
        types = tuple(map(type, (*args, *kwargs.values())))
        if types in self.unguarded:
            return None
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        tensors, hidden = self._tensors(bound.arguments), self.imported.hidden
        launch = self.executable.launcher(tensors)

        def rebuilt(*tensors: Any) -> Any:
            return self._rebuild(as_list(launch(*tensors)), [*tensors, *hidden])

        paths = [param.path for param in self.imported.params[: len(tensors)]]
        run = launch if self._gives_results else rebuilt
        found = Compiled(paths, hidden, self.imported.mutated, self.imported.guards, run)
        guard = make_guard(kernel, signature, args, kwargs, found)
        if guard is None:
            self.unguarded.add(types)
        return guard

    @property
    def _gives_results(self) -> bool:
        """Whether the kernel returns what the executable does."""
        return not self.imported.mutated and self.imported.results.is_only_result

    def _tensors(self, values: dict[str, Any]) -> list[Any]:
        visible = self.executable.params.parameters
        return [_follow(values, param.path) for param in self.imported.params[: len(visible)]]

    def _rebuild(self, outputs: list[Any], arguments: list[Any]) -> Any:
        if not self.imported.mutated:
            return self.imported.results.build(outputs, arguments)
        changed = [number for number in self.imported.mutated if framework_of(arguments[number]) == "jax"]
        finals = outputs[len(outputs) - len(changed) :] if changed else []
        for number, final in zip(changed, finals, strict=True):
            arguments[number] = final
        results = outputs[: len(outputs) - len(changed)]
        value = self.imported.results.build(results, arguments)
        extra = [arguments[number] for number in changed if number not in self.imported.results.arguments]
        if not extra:
            return value
        first = [] if value is None else list(value) if type(value) is tuple else [value]
        return extra[0] if not first and len(extra) == 1 else (*first, *extra)


def _follow(values: Any, path: Sequence[Any]) -> Any:
    for key in path:
        values = values[key]
    return values
