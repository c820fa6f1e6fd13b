"""What a kernel leaves behind when it ends in the strict interpreter: copies that nobody waited for, and counts.

A chip goes on to the next kernel while such a copy still writes memory that is no longer this kernel's, and the next
wait on a semaphore that is not at zero ends too early. JAX's interpreter prints some of it and runs on.
"""

from __future__ import annotations

from typing import Any

_left: list[str] = []


def install(interpreter: Any) -> None:
    """Look at the semaphores when a kernel ends; does nothing where JAX is laid out differently."""
    validate, memory = getattr(interpreter, "_validate", None), getattr(interpreter, "_get_shared_memory", None)
    if validate is None or memory is None:
        return

    def look(token: Any, device_id: Any) -> Any:
        _left.extend(_of(memory()))
        return token

    interpreter._validate = look


def left_behind() -> list[str]:
    """What kernels left behind since the last call, a sentence each."""
    found = list(dict.fromkeys(_left))
    _left.clear()
    return found


def _of(memory: Any) -> list[str]:
    semaphores = [*getattr(memory, "sem", {}).values(), *getattr(memory, "fixed_id_sem", {}).values()]
    copies = sum(map(len, (tasks for each in semaphores for tasks in getattr(each, "tasks", ()))))
    counts = sum(int((each.count_by_core != 0).sum()) for each in semaphores if hasattr(each, "count_by_core"))
    found = [f"{copies} copies were started that nothing waits for"] if copies else []
    return found + ([f"{counts} semaphores are not back at zero"] if counts else [])
