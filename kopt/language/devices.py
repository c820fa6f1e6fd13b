"""What cells, launches and devices do to each other, and code of one target."""

from __future__ import annotations

from typing import Any

from kopt.language.running import inside_kernels


@inside_kernels
def barrier() -> None:
    """Waits until all cells of the launch have come here."""


@inside_kernels
def remote_barrier(device_ids: Any) -> None:
    """Waits for the ranks ``device_ids``. Each of them must name this rank in its own call; on a TPU.

    Args: ``device_ids`` a rank, a list of ranks, or a row of a host tensor. A launch has one, before what it orders.
    """


@inside_kernels
def make_async_remote_copy(src: Any, src_index: Any, device_id: Any, dst: Any = None, dst_index: Any = None) -> Any:
    """Describes a copy of ``src[src_index]`` to ``dst[dst_index]`` of rank ``device_id``, on a TPU.

    Its ``start()`` starts it, ``wait_send()`` waits until it has left, ``wait_recv()`` until what is sent to the same
    place here has come, and ``wait()`` for both. The rank counts along the axis ``ranks`` of the mesh over which the
    lowered function runs, by `jax.shard_map`.

    Args: ``src`` and ``dst`` host tensors (``dst`` is ``src`` if left out), which the loop nest uses for nothing else;
    the indices numbers for leading dimensions, of regions of one shape.
    """


@inside_kernels
def pdl_wait() -> None:
    """Waits for the launch before this one."""


@inside_kernels
def pdl_launch_dependents() -> None:
    """Lets the launch after this one start."""


@inside_kernels
def breakpoint() -> None:
    """Stops in a debugger."""


@inside_kernels
def device_print(prefix: str, *values: Any) -> None:
    """Prints from the device."""


@inside_kernels
def inline_triton(triton_source: str, args: Any, output_like: Any) -> Any:
    """Triton code in place, on Triton only: ``hl.inline_triton("{0} + {b}", {0: x, "b": y}, output_like=x)``.

    Placeholders name ``args`` (a list, tuple or dict of device values and numbers). The last line is what it gives:
    as many values as ``output_like`` has, of those types; nothing if that is None. Lanes outside of ranges are 0.
    """


@inside_kernels
def triton_kernel(triton_source_or_fn: Any, args: Any, output_like: Any) -> Any:
    """A ``@triton.jit`` function called in place, on Triton only; or its name in the kernel's module.

    The functions and constants that it uses come with it. ``args`` and ``output_like`` as in `inline_triton`.
    """


@inside_kernels
def inline_asm_elementwise(
    asm: str, constraints: str, args: Any, dtype: Any, is_pure: bool = True, pack: int = 1
) -> Any:
    """Assembly in each lane, on a GPU only: Triton's function of that name. ``dtype`` may be several."""
