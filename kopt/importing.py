"""Python kernels imported for a target: block sizes chosen for its chip, calls that take the kernel's own arguments."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kopt.config import Config
from kopt.runtime.compiled_kernel import CallForm
from kopt.runtime.open_arrays import as_called, open_dims
from kopt.runtime.open_numbers import open_paths
from kopt.runtime.results import FromArgument
from kopt.runtime.signature import Signature, TensorParameter
from kopt.stored.values import is_data
from kopt.targets.target import Target

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp

    from kopt.frontend import BlockInfo, Imported, Param


#: How sizes are chosen where a function is imported again with those that its Python reads: anew by what it computes
#: with them, and at last only as far as they have to fit.
_AGAIN = ("open", "given")


def import_for_target(
    fn: Callable[..., Any], values: dict[str, Any], target: Target, config: Config, all_reduce: str | None = None
) -> tuple[Imported, Config]:
    """Imports a function for a call's values, with the block sizes of the config or ones that fit the target's chip.

    ``all_reduce`` is the algorithm of a program's collectives that name none. Also gives what the config says to the
    lowering, with the sizes in it.
    """
    from kopt.analysis.scope import check_scope
    from kopt.diagnostics import Diagnostic, remark, report
    from kopt.dialects.tile import GridOp
    from kopt.error_places import definition
    from kopt.verification import verify_sizes

    if open_dims(values):
        return _import_open(fn, values, target, config, all_reduce)
    imported, config = _imported(fn, values, config, config.block_sizes, all_reduce)
    chosen, wanted = choose(imported, target, config)
    for start in _AGAIN:
        if wanted == _sizes(chosen):
            break
        remark(_entry(chosen), f"imported again with the block sizes {wanted}: it computes with them while imported")
        imported, config = _imported(fn, values, config, wanted, all_reduce)
        chosen, wanted = choose(imported, target, config, start)
    sys.stdout.write("".join(chosen.printed))
    if all_reduce is None and not any(isinstance(op, GridOp) for op in chosen.module.walk()):
        message = f"'{chosen.entry}' has no hl.tile or hl.grid loop: it launches no kernel"
        report(Diagnostic("remark", message, definition(fn), "no-device-loop"))
    check_scope(chosen.module)
    if _sizes(chosen) == _sizes(imported):  # others are verified when they are substituted
        verify_sizes(chosen.module)
    return chosen, replace(config, block_sizes=tuple(_sizes(chosen)) or None)


def _import_open(
    fn: Callable[..., Any], values: dict[str, Any], target: Target, config: Config, all_reduce: str | None
) -> tuple[Imported, Config]:
    """Imports a function with open extents, with the block sizes that suit the shapes of the call that opened them.

    Whether it can be so is seen before sizes are chosen, which takes longer.
    """
    from kopt.analysis.scope import check_scope
    from kopt.dialects.tile import mark_open
    from kopt.verification import verify_sizes

    _imported(fn, values, config, config.block_sizes, all_reduce)
    _, config = import_for_target(fn, as_called(values, target), target, config, all_reduce)
    imported, config = _imported(fn, values, config, config.block_sizes, all_reduce)
    mark_open(_entry(imported), ())
    check_scope(imported.module)
    verify_sizes(imported.module)
    return imported, config


def import_open(fn: Callable[..., Any], values: dict[str, Any], config: Config) -> Imported:
    """Imports a function for a call's values with its blocks open: they have provisional sizes, and no chip's."""
    return _imported(fn, values, replace(config, block_sizes=None), None, None)[0]


def _imported(
    fn: Callable[..., Any],
    values: dict[str, Any],
    config: Config,
    sizes: Sequence[int] | None,
    all_reduce: str | None,
) -> tuple[Imported, Config]:
    """One import, and the configuration with keys that are names of the kernel's tunables as those."""
    from kopt.frontend import import_kernel

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

    imported = run(config, sizes)
    if (yielded := config.yielding(imported.tunables)) != config:
        return run(yielded, yielded.block_sizes), yielded
    return imported, config


def choose(imported: Imported, target: Target, config: Config, start: str = "open") -> tuple[Imported, list[int]]:
    """An import with the block sizes that suit a target, and all that are wanted where only another import has them."""
    from kopt.diagnostics import collect
    from kopt.dialects.tile import mark_open, open_blocks
    from kopt.passes.applying import apply_pass
    from kopt.passes.opened import Opened
    from kopt.passes.pipelines import choosing
    from kopt.passes.retyping import tag_sizes

    chosen = replace(imported, opened=Opened.of(imported.module) if start == "open" else None)
    with collect():  # what is wanted is imported
        for one in choosing(target, config, start):
            apply_pass(one, chosen.module)
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
    return Signature(imported.entry, tuple(TensorParameter(param.name, param.spec) for param in _visible(imported)))


def form_of(signature: inspect.Signature, values: Mapping[str, Any], imported: Imported) -> CallForm:
    """What calls of a Python function that was imported, and what it returns, look like."""
    paths = tuple(param.path for param in _visible(imported))
    numbers = {path: FromArgument(number) for number, path in enumerate(paths)}
    arguments = {name: _with_numbers(value, (name,), numbers) for name, value in values.items()}
    data = {name: value for name, value in arguments.items() if is_data(value)}
    return CallForm(
        signature,
        paths,
        imported.results,
        tuple(imported.mutated),
        tuple(imported.guards),
        arguments=data,
        numbers=open_paths(values),
    )


def _with_numbers(value: Any, path: tuple[Any, ...], numbers: Mapping[Any, FromArgument]) -> Any:
    """A value in which each tensor is the number of the argument that it is."""
    if path in numbers:
        return numbers[path]
    if isinstance(value, (tuple, list)):
        items = [_with_numbers(item, (*path, number), numbers) for number, item in enumerate(value)]
        return items if type(value) is list else tuple(items)
    if type(value) is dict:
        return {key: _with_numbers(item, (*path, key), numbers) for key, item in value.items()}
    return value


def _visible(imported: Imported) -> Sequence[Param]:
    """The parameters that a caller gives."""
    return imported.params[: len(imported.params) - len(imported.hidden)]
