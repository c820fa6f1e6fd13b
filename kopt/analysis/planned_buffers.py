"""The buffers that the plan of a launch gives its arrays. Pure.

A plan that cannot be obeyed is refused by `kopt.analysis.plan_problems`; here its array has what it usually has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.ir import SSAValue

from kopt.analysis.buffer_kinds import PlacedArray, accesses, may_have
from kopt.analysis.windows import Window
from kopt.plans.plan import Buffer


def planned_buffers(places: Iterable[PlacedArray]) -> dict[SSAValue, Buffer]:
    """The buffer of each array: the plan's, where the array may have it; else its usual one."""
    return {place.window.memory: _planned(place) for place in places}


def _planned(place: PlacedArray) -> Buffer:
    plan = place.grid.plan
    if plan is not None:
        buffers = {buffer.name: buffer for buffer in plan.data.buffers}
        found = [buffers.get(access.via.data) for access in accesses(place.window) if access.via is not None]
        kinds = {None if buffer is None else buffer.kind for buffer in found}
        if len(kinds) == 1 and (buffer := found[0]) is not None and may_have(place, buffer.kind):
            return buffer
    return Buffer("", "", place.usual)


def is_prefetched(buffer: Buffer) -> bool:
    """Whether the array of a buffer is in scalar memory before the grid runs."""
    return buffer.kind == "smem" and ("whole", ()) in buffer.options


def addressed_window(place: PlacedArray, buffers: Mapping[SSAValue, Buffer]) -> Window | None:
    """The window of an array whose buffer has an ``address``, where that tells its blocks; None for others."""
    buffer = buffers[place.window.memory]
    if buffer.kind != "window" or buffer.address is None:
        return None
    window = place.addressed
    return None if window is None or why_not_addressed(place, buffer, window, buffers) else window


def why_not_addressed(
    place: PlacedArray, buffer: Buffer, window: Window | None, buffers: Mapping[SSAValue, Buffer]
) -> str | None:
    """Why the ``address`` of an array's buffer does not tell where its blocks are, or comes too late; None if it does.

    ``window`` is that of the array whose blocks numbers tell, where it has one.
    """
    needed = () if window is None else window.addresses
    late = [memory for memory in needed if memory not in buffers or not is_prefetched(buffers[memory])]
    if late:
        name = late[0].name_hint or "an array"
        return f"'{name}' tells where blocks of '{place.name}' are: it has to be 'smem whole'"
    if not any(buffers[memory].name == buffer.address for memory in needed):
        return f"no window of '{place.name}' follows the numbers in @{buffer.address}"
    return None
