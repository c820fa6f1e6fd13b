"""kopt for xDSL's own tools, by the entry point ``xdsl.universe``: its dialects, passes and emitted modules.

    xdsl-opt kernel.mlir -p 'insert-masks,convert-tile-to-triton' -t triton-py

Names that xDSL has stay xDSL's (``canonicalize``, ``cse``, ``dce``): these passes go by the traits of operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms import get_all_passes
from xdsl.universe import Universe
from xdsl.utils.target import Target

from kopt.dialects import DIALECTS
from kopt.passes import PASSES
from kopt.registry import load
from kopt.tools.emission import emit_python


@dataclass(frozen=True)
class _PythonTarget(Target):
    """The emitted Python module of one function: ``entry``, where there are several."""

    name: ClassVar[str]

    entry: str | None = None

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(emit_python(module, self.entry, self.name, allow_inline=False))


@dataclass(frozen=True)
class PallasPython(_PythonTarget):
    """Pallas kernels for a TPU."""

    name = "pallas-py"


@dataclass(frozen=True)
class TritonPython(_PythonTarget):
    """Triton kernels for a GPU."""

    name = "triton-py"


@dataclass(frozen=True)
class TorchPython(_PythonTarget):
    """A host program of torch."""

    name = "torch-py"


@dataclass(frozen=True)
class JaxPython(_PythonTarget):
    """A host program of JAX."""

    name = "jax-py"


KOPT_UNIVERSE = Universe(
    all_dialects={name: partial(load, path) for name, path in DIALECTS.items() if name not in get_all_dialects()},
    all_passes={name: partial(load, path) for name, path in PASSES.items() if name not in get_all_passes()},
    all_targets={
        target.name: partial(lambda found: found, target)
        for target in (PallasPython, TritonPython, TorchPython, JaxPython)
    },
)
