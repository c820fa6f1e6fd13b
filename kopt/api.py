"""The functions that a program embedding kopt calls: parse IR, run pipelines, lower modules, wrap kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kopt.kernels import Kernel, kernel
from kopt.lowered import Lowered, lower
from kopt.stored.artifacts import load

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from kopt.config import Config
    from kopt.diagnostics import Diagnostic
    from kopt.targets.target import Target

__all__ = ["Kernel", "Lowered", "kernel", "load", "lower_module", "parse", "run_pipeline"]


def parse(text: str, filename: str = "<string>") -> ModuleOp:
    """The verified module that MLIR text spells.

    Args: ``filename`` is what locations and errors name. Raises `ParseError` and `VerifyError` with the place.
    """
    from kopt.parsing import parse_module
    from kopt.verification import verify

    module = parse_module(text, filename)
    verify(module, text)
    return module


def run_pipeline(module: ModuleOp, pipeline: str | Sequence[ModulePass]) -> ModuleOp:
    """Rewrites a module in place by a pipeline (its text, or passes), verifies it, and returns it.

    Raises `ConfigError` that points into the pipeline's text, and what the passes raise.
    """
    from kopt.context import make_context
    from kopt.pass_manager import parse_pipeline, run
    from kopt.verification import verify

    passes = parse_pipeline(pipeline) if isinstance(pipeline, str) else pipeline
    run(module, make_context(), passes)
    verify(module)
    return module


def lower_module(
    module: ModuleOp,
    entry: str | None = None,
    target: str | None = None,
    config: Mapping[str, Any] | None = None,
    allow_inline: bool = False,
) -> Lowered:
    """Lowers one function of an imported module (``func``, ``host`` and ``tile`` ops) for a target.

    Args: ``entry`` names the function where there are several; ``target`` as in `kopt.kernel`; ``config`` as in
    `kopt.config`: ``block_sizes`` re-tiles the loops in order of appearance, else sizes are chosen for the open blocks
    that functions are marked with (``tile.open``); ``dot_precision`` holds for dots that have none; ``allow_inline``
    whether `triton.inline` may bring Python code along, which then runs: say so only of IR that you trust.
    The module itself is not rewritten. Raises `ConfigError`, `VerifyError` and `LoweringError`.
    """
    from kopt.analysis.entry import entry_function
    from kopt.config import make_config
    from kopt.passes.opened import Opened
    from kopt.runtime.devices import default_target
    from kopt.signatures import signature
    from kopt.targets.target import parse_target
    from kopt.verification import verify

    chosen = parse_target(target) if target is not None else default_target()
    chosen.refuse_lowering()
    verify(module)
    checked = make_config(config)
    _refuse_tunables(checked.tunables)
    module = _configured(_with_extents(module, chosen), checked)
    opened = Opened.of(module)
    module, checked, remarks = _sized(module, chosen, checked)
    func = entry_function(module, entry)
    return lower(
        module,
        func.sym_name.data,
        chosen,
        checked,
        signature(func),
        allow_inline=allow_inline,
        opened=opened,
        remarks=remarks,
    )


def _with_extents(module: ModuleOp, target: Target) -> ModuleOp:
    """The module for the extents that differ from call to call which a target takes, a copy where it has some.

    Raises `UnsupportedError` where nobody says which extent a ``?`` is.
    """
    from xdsl.dialects.func import FuncOp

    from kopt.diagnostics import location_of
    from kopt.dialects.tile.extent_names import NAMES, bind_extents, has_extents, unnamed
    from kopt.errors import UnsupportedError
    from kopt.runtime.open_arrays import least_extent

    if not has_extents(module):
        return module
    for func in [op for op in module.ops if isinstance(op, FuncOp) and len(op.body.blocks) == 1]:
        if (op := unnamed(func)) is not None:
            raise UnsupportedError(
                f"which extents the results of '{op.name}' have is not said",
                location_of(op),
                notes=[NAMES],
            )
    copy = module.clone()
    bind_extents(copy, least=lambda shape, dim: least_extent(target, len(shape), dim))
    return copy


def _refuse_tunables(tunables: Mapping[str, Any]) -> None:
    from kopt.errors import ConfigError

    if tunables:
        raise ConfigError(f"unknown config key '{min(tunables)}': IR has no tunables left", id="config-value")


def _configured(module: ModuleOp, config: Config) -> ModuleOp:
    """The module with what the config says of IR itself, a copy where that changes it."""
    if config.block_sizes is None and config.dot_precision is None:
        return module
    from kopt.passes.set_dot_precision import set_precision

    copy = module.clone()
    if config.block_sizes is not None:
        _retile(copy, config.block_sizes)
    if config.dot_precision is not None:
        set_precision(copy, config.dot_precision)
    return copy


def _sized(module: ModuleOp, target: Target, config: Config) -> tuple[ModuleOp, Config, Sequence[Diagnostic]]:
    """The module with sizes for its open blocks, a copy where it has some; the config with those of all loops."""
    from kopt.diagnostics import collect
    from kopt.dialects.tile import open_blocks
    from kopt.passes.applying import apply_pass
    from kopt.passes.pipelines import choosing
    from kopt.passes.retyping import tag_sizes
    from kopt.passes.set_blocks import loop_tags

    if not any(map(open_blocks, module.ops)):
        return module, config, ()
    chosen = module.clone()
    with collect() as remarks:
        for one in choosing(target, config):
            apply_pass(one, chosen)
    sizes = tag_sizes(chosen)
    return chosen, replace(config, block_sizes=tuple(sizes[tag] for tag in loop_tags(chosen))), remarks


def _retile(module: ModuleOp, sizes: Sequence[int]) -> None:
    """Other block sizes for the loops of a module, in order of appearance. None is open then."""
    from kopt.dialects.tile import mark_open
    from kopt.errors import ConfigError
    from kopt.passes.set_blocks import loop_tags, substitute_sizes

    tags = loop_tags(module)
    if len(sizes) != len(tags):
        raise ConfigError(
            f"'block_sizes' has {len(sizes)} sizes for {len(tags)} loops ({', '.join(tags)})", id="block-sizes"
        )
    substitute_sizes(module, dict(zip(tags, sizes, strict=True)))
    for op in module.ops:
        mark_open(op, ())
