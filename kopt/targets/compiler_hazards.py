"""Hazards of the compilers below: where a version gives wrong results without a word, and what kopt does about it.

Each has a probe in ``test/hazards`` that runs with the suite. What is told to users names the hazard and the version.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CompilerHazard:
    """A row: in which ``versions`` of a ``package`` it was seen, ``what`` goes wrong, and the ``workaround``."""

    name: str
    package: str
    versions: str
    what: str
    workaround: str

    @property
    def remark(self) -> str:
        """What users are told where the workaround does not hold."""
        return f"{self.package} {installed(self.package)}: {self.what} (seen in {self.versions})"


def installed(package: str) -> str:
    """The version of a package that is installed."""
    from importlib.metadata import PackageNotFoundError, version  # takes milliseconds that few need

    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


UNREAD_OPERAND = CompilerHazard(
    "unread-operand",
    "libtpu",
    "0.0.43 to 0.0.45; not in 0.0.41",
    "a DMA from HBM brings zeros where the call has an operand that the kernel does not read (jax-ml/jax#39744)",
    "launches take what they use, and verify-pallas refuses a call with an operand that its kernel does not read",
)
BF16_CODES = CompilerHazard(
    "bf16-codes",
    "triton",
    "3.6 to 3.9",
    "the interpreter computes bf16 and fp8 on their integer codes",
    "kopt/runtime/triton_mend.py computes in f32 and rounds; where it does not fit the interpreter, a warning says so",
)
JUMP_THREADING = CompilerHazard(
    "jump-threading",
    "triton",
    "3.6 to 3.9, on NVIDIA",
    "LLVM optimises without knowing the chip, and may thread a branch into a block that all threads of a warp have to"
    " run together (triton-lang/triton#11156)",
    "none: no wrong result of an emitted kernel is known, and the probe tells when a version knows the chip",
)
SIGNS_OF_ZEROS = CompilerHazard(
    "signs-of-zeros",
    "triton",
    "3.6 to 3.8",
    "constants of -0.0 are 0.0, and up to 3.7 -x is 0 - x, which is 0.0 for 0.0",
    "none: results differ in signs of zeros alone; Triton 3.9 keeps them",
)
FOLDED_DIVISION = CompilerHazard(
    "folded-division",
    "jaxlib",
    "0.10",
    "XLA:CPU folds divisions of constant integers by 0, which ends the process",
    "emitted code divides by what is selected to be other than 0 (kopt/lowering/emitted/mosaic.py)",
)
HIDDEN_COPIES = CompilerHazard(
    "hidden-copies",
    "jax",
    "0.10",
    "the TPU interpreter says nothing of copies that are started and never waited for",
    "kopt/runtime/strict_ends.py looks at what is left when a kernel ends: an error on pallas:strict",
)

UNORDERED_THREADS = CompilerHazard(
    "unordered-threads",
    "triton",
    "3.6 to 3.9",
    "threads of a program do not wait for one another between accesses of one array, and loops load their blocks ahead"
    " of what they store (triton-lang/triton#9887, #10924)",
    "insert-barriers puts tl.debug_barrier() between such accesses; loops that have one do not load ahead",
)
PILED_TRANSPOSES = CompilerHazard(
    "piled-transposes",
    "jaxlib",
    "0.10",
    "without algebraic simplification, XLA:CPU moves a transpose again and again and adds two each time, of which"
    " hundreds take long to compile; where the types are of 8 bits, their depth ends the process",
    "interpreted kernels are compiled without the pass reshape-mover (kopt/runtime/pallas_interpret.py)",
)
ANGLES_OF_SUBNORMALS = CompilerHazard(
    "angles-of-subnormals",
    "jaxlib",
    "0.10",
    "XLA:CPU gives NaN for the atan2 of two subnormal numbers",
    "none: on TPUs subnormal numbers count as 0 anyway (docs/targets.md)",
)

HAZARDS = (
    UNREAD_OPERAND,
    BF16_CODES,
    JUMP_THREADING,
    SIGNS_OF_ZEROS,
    FOLDED_DIVISION,
    HIDDEN_COPIES,
    UNORDERED_THREADS,
    PILED_TRANSPOSES,
    ANGLES_OF_SUBNORMALS,
)
