"""Names of types, for annotations of kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

from kopt.language.running import RUNNING


class _Constant(NamedTuple):
    value: Any


class constexpr(_Constant):
    """A value that the kernel is specialised for; also an annotation of such parameters."""

    __slots__ = ()

    def __new__(cls, value: Any) -> Any:
        """In a kernel that runs as Python, the value itself."""
        return super().__new__(cls, value) if RUNNING.get() is None else value


class ProcessGroupName(constexpr):
    """Annotates a parameter that names a process group."""


class Tile:
    """The type of a tile, for annotations; tiles come from `tile`."""


class StackTensor:
    """The type of several tensors of one shape behind pointers, for annotations."""


class AsyncCopyDescriptor:
    """The type of a copy to another device that is under way, for annotations."""
