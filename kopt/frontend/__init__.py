"""Python kernels of the Helion language as IR: `import_kernel` runs a function on stand-ins and records what it does.

Nothing heavy is imported until a name is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kopt.frontend.importer import Imported, Param, import_kernel
    from kopt.frontend.tracer import BlockInfo

_HOME = {
    "BlockInfo": "kopt.frontend.tracer",
    "Imported": "kopt.frontend.importer",
    "Param": "kopt.frontend.importer",
    "import_kernel": "kopt.frontend.importer",
}

__all__ = ["BlockInfo", "Imported", "Param", "import_kernel"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'kopt.frontend' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
