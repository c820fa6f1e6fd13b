"""``-t pallas-py``, ``triton-py``, ``torch-py`` and ``jax-py``: the emitted Python module of one entry function."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.entry import entry_function


def emit_python(module: ModuleOp, entry: str | None, target: str, allow_inline: bool) -> str:
    """The Python text of ``entry`` for an output target ``<family>-py``; the module must be lowered that far.

    ``allow_inline`` as in `kopt.lowering.emit`. No pipeline may have seen the function: it is looked at as at its end.
    """
    from kopt.lowering import emit
    from kopt.passes.pipelines import printable

    func, family = entry_function(module, entry), target.removesuffix("-py")
    for check in printable(family):
        check.verify(func)
    return emit(module, func.sym_name.data, family, allow_inline)
