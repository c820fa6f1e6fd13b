"""The chips that kopt knows: the hardware facts that passes and reports need.

Other packages bring theirs by entry points of ``kopt.targets``: a `TpuChip` or `GpuChip` with its ``costs``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kopt.errors import ConfigError
from kopt.plugins import Plugins

if TYPE_CHECKING:
    from kopt.targets.costs import GpuCosts, TpuCosts

MiB = 1024 * 1024
KiB = 1024


@dataclass(frozen=True)
class TpuChip:
    """One TPU core as the compiler sees it. ``scoped_vmem_bytes`` is what a kernel may use unless it asks for more.

    ``cores`` share the cells of one launch (Megacore). The two of a tpu7x do not: each is a device of its own.
    ``bf16_vectors`` says whether the vector unit computes with bf16, or with f32 in its place; ``costs`` are the
    constants of the cost model, where `kopt.targets.costs` has none of the name.
    """

    name: str
    device_kind: str
    topology: str
    vmem_bytes: int
    scoped_vmem_bytes: int
    hbm_bytes_per_second: float
    clock_hz: float
    mxu_size: int
    cores: int = 1
    smem_bytes: int = MiB
    lanes: int = 128
    sublanes: int = 8
    bf16_vectors: bool = True
    costs: TpuCosts | None = field(default=None, compare=False)


@dataclass(frozen=True)
class GpuChip:
    """One GPU architecture as Triton names it; ``shared_bytes`` is the most that one program may use.

    ``registers`` are those of 32 bits that one multiprocessor has (a compute unit, of AMD's).

    ``atomic_adds`` are the 16-bit floats that its memory adds to, each addition rounded. ``precisions`` are the
    roundings of f32 operands that Triton's products have there, besides exact ones. ``descriptors`` says whether its
    copy engine brings blocks by tensor descriptors. ``scales`` are the element types of scales that its matrix unit
    multiplies with, each for how many neighbours. ``e4m3`` says whether it has float8_e4m3fn, or bytes in its place.
    ``waits_for_sums`` says whether its matrix unit adds to registers of a program that goes on, and the assembler makes
    it wait for every product where a branch sets these otherwise (wgmma). ``spares_registers`` says whether its
    assembler, unasked, spills some for more programs side by side (Triton 3.9).
    ``costs`` as for `TpuChip`.
    """

    name: str
    backend: str
    arch: int | str
    warp_size: int
    shared_bytes: int
    hbm_bytes_per_second: float
    atomic_adds: tuple[str, ...] = ("f16", "bf16")
    registers: int = 64 * KiB
    precisions: tuple[str, ...] = ("tf32", "tf32x3", "bf16x3")
    descriptors: bool = False
    e4m3: bool = True
    waits_for_sums: bool = False
    spares_registers: bool = False
    scales: Mapping[str, int] = field(default_factory=dict, hash=False)
    costs: GpuCosts | None = field(default=None, compare=False)


Chip = TpuChip | GpuChip

# Bandwidth is a core's share. The clock is the published bf16 peak over 2 * MXUs * size² a core.
_TPUS = {
    #         name     device_kind    topology       VMEM       scoped    HBM B/s  clock  MXU cores
    "tpu7x": TpuChip("tpu7x", "TPU7x", "tpu7x:2x2x1", 64 * MiB, 32 * MiB, 3.70e12, 2.2e9, 256),
    "v6e": TpuChip("v6e", "TPU v6 lite", "v6e:2x2", 128 * MiB, 32 * MiB, 1.64e12, 1.75e9, 256),
    "v5p": TpuChip("v5p", "TPU v5", "v5p:2x2x1", 64 * MiB, 16 * MiB, 1.23e12, 1.75e9, 128, 2, bf16_vectors=False),
    "v5e": TpuChip("v5e", "TPU v5 lite", "v5e:2x2", 128 * MiB, 16 * MiB, 8.20e11, 1.5e9, 128, bf16_vectors=False),
    "v4": TpuChip("v4", "TPU v4", "v4:2x2x1", 16 * MiB, 16 * MiB, 6.15e11, 1.05e9, 128, 2, bf16_vectors=False),
}

#: What AMD's have of the precisions.
_AMD, _CDNA3 = ("bf16x3",), ("tf32", "bf16x3")
#: The scales of MX formats, and of these and NVIDIA's own format of 4 bits.
_MX: Mapping[str, int] = {"ui8": 32}
_MX_NV: Mapping[str, int] = {**_MX, "f8E4M3FN": 16}

_GPUS = {
    #         name    backend arch lanes   shared   HBM B/s  atomic additions
    "sm75": GpuChip("sm75", "cuda", 75, 32, 64 * KiB, 3.20e11, ("f16",), precisions=("tf32", "tf32x3"), e4m3=False),
    "sm80": GpuChip("sm80", "cuda", 80, 32, 163 * KiB, 2.04e12, ("f16",), e4m3=False, spares_registers=True),
    "sm86": GpuChip("sm86", "cuda", 86, 32, 99 * KiB, 9.36e11, ("f16",), e4m3=False, spares_registers=True),
    "sm89": GpuChip("sm89", "cuda", 89, 32, 99 * KiB, 1.01e12, ("f16",), spares_registers=True),
    "sm90": GpuChip("sm90", "cuda", 90, 32, 227 * KiB, 3.35e12, descriptors=True, waits_for_sums=True),
    "sm100": GpuChip(
        "sm100", "cuda", 100, 32, 227 * KiB, 8.0e12, descriptors=True, scales=_MX_NV, spares_registers=True
    ),
    "sm103": GpuChip(
        "sm103", "cuda", 103, 32, 227 * KiB, 8.0e12, descriptors=True, scales=_MX_NV, spares_registers=True
    ),
    "sm120": GpuChip("sm120", "cuda", 120, 32, 99 * KiB, 1.79e12, scales=_MX_NV, spares_registers=True),
    "gfx90a": GpuChip("gfx90a", "hip", "gfx90a", 64, 64 * KiB, 1.6e12, (), 128 * KiB, precisions=_AMD),
    "gfx942": GpuChip("gfx942", "hip", "gfx942", 64, 64 * KiB, 5.3e12, registers=128 * KiB, precisions=_CDNA3),
    "gfx950": GpuChip(
        "gfx950", "hip", "gfx950", 64, 160 * KiB, 8.0e12, registers=128 * KiB, precisions=_AMD, scales=_MX
    ),
    "gfx1100": GpuChip("gfx1100", "hip", "gfx1100", 32, 64 * KiB, 9.6e11, (), 96 * KiB, precisions=_AMD),
}

_OWN: Mapping[str, Chip] = {**_TPUS, **_GPUS}


def _problem(name: str, found: Any) -> str | None:
    """What is wrong with an object that is to be the chip of a name."""
    if not isinstance(found, TpuChip | GpuChip):
        return f"a chip is a TpuChip or a GpuChip of kopt.targets.chips, found {type(found).__name__}"
    if found.costs is None:
        return "it brings no costs, by which block sizes are chosen: GpuChip(…, costs=GPU_COSTS['sm90'])"
    return None if found.name == name else f"its name is '{found.name}'"


PLUGINS = Plugins("kopt.targets", "chip", _OWN.keys(), _problem)
_Kind = TypeVar("_Kind", bound=Chip)


class _Chips(Mapping[str, _Kind], Generic[_Kind]):
    """kopt's own chips of a kind, and those of other packages, which are looked for when a name is none of kopt's."""

    def __init__(self, own: Mapping[str, _Kind], *kinds: type[_Kind]):
        self._own = own
        self._kinds = kinds

    def __getitem__(self, name: str) -> _Kind:
        if name in self._own:
            return self._own[name]
        if name in _OWN or name not in PLUGINS.entries():
            raise KeyError(name)
        chip = PLUGINS.load(name)
        if not isinstance(chip, self._kinds):
            raise KeyError(name)
        return chip

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in PLUGINS.names() if self._loads(name))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _loads(self, name: str) -> bool:
        """Whether it is a chip of the kind: one that does not load is passed over, until it is named."""
        try:
            return name in self
        except ConfigError:
            return False


TPU_CHIPS: Mapping[str, TpuChip] = _Chips(_TPUS, TpuChip)
GPU_CHIPS: Mapping[str, GpuChip] = _Chips(_GPUS, GpuChip)
CHIPS: Mapping[str, Chip] = _Chips(_OWN, TpuChip, GpuChip)


def chip_option(chips: Mapping[str, Chip], default: str | None) -> Any:
    """The option ``chip`` of a pass: the name of one of these. Pipelines' text is checked for it."""
    return field(default=default, metadata={"one of": chips})
