"""What to install for a package that is missing: the extras of ``pyproject.toml``."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

#: The extra that brings each package.
EXTRAS = {
    "jax": "pallas",
    "jaxlib": "pallas",
    "libtpu": "tpu",
    "triton": "triton",
    "torch": "torch",
    "helion": "helion",
    "rich": "progress",
    "optuna": "tune",
    "distributed": "dask",
    "pygls": "lsp",
    "lsprotocol": "lsp",
}


def advice_for(module: str | None) -> str | None:
    """How to install what a module belongs to, or None where no extra brings it."""
    extra = EXTRAS.get((module or "").partition(".")[0])
    return None if extra is None else install(extra)


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'kopt-compiler[{extra}]'"


def missing(packages: Iterable[str]) -> list[str]:
    """The packages that are not installed."""
    return [package for package in packages if not is_installed(package)]


def is_installed(package: str) -> bool:
    """Whether a package can be imported; imports nothing."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False
