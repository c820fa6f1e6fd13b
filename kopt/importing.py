"""Python kernels imported for a target: block sizes chosen for its chip, calls that take the kernel's own arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kopt.config import Config
from kopt.runtime.signature import Parameter, Signature
from kopt.runtime.specs import framework_of
from kopt.runtime.targets import Target, TpuChip, parse_target

if TYPE_CHECKING:
    from kopt.frontend import Imported
    from kopt.runtime.executable import Executable


def import_for_target(
    fn: Callable[..., Any], values: dict[str, Any], target: Target, config: Config, all_reduce: str | None = None
) -> tuple[Imported, Config]:
    """Imports a function for a call's values, with the block sizes of the config or ones that fit the target's chip.

    ``all_reduce`` is the algorithm of a program's collectives that name none.

    Also gives what the config says to the lowering. Block sizes enter the IR as numbers, so sizes that differ from the
    provisional ones mean a second import; tunables that have the name of a key likewise.
    """
    from kopt.frontend import import_kernel
    from kopt.verification import verify

    def run(config: Config, sizes: Sequence[int] | None) -> Imported:
        return import_kernel(
            fn,
            *_call(fn, values),
            block_sizes=sizes,
            tunables=config.tunables,
            dot_precision=config.dot_precision or torch_precision(),
            all_reduce=all_reduce,
        )

    imported = run(config, config.block_sizes)
    if (yielded := config.yielding(imported.tunables)) != config:
        config, imported = yielded, run(yielded, yielded.block_sizes)
    given = [block.size for block in imported.blocks]
    wanted = _sizes_for(imported, target, config)
    if wanted != given:
        imported = run(config, wanted)
    if config.block_sizes is None:
        imported = _with_fitting(imported, target, config, lambda sizes: run(config, sizes))
    verify(imported.module)
    return imported, config


#: How torch's ``float32_matmul_precision`` lets f32 operands of a product be rounded.
_PRECISIONS = {"highest": "ieee", "high": "tf32", "medium": "bf16"}


def torch_precision() -> str:
    """The precision of f32 products that torch is set to, in kopt's words."""
    import torch

    return _PRECISIONS[torch.get_float32_matmul_precision()]


def _call(fn: Callable[..., Any], values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Parameters by name as a call's positional and keyword arguments."""
    bound = inspect.BoundArguments(inspect.signature(fn, follow_wrapped=False), dict(values))  # pyright: ignore
    return bound.args, bound.kwargs


#: Whose block sizes the reference takes where the config has none: few and large cells, which NumPy is fast at.
_LIKE_REFERENCE = "pallas:interpret"


def _sizes_for(imported: Imported, target: Target, config: Config) -> list[int]:
    """The sizes of the open blocks that suit the target: the config's made legal, or chosen ones."""
    from kopt.analysis.block_sizes import choose_sizes, legal_sizes
    from kopt.analysis.seen_blocks import seen_blocks
    from kopt.passes.pipelines import moved_rows, scheduled

    given = [block.size for block in imported.blocks]
    if not imported.blocks:
        return given
    groups = [block.tags for block in imported.blocks]
    if config.block_sizes is None:
        like = target if target.chip is not None else parse_target(_LIKE_REFERENCE)
        sized = {tag for block in imported.blocks if block.sized for tag in block.tags}
        module, resident = scheduled(imported.module, like), config.loop_type == "resident"
        moved = moved_rows(imported.module, module, like, config)
        wanted = choose_sizes(module, groups, given, like, resident, sized, moved)
        wanted = _with_pinned(imported, given, wanted, target)
    elif isinstance(target.chip, TpuChip):
        wanted = legal_sizes(imported.module, groups, given, target.chip)
        seen = seen_blocks(imported.module)
        pairs = zip(imported.blocks, given, wanted, strict=True)
        wanted = [size if block.observed or not seen.isdisjoint(block.tags) else legal for block, size, legal in pairs]
    else:
        return given
    return [block.bounded(size) for block, size in zip(imported.blocks, wanted, strict=True)]


def _with_fitting(
    imported: Imported, target: Target, config: Config, run: Callable[[Sequence[int]], Imported]
) -> Imported:
    """The import with smaller blocks, where its cells take too much with those it has.

    What follows from a size, such as ``x.reshape(tile.block_size * heads, -1)``, ``x[tile, :].flatten()`` and the rows
    that DMAs bring for ``x[starts[:, None] + tile.index]``, is seen only in an import with that size.
    """
    like = target if target.chip is not None else parse_target(_LIKE_REFERENCE)
    now = _fullness(imported, like, config)
    while now > 1:
        sizes = [block.size for block in imported.blocks]
        smaller = [min(size, other) for size, other in zip(sizes, _sizes_for(imported, target, config), strict=True)]
        if smaller == sizes:
            smaller = _halves(imported, like)
        if smaller == sizes:
            break
        other = run(smaller)
        after = _fullness(other, like, config)
        if after >= now:
            break
        imported, now = other, after
    return imported


def _halves(imported: Imported, target: Target) -> list[int]:
    """The sizes of the blocks, but half of those that the kernel computes with."""
    from kopt.analysis.block_sizes import halved
    from kopt.passes.pipelines import scheduled

    sizes = [block.size for block in imported.blocks]
    halves = halved(scheduled(imported.module, target), [block.tags for block in imported.blocks], sizes, target)
    return [
        block.bounded(half) if block.sized and not block.pinned else block.size
        for block, half in zip(imported.blocks, halves, strict=True)
    ]


def _fullness(imported: Imported, target: Target, config: Config) -> float:
    """How much a cell takes of what it should."""
    from kopt.analysis.block_sizes import fullness
    from kopt.passes.pipelines import moved_rows, scheduled

    moved = moved_rows(imported.module, scheduled(imported.module, target), target, config)
    return fullness(moved, target, config.loop_type == "resident")


def _with_pinned(imported: Imported, given: list[int], chosen: list[int], target: Target) -> list[int]:
    """The chosen sizes, but for blocks of called kernels that have a configuration: theirs, made legal."""
    from kopt.analysis.block_sizes import legal_sizes

    if not any(block.pinned for block in imported.blocks):
        return chosen
    groups = [block.tags for block in imported.blocks]
    legal = legal_sizes(imported.module, groups, given, target.chip) if isinstance(target.chip, TpuChip) else given
    return [
        theirs if block.pinned else ours for block, theirs, ours in zip(imported.blocks, legal, chosen, strict=True)
    ]


def signature_of(imported: Imported) -> Signature:
    """What the imported function takes from a caller: its tensors, without those that closures bring."""
    visible = imported.params[: len(imported.params) - len(imported.hidden)]
    return Signature(imported.entry, tuple(Parameter(param.name, param.spec) for param in visible))


@dataclass
class CompiledKernel:
    """A kernel ready to run on its target, called with the arguments of the Python function.

    Torch and NumPy arguments that the kernel changes are updated. JAX arrays cannot change: their final values follow
    the results, unless the kernel returns those arguments itself.
    """

    fn: Callable[..., Any]
    executable: Executable
    imported: Imported

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
        outputs = _as_list(self.executable(*tensors))
        return self._rebuild(outputs, [*tensors, *self.imported.hidden])

    def _tensors(self, values: dict[str, Any]) -> list[Any]:
        visible = self.executable.params.parameters
        return [_follow(values, param.path) for param in self.imported.params[: len(visible)]]

    def _rebuild(self, outputs: list[Any], arguments: list[Any]) -> Any:
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


def _as_list(outputs: Any) -> list[Any]:
    if outputs is None:
        return []
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


def _follow(values: Any, path: Sequence[Any]) -> Any:
    for key in path:
        values = values[key]
    return values
