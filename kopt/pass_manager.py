"""Pipelines: from their text to passes, and from passes to a rewritten module."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from kopt.diagnostics import extents_placed, location_of
from kopt.errors import KoptError, LoweringError, VerifyError
from kopt.passes import ALL_PASSES
from kopt.passes.applying import apply_pass
from kopt.passes.dynamic_pipeline import DynamicPipelinePass
from kopt.pipeline_text import parse_pipeline, pipeline_text
from kopt.verification import verify

__all__ = ["Instrumentation", "parse_pipeline", "pipeline_text", "run"]


class Instrumentation:
    """Hooks around each pass; override what is needed."""

    def before(self, pass_: ModulePass, module: ModuleOp) -> None:
        """Called with the module that the pass is about to rewrite."""

    def after(self, pass_: ModulePass, module: ModuleOp) -> None:
        """Called with the module that the pass has rewritten, before it is verified."""

    def failed(self, pass_: ModulePass, module: ModuleOp) -> None:
        """Called with what a pass left behind that raised, or whose result was found invalid."""


def run(
    module: ModuleOp,
    ctx: Context,
    passes: Sequence[ModulePass],
    *,
    verify_each: bool = False,
    instrumentation: Sequence[Instrumentation] = (),
) -> None:
    """Apply ``passes`` to ``module`` in order, in place.

    Args: ``verify_each`` verifies after every pass (in tests; it is half of a pipeline's time);
    ``instrumentation`` gets the module around every pass.
    Raises what the passes raise; xDSL's own diagnostics become ``kopt.LoweringError`` that names the pass.
    """
    for pass_ in passes:
        if isinstance(pass_, DynamicPipelinePass):
            run(module, ctx, pass_.passes(module), verify_each=verify_each, instrumentation=instrumentation)
            continue
        for hook in instrumentation:
            hook.before(pass_, module)
        try:
            _apply(pass_, ctx, module)
            for hook in instrumentation:
                hook.after(pass_, module)
            if verify_each:
                _verify_after(pass_, module)
        except Exception:
            for hook in instrumentation:
                hook.failed(pass_, module)
            raise


def _apply(pass_: ModulePass, ctx: Context, module: ModuleOp) -> None:
    try:
        with extents_placed():
            apply_pass(pass_, module, ctx)
    except DiagnosticException as error:
        raise LoweringError(f"pass '{pass_.name}' failed: {error}", location_of(module)) from error
    except KoptError:
        raise
    except Exception as error:
        if (package := ALL_PASSES.package(pass_.name)) is None:
            raise
        message = f"pass '{pass_.name}' of package '{package}' failed: {type(error).__name__}: {error}"
        raise LoweringError(message, location_of(module)) from error


def _verify_after(pass_: ModulePass, module: ModuleOp) -> None:
    try:
        verify(module)
    except VerifyError as error:
        error.notes += (f"found after pass '{pass_.name}'",)
        raise
