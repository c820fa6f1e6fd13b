"""What a chip's compiler makes of an emitted module, on any machine: bundles of a TPU, SASS or GCN of a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from kopt.errors import CompileError, ConfigError
from kopt.runtime.report import require_compiler
from kopt.runtime.time_limits import COMPILE_SECONDS, time_limit
from kopt.runtime.tpu_report import bundle_texts
from kopt.runtime.worker import RemoteError, Worker, WorkerCrash, WorkerTimeout
from kopt.specs import TensorSpec
from kopt.targets.chips import GpuChip, TpuChip
from kopt.targets.target import Target

_gpu = Worker("kopt.runtime.gpu_worker", {"TRITON_INTERPRET": None, "TRITON_DEFAULT_FP_FUSION": "1"})


def machine_code(source: str, entry: str, specs: Sequence[TensorSpec], target: Target) -> dict[str, str]:
    """The listing of each kernel, by its name.

    Raises `CompileError` where the compiler is not installed, or refuses the module.
    """
    chip_target = target.compile_target
    require_compiler(chip_target)
    if isinstance(chip_target.chip, TpuChip):
        return bundle_texts(source, entry, specs, chip_target.chip)
    if not isinstance(chip_target.chip, GpuChip):
        raise ConfigError(f"target '{chip_target}' has no compiler to ask", id="target-not-here")
    job = source, entry, tuple(specs), chip_target.chip.name
    try:
        return _gpu.call("machine_code", *job, time_limit=time_limit(COMPILE_SECONDS))
    except (RemoteError, WorkerCrash, WorkerTimeout) as error:
        raise CompileError(f"Triton gives no machine code: {str(error).splitlines()[0]}") from None
