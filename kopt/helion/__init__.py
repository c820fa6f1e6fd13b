"""Programs of Helion kernels, run unchanged through kopt: ``python -m kopt.helion program.py``.

    with kopt.helion.enabled(target="triton:interpret"):
        softmax(x)                      # a function that ``@helion.kernel`` decorated

Importing this loads neither Helion nor torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kopt.errors import ConfigError
from kopt.runtime.extras import EXTRAS, install, missing
from kopt.targets.target import Target, parse_target

__all__ = ["enabled"]

#: What a program of Helion's needs, whichever target runs its kernels.
_NEEDED = ("helion", "torch", "triton")


@contextmanager
def enabled(target: str | Target | None = None) -> Iterator[None]:
    """Kernels of Helion's run through kopt while it lasts, those too that were decorated before.

    ``target`` is as in `parse_target`. The default is ``KOPT_TARGET``, else the accelerator that is there, else
    ``triton:interpret``, or ``pallas:interpret`` for kernels of Helion's backend ``pallas``. Where torch has no GPU,
    tensors that the program makes on one are made on the CPU.

    It holds for the whole process, and inside another one the inner target holds. Raises `ConfigError` for a target
    that there is none of, and where Helion is not installed.
    """
    session = _session(target)
    from kopt.helion.installation import installed

    with installed(session):
        yield


def _session(target: Any) -> Any:
    named = None if target is None else parse_target(target)
    if absent := missing(_NEEDED):
        message = f"programs of Helion's need {' and '.join(absent)}, which this Python does not have"
        raise ConfigError(message, notes=[install(EXTRAS[package]) for package in absent])
    from kopt.helion.session import HelionSession

    return HelionSession(named)
