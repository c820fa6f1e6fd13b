"""The kernel language: the names of ``helion.language``, for kernels that ``@kopt.kernel`` imports.

    import kopt.language as hl

    for tile in hl.tile(x.size(0)):
        out[tile, :] = torch.softmax(x[tile, :], dim=-1)

These functions have a meaning inside kernels only; called elsewhere they say so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kopt.language.running import RUNNING, inside_kernels

__all__ = [
    "AsyncCopyDescriptor",
    "ProcessGroupName",
    "StackTensor",
    "Tile",
    "arange",
    "associative_scan",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "barrier",
    "breakpoint",
    "cdiv",
    "constexpr",
    "cumprod",
    "cumsum",
    "device_print",
    "dot",
    "dot_scaled",
    "float4_e2m1fn_x2_to_float32",
    "full",
    "grid",
    "inline_asm_elementwise",
    "inline_triton",
    "jagged_tile",
    "join",
    "load",
    "load_bfloat16_x16_to_float16",
    "load_float4_e2m1fn_x16_to_float16",
    "make_async_remote_copy",
    "next_power_of_2",
    "pdl_launch_dependents",
    "pdl_wait",
    "rand",
    "rand4x",
    "randint",
    "reduce",
    "register_block_size",
    "register_tunable",
    "remote_barrier",
    "specialize",
    "split",
    "stacktensor_like",
    "static_range",
    "store",
    "subscript",
    "tile",
    "tile_begin",
    "tile_block_size",
    "tile_count",
    "tile_end",
    "tile_id",
    "tile_index",
    "triton_kernel",
    "zeros",
]


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


@inside_kernels
def tile(begin_or_end: Any, end_or_none: Any = None, /, block_size: Any = None) -> Any:
    """Walks a range, or the product of several, in blocks: ``for t in hl.tile(n)``, ``for i, j in hl.tile([m, n])``.

    Args: the end, or begin and end, each a number or a list; ``block_size`` fixes sizes (numbers, or what
    `register_block_size` gave); what it leaves open the configuration chooses. At the top of a kernel it is the
    launch's grid, inside it is a loop whose bounds may be device numbers.
    """


@inside_kernels
def grid(begin_or_end: Any, end_or_none: Any = None, /, step: Any = None) -> Any:
    """Walks a range, or the product of several, element by element; gives numbers."""


@inside_kernels
def static_range(begin_or_end: int, end_or_none: int | None = None, /, step: int = 1) -> Any:
    """A range of static bounds that is unrolled while the kernel is imported."""


@inside_kernels
def jagged_tile(parent: Any, /, block_size: Any = None) -> Any:
    """Walks, for a tile of items at once, a range whose end differs from item to item.

    ``parent`` has the end of each item, one number for each lane of the tiles around: ``ends[tile_b]``, or of several
    dimensions, ``ends[tile_b, tile_h]``. Blocks go from 0 to the largest. What has both the items' dimensions and the
    jagged one has only the lanes that the items have: others are not read, not written, and not summed.

        for b in hl.tile(lengths.size(0)):
            acc = hl.zeros([b])
            for k in hl.jagged_tile(lengths[b]):
                acc = acc + x[starts[b][:, None] + k.index[None, :]].sum(1)
    """


@inside_kernels
def register_block_size(min_or_max: int, max_or_none: int | None = None, /) -> Any:
    """A block size for the configuration to choose, to be shared by loops and shapes."""


@inside_kernels
def register_tunable(name: str, fragment: Any) -> Any:
    """A value of the configuration, by name; ``fragment`` has its default."""


@inside_kernels
def specialize(value: Any) -> Any:
    """The value itself: sizes are always known while a kernel is imported."""


@inside_kernels
def zeros(shape: Any, dtype: Any = None, device: Any = None) -> Any:
    """A device tensor of zeros (f32 if nothing is said); sizes may be tiles."""


@inside_kernels
def full(shape: Any, value: Any, dtype: Any = None, device: Any = None) -> Any:
    """A device tensor of one value, a number or a device scalar."""


@inside_kernels
def arange(*args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Any:
    """Whole numbers in order: ``arange(end)``, ``arange(start, end, step)``."""


@inside_kernels
def load(tensor: Any, index: Any, extra_mask: Any = None, eviction_policy: str | None = None) -> Any:
    """``tensor[index]`` where ``extra_mask`` holds, 0 elsewhere."""


@inside_kernels
def store(tensor: Any, index: Any, value: Any, extra_mask: Any = None) -> None:
    """``tensor[index] = value`` where ``extra_mask`` holds."""


@inside_kernels
def dot(mat1: Any, mat2: Any, acc: Any = None, out_dtype: Any = None) -> Any:
    """The matrix product, added to ``acc`` if given."""


@inside_kernels
def dot_scaled(
    mat1: Any,
    mat1_scale: Any,
    mat1_format: str,
    mat2: Any,
    mat2_scale: Any,
    mat2_format: str,
    acc: Any = None,
    out_dtype: Any = None,
) -> Any:
    """The product of matrices with a scale for each group of elements along the summed dimension, in f32.

    Scales are uint8 exponents with a bias of 127: ``mat1_scale`` has a row for each row of ``mat1``, ``mat2_scale`` one
    for each column of ``mat2``. Formats are ``e4m3``, ``e5m2``, ``bf16`` and ``fp16``, of operands in that dtype.
    """


@inside_kernels
def reduce(combine_fn: Any, input_tensor: Any, dim: int | None = None, other: Any = 0, keep_dims: bool = False) -> Any:
    """Combines lanes of a dimension by a function of two values."""


@inside_kernels
def associative_scan(combine_fn: Any, input_tensor: Any, dim: int, reverse: bool = False) -> Any:
    """Running combination by a function of two values."""


@inside_kernels
def cumsum(input_tensor: Any, dim: int, reverse: bool = False) -> Any:
    """Running sums."""


@inside_kernels
def cumprod(input_tensor: Any, dim: int, reverse: bool = False) -> Any:
    """Running products."""


@inside_kernels
def subscript(tensor: Any, index: Any) -> Any:
    """``tensor[index]`` of a device value."""


@inside_kernels
def split(tensor: Any) -> Any:
    """The two halves of a last dimension of 2."""


@inside_kernels
def join(tensor0: Any, tensor1: Any) -> Any:
    """Two tensors as one with a last dimension of 2."""


@inside_kernels
def tile_index(tile: Any) -> Any:
    """``tile.index``."""


@inside_kernels
def tile_begin(tile: Any) -> Any:
    """``tile.begin``."""


@inside_kernels
def tile_end(tile: Any) -> Any:
    """``tile.end``."""


@inside_kernels
def tile_block_size(tile: Any) -> Any:
    """``tile.block_size``."""


@inside_kernels
def tile_id(tile: Any) -> Any:
    """``tile.id``."""


@inside_kernels
def tile_count(tile: Any) -> Any:
    """``tile.count``."""


@inside_kernels
def atomic_add(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Adds ``value`` to ``target[index]``, each element as one step; gives what was there before.

    ``index`` is a list of tiles, numbers, slices and index tensors. ``value`` is a number or tensor, converted to the
    target's dtype. ``sem`` is ``relaxed``, ``acquire``, ``release`` or ``acq_rel``. An element that several lanes or
    cells address receives every one of their values, in any order; sums of 16-bit floats are made in f32.
    """


@inside_kernels
def atomic_and(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Bitwise and of integers or booleans, each element as one step; see `atomic_add`."""


@inside_kernels
def atomic_or(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Bitwise or of integers or booleans, each element as one step; see `atomic_add`."""


@inside_kernels
def atomic_xor(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Bitwise exclusive or of integers or booleans, each element as one step; see `atomic_add`."""


@inside_kernels
def atomic_max(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """The larger of element and value, NaN if either is, each element as one step; see `atomic_add`."""


@inside_kernels
def atomic_min(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """The smaller of element and value, NaN if either is, each element as one step; see `atomic_add`."""


@inside_kernels
def atomic_xchg(target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """Puts values in place of elements, each as one step, and gives what was there before; see `atomic_add`.

    Of several values for one element any may be the last.
    """


@inside_kernels
def atomic_cas(target: Any, index: Any, expected: Any, value: Any, sem: str = "relaxed") -> Any:
    """Elements with the bits of ``expected`` become ``value``, each as one step; gives what was there before.

    See `atomic_add` for the arguments.
    """


@inside_kernels
def barrier() -> None:
    """All cells of the launch have come here."""


@inside_kernels
def rand(shape: Any, seed: Any, device: Any = None, offsets: Any = None) -> Any:
    """Floats in [0, 1) that depend on the seed and the element alone: ``hl.rand([rows, cols], seed=42)``.

    An element's number is its place, row by row, in the array that the shape's tiles walk in full, so block sizes and
    targets do not matter: bits are those of Triton's ``tl.rand(seed, number)`` and of Helion.

    Args: ``shape`` tiles and numbers; ``seed`` an integer of up to 64 bits: a Python number, which the kernel is
    specialised for, or a tensor of one element; ``offsets`` a device tensor of integers, the numbers to take instead
    (``shape`` does not matter then); ``device`` is ignored. Refuses shapes with a loop of unknown extent after the
    first dimension. A TPU takes numbers below 2**31 only, and seeds of 64 bits only as they are passed to the kernel.
    """


@inside_kernels
def randint(shape: Any, low: int, high: int, seed: Any, device: Any = None) -> Any:
    """32-bit integers from ``low`` up to but not including ``high``, Python numbers; else as `rand`.

    As Helion computes them: ``low`` plus the remainder of the random word's magnitude.
    """


@inside_kernels
def rand4x(seed: Any, offsets: Any, device: Any = None) -> Any:
    """Four independent tensors like `rand`'s with ``offsets``, at the cost of one."""


@inside_kernels
def breakpoint() -> None:
    """Stops in a debugger."""


@inside_kernels
def remote_barrier(device_ids: Any) -> None:
    """This rank and those of ``device_ids`` have come here, and each names the others; on a TPU.

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
def float4_e2m1fn_x2_to_float32(value: Any) -> Any:
    """The two fp4 (e2m1) numbers in each byte of a uint8 or float4_e2m1fn_x2 tensor, the low half's first, in f32."""


@inside_kernels
def load_bfloat16_x16_to_float16(storage: Any, group_offsets: Any, extra_mask: Any = None) -> Any:
    """Sixteen tensors of f16: the elements of the groups of 16 numbers in ``storage``, which is bf16."""


@inside_kernels
def load_float4_e2m1fn_x16_to_float16(storage: Any, group_offsets: Any, extra_mask: Any = None) -> Any:
    """Sixteen tensors of f16: the fp4 (e2m1) numbers in the groups of 8 bytes in ``storage``, which is uint8."""


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


@inside_kernels
def stacktensor_like(tensor_like: Any, dev_ptrs: Any) -> Any:
    """Several tensors that look like one of the host, behind a block of pointers: ``tensors[tile]`` indexes each.

    The pointers are loaded as they are from a host tensor of 64-bit integers, and their dimensions come first in what
    is loaded and stored. They are read on the host when the kernel is imported, and again when they have changed.
    """


def cdiv(a: int, b: int) -> int:
    """The quotient rounded up; also on the host."""
    return -(-a // b)


def next_power_of_2(value: int) -> int:
    """The smallest power of two that is not less; also on the host."""
    power = 1 << max(0, value - 1).bit_length()
    if (run := RUNNING.get()) is not None:
        run.padded(value, power)
    return power
