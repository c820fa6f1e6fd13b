"""``-t pallas-py``, ``triton-py``, ``torch-py`` and ``jax-py``: the emitted Python module of one entry function."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.entry import entry_function


def emit_python(module: ModuleOp, entry: str | None, target: str, allow_inline: bool) -> str:
    """The Python text of ``entry`` for an output target ``<family>-py``; the module must be lowered that far.

    ``allow_inline`` as in `kopt.lowering.emit`. No pipeline has seen what launches of Triton compute: it is checked.
    """
    from kopt.lowering import emit

    if target in ("triton-py", "torch-py"):
        from kopt.passes.gpu.verify_triton import verify_launches

        verify_launches(module)
    return emit(module, entry_function(module, entry).sym_name.data, target.removesuffix("-py"), allow_inline)
