# ruff: noqa: TID253 - only worker processes import this module
"""How the strict interpreter's simulated cores are compiled: once a kernel, and with exact reductions.

JAX compiles the code of the cores inside its own callback, anew for each call and without the options of the outer
``jit``; so a call would cost a fifth of a second, and maxima would lose NaN (see `exact_options`).
"""

from __future__ import annotations

import threading
from typing import Any

import jax

from kopt.runtime.pallas_interpret import exact_options

_lock = threading.Lock()
_compiled: dict[Any, Any] = {}


def install() -> None:
    """Replace JAX's function that runs one core; does nothing where JAX is laid out differently."""
    try:
        from jax._src.pallas.mosaic.interpret import thread_map
    except ImportError:
        return
    evaluate = getattr(getattr(thread_map, "jax_core", None), "eval_jaxpr", None)
    if evaluate is None or not hasattr(thread_map, "_run_jaxpr"):
        return

    def run_core(jaxpr: Any, consts: Any, *args: Any) -> None:
        """Evaluate the core's program; the cores of a call share one compilation, and so do later calls."""

        def program(consts: Any, *args: Any) -> None:
            evaluate(jaxpr, consts, *args)

        with _lock:
            if jaxpr not in _compiled:
                jitted = jax.jit(program, compiler_options=exact_options())
                _compiled[jaxpr] = jitted.trace(consts, *args).lower().compile()
        _compiled[jaxpr](consts, *args)

    thread_map._run_jaxpr = run_core
