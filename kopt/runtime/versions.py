"""What the contents of caches depend on besides their keys: packages, and kopt's own files."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable
from functools import cache
from importlib import metadata
from pathlib import Path

#: What kernels are compiled with, or are written in terms of.
_PACKAGES = ("torch", "jax", "jaxlib", "libtpu", "triton", "numpy", "helion", "xdsl")


@cache
def package_versions() -> Hashable:
    """Python's version, and those of the packages that are installed."""
    return sys.version, tuple(map(version, _PACKAGES))


def version(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@cache
def own_files() -> Hashable:
    """The sizes and times of kopt's own files as the process found them: one that is edited makes other kernels."""
    return tuple(sorted(_files(Path(__file__).parents[1])))


def _files(folder: Path) -> list[tuple[str, int, int]]:
    found = []
    with os.scandir(folder) as items:
        for item in items:
            if item.is_dir() and item.name != "__pycache__":
                found += _files(Path(item.path))
            elif item.name.endswith((".py", ".json")):
                status = item.stat()
                found.append((item.path, status.st_size, status.st_mtime_ns))
    return found
