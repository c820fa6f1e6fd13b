"""What of a chip's memory may be taken, and by what: every limit that a decision asks for, with its source.

Pure, and without IR: bytes come in, answers go out. The numbers are those that decisions have always been made with;
where two of them differ for the same reason, that is to be seen here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from kopt.targets.chips import Chip, GpuChip, KiB, MiB, TpuChip


@dataclass(frozen=True)
class Budget:
    """The memory of one chip: `tpu` and `gpu` are the chip, for the queries that are of one kind.

    VMEM takes ``Σ blocks × depth + scratch``, and the values that do not fit registers: what libtpu itself counts.
    """

    chip: Chip

    #: Arrays in scalar memory. Of its 1 MiB, 131,072 prefetched words fit and 262,144 do not (libtpu 0.0.42).
    SCALAR_BYTES: ClassVar[int] = 512 * KiB
    #: Up to here an array comes as a whole though a loop visits a part of it: a copy of it takes about 1 µs.
    WHOLE_BYTES: ClassVar[int] = MiB
    #: Slots of bundles of a cell, beyond which more of them have to pay: libtpu fills so many in some four seconds.
    SLOTS: ClassVar[int] = 28 << 10
    #: Blocks and values of a cell of which no plan tells: three quarters of what kernels have unasked on v6e and tpu7x.
    CELL_BYTES: ClassVar[int] = 24 * MiB
    #: Values up to here stand in registers: a quarter of the 64 that there are, of 4 KiB each.
    REGISTER_BYTES: ClassVar[int] = 64 * KiB
    #: Lanes that are drawn or sorted at once: hundreds of ops each, all unrolled, or libtpu takes minutes.
    UNROLLED_LANES: ClassVar[int] = 8192
    #: Elements of one value of a TPU's kernel: Mosaic unrolls its ops over vector registers of 1,024. What products
    #: alone take, as memory has it, may be longer.
    BLOCK_LANES: ClassVar[int] = 1 << 20
    #: Multiply-adds of products in loops whose bounds only a launch tells; of others `SLOTS` are counted. 512 x 2,048
    #: by 2,048 x 2,048 is 9,375 bundles of a v6e, and 2.7 s of libtpu.
    MULTIPLY_ADDS: ClassVar[int] = 1 << 31
    #: Elements of one value where those of all together are no more than `FEW_LANES`, and none is multiplied or laid
    #: out anew: few ops are compiled in seconds. 512 rows of 2,560, cast and added up, take 1,004 bundles and 3.5 s.
    LARGE_BLOCK_LANES: ClassVar[int] = 2 << 20
    FEW_LANES: ClassVar[int] = 24 << 20
    #: Elements of one without rows, of fewer than 32 bits: each register of it is laid out anew, in seconds of libtpu.
    NARROW_VECTOR_LANES: ClassVar[int] = 1 << 16
    #: Lanes by elements that an update compares or stands in for at once: 1 MiB of words.
    COMPARED: ClassVar[int] = 1 << 18
    #: Rows that are sent together: each one's number is compared with all others, 4 MiB of words.
    SENT_ROWS: ClassVar[int] = 1024
    #: Elements of whole rows, or of a whole column, that single ones are picked from: 4 MiB of words.
    PICKED_FROM: ClassVar[int] = 1 << 20
    #: Bytes of a matrix of which a product takes rows; a DMA a row brings those of a larger one.
    TAKEN_FROM: ClassVar[int] = 256 * KiB
    #: Elements of one dimension that are taken whole to pick from.
    PICKED_WHOLE: ClassVar[int] = 1024
    #: Elements that are picked at once, a row of 128 words standing for each on the way; and in all, in parts.
    PICKED: ClassVar[int] = 4096
    PICKED_IN_PARTS: ClassVar[int] = 16384
    #: Bytes of the block of rows, and of the block of columns, of a product that gathers its operand.
    GATHERED_BYTES: ClassVar[int] = 4 * MiB

    #: Elements of the largest tile of a GPU's program: of products of wide operands, which live in registers; others.
    WIDE_TILE_LANES: ClassVar[int] = 4096
    TILE_LANES: ClassVar[int] = 8192
    #: Sums of products of narrow operands: 128 by 256, which are 128 registers of the threads of eight warps.
    PRODUCT_TILE_LANES: ClassVar[int] = 32 * KiB
    #: Registers that a thread may be thought to need: of 255, for what the model does not see.
    THREAD_REGISTERS: ClassVar[int] = 208
    #: The same where sums become operands in place: the model sees all but some 20 registers (sm90, Triton 3.9).
    IN_PLACE_REGISTERS: ClassVar[int] = 235
    #: The same where operands of products are counted too: nothing that takes less spills (sm80, Triton 3.9).
    COUNTED_REGISTERS: ClassVar[int] = 245
    #: Elements of a tile beyond which cells are split: a 32-bit register each is all that a multiprocessor has.
    PLANE_LANES: ClassVar[int] = 64 * KiB
    #: Elements of one value that is alive while its lanes are combined: half of a multiprocessor's 32-bit registers,
    #: for another of its size is alive beside it. Rows of 32,768 spill nothing on sm90, those of 65,536 some hundred
    #: bytes a thread (Triton 3.9).
    HELD_LANES: ClassVar[int] = 32 * KiB
    #: Elements of one tile: Triton's ``TRITON_MAX_TENSOR_NUMEL``.
    MOST_LANES: ClassVar[int] = 1 << 20
    #: Lanes that a walk takes at once, at least: a row of a tile of memory, and what a warp loads at once.
    LEAST_WALKED: ClassVar[int] = 128
    #: Loads in flight of one loop, at most; and parts of a product that is cut to fit.
    STAGES: ClassVar[int] = 4
    #: Bytes that Triton adds to the blocks which a program shares: barriers of the stages, rows that warps combine.
    BARRIERS: ClassVar[int] = 2 * KiB

    @property
    def tpu(self) -> TpuChip:
        """The TPU."""
        assert isinstance(self.chip, TpuChip), f"{self.chip.name} is no TPU"
        return self.chip

    @property
    def gpu(self) -> GpuChip:
        """The GPU."""
        assert isinstance(self.chip, GpuChip), f"{self.chip.name} is no GPU"
        return self.chip

    # What a TPU has.

    @property
    def vmem(self) -> int:
        """Bytes of VMEM, all of it: what a kernel may ask for."""
        return self.tpu.vmem_bytes

    @property
    def scoped_vmem(self) -> int:
        """Bytes of VMEM that a kernel has without asking for more."""
        return self.tpu.scoped_vmem_bytes

    @property
    def smem(self) -> int:
        """Bytes of scalar memory."""
        return self.tpu.smem_bytes

    @staticmethod
    def blocks(buffers: Iterable[tuple[int, int]], scratch: int = 0) -> int:
        """``Σ bytes × depth + scratch``; the depth is 2, or 1 of a block whose index never changes."""
        return sum(size * depth for size, depth in buffers) + scratch

    # What decisions ask of it.

    def cell_bytes(self) -> int:
        """What a cell of which no plan tells may take while block sizes are chosen: it asks for more where it must."""
        return min(self.vmem // 2, self.CELL_BYTES)

    def window_bytes(self) -> int:
        """What the windows and values of a grid may take: half of VMEM."""
        return self.vmem // 2

    def holds_windows(self, size: int) -> bool:
        """Whether the windows and values of a grid may take so many bytes."""
        return size <= self.window_bytes()

    def holds_array(self, size: int) -> bool:
        """Whether an array that is read may be in VMEM as a whole."""
        return size <= self.vmem // 2

    def keeps(self, size: int, cell: int) -> bool:
        """Whether scratch memory may hold so many bytes for later loops, beside what else the cell takes."""
        return size + cell <= self.vmem * 7 // 8

    def holds_updated(self, block: int) -> bool:
        """Whether a block that is read and written may be in VMEM: twice as it comes and twice as it goes."""
        return 4 * block <= self.vmem // 2

    def accumulates(self, window: int, accumulator: int) -> bool:
        """Whether a block may be accumulated in 32 bits: beside two buffers on its way to memory, in all of VMEM."""
        return 2 * window + accumulator <= self.vmem

    def vmem_limit(self, size: int) -> int | None:
        """The limit that a call of so many bytes asks for, twice as much as is seen; None where it need not ask."""
        limit = min(self.vmem, 2 * size)
        return limit if limit > self.scoped_vmem else None

    @classmethod
    def is_large(cls, size: int) -> bool:
        """Whether an array is too large to come as a whole where parts of it are asked for only."""
        return size > cls.WHOLE_BYTES

    @classmethod
    def is_scalar_memory(cls, words: int) -> bool:
        """Whether so many words of 32 bits may be in scalar memory."""
        return 4 * words <= cls.SCALAR_BYTES

    @classmethod
    def spills(cls, size: int) -> bool:
        """Whether a value is too large for registers, and so takes VMEM."""
        return size > cls.REGISTER_BYTES

    @classmethod
    def picks_from_whole(cls, extent: int, picked: int) -> bool:
        """Whether elements of a dimension are best picked from all of it, each compared with all."""
        return extent <= cls.PICKED_WHOLE and picked * extent <= cls.PICKED_FROM

    @classmethod
    def takes_rows(cls, count: int, table: int, lanes: int) -> bool:
        """Whether so many rows may be taken from a table, in parts of which each number is compared with all rows."""
        return count <= cls.PICKED_IN_PARTS and 128 * max(table, lanes) <= cls.PICKED_FROM

    @classmethod
    def picks(cls, count: int, row: int) -> bool:
        """Whether so many elements may be picked lane by lane, those of one row at once."""
        return 0 < count <= cls.PICKED_IN_PARTS and row <= cls.PICKED

    # What a GPU has.

    @property
    def shared(self) -> int:
        """Bytes of shared memory that a program may use."""
        return self.gpu.shared_bytes

    @property
    def staged(self) -> int:
        """Bytes of shared memory that a program's blocks of products may have."""
        return self.gpu.shared_bytes - (self.BARRIERS if self.gpu.backend == "cuda" else 0)

    @classmethod
    def tile_lanes(cls, product: bool, wide: bool) -> int:
        """Elements that the largest tile of a program should have: of one with products, of ``wide`` operands."""
        return (cls.WIDE_TILE_LANES if wide else cls.PRODUCT_TILE_LANES) if product else cls.TILE_LANES

    @classmethod
    def holds_in_registers(cls, lanes: int) -> bool:
        """Whether a program holds so many lanes of a value until they are combined."""
        return lanes <= cls.HELD_LANES

    def walked_lanes(self, others: int, product: bool = False) -> int:
        """Lanes of a dimension that a walk takes at once, beside so many of the others: a power of two.

        A GPU's program has tiles of the size that suits it best, and as few lanes of products as there can be; a TPU's
        cell blocks as large as pay.
        """
        if product and isinstance(self.chip, GpuChip):
            return self.LEAST_WALKED
        most = self.TILE_LANES if isinstance(self.chip, GpuChip) else self.WHOLE_BYTES // 4
        return max(self.LEAST_WALKED, 1 << (max(1, most // others).bit_length() - 1))

    def shares(self, size: int) -> bool:
        """Whether a program may share so many bytes."""
        return size <= self.shared

    def shares_stages(self, size: int) -> bool:
        """Whether a program may share the parts of a product that are on their way at once."""
        return self.STAGES * size <= self.shared
