"""How full a multiprocessor gets, by what programs take of it."""

from __future__ import annotations

from dataclasses import dataclass

from kopt.targets.chips import GpuChip, KiB


@dataclass(frozen=True)
class Multiprocessor:
    """What `GpuChip` leaves out: the warps and the programs that one holds, and shared memory kept for each program."""

    warps: int
    programs: int
    reserved: int = KiB


#: By the architecture's number, from the tables of CUDA's programming guide.
MULTIPROCESSORS = {
    75: Multiprocessor(32, 16, 0),
    80: Multiprocessor(64, 32),
    86: Multiprocessor(48, 16),
    89: Multiprocessor(48, 24),
    90: Multiprocessor(64, 32),
    100: Multiprocessor(64, 32),
    103: Multiprocessor(64, 32),
    120: Multiprocessor(48, 24),
}
#: Registers are dealt to warps of a quarter of the multiprocessor in pieces, shared memory to programs.
_REGISTER_PIECE, _SHARED_PIECE, _QUARTERS = 256, 128, 4


def occupancy(chip: GpuChip, registers: int | None, shared: int | None, warps: int | None) -> float | None:
    """The share of a multiprocessor's warps that programs fill; None where something is unknown or nothing fits."""
    room = MULTIPROCESSORS.get(chip.arch) if isinstance(chip.arch, int) else None
    if room is None or not registers or shared is None or not warps:
        return None
    a_warp = _up(registers * chip.warp_size, _REGISTER_PIECE)
    by_registers = chip.registers // _QUARTERS // a_warp * _QUARTERS // warps
    by_shared = (chip.shared_bytes + room.reserved) // max(_up(shared + room.reserved, _SHARED_PIECE), 1)
    programs = min(by_registers, by_shared, room.warps // warps, room.programs)
    return programs * warps / room.warps if programs else None


def _up(value: int, piece: int) -> int:
    return -(-value // piece) * piece
