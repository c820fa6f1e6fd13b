"""What the real compiler of a target says of an emitted module, on any machine."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from kopt.errors import CompileError, ConfigError
from kopt.runtime.cache_folder import Folder, cache_folder
from kopt.runtime.extras import install, missing
from kopt.runtime.figures import FIGURES, KnownModule, with_figures
from kopt.runtime.time_limits import COMPILE_SECONDS, time_limit
from kopt.runtime.tpu_report import compile_report
from kopt.runtime.versions import own_files, package_versions
from kopt.runtime.worker import RemoteError, Worker, WorkerCrash, WorkerTimeout
from kopt.specs import TensorSpec
from kopt.targets.chips import GpuChip, TpuChip
from kopt.targets.costs import tpu_costs
from kopt.targets.target import Target, parse_target

TPU_KEYS = (
    "target",
    "legal",
    "reason",
    "arg_bytes",
    "out_bytes",
    "temp_bytes",
    "alias_bytes",
    "vmem_bytes",
    "hlo_ops",
    "hlo_cycles",
    "hlo_uncounted",
    "bundles",
    *FIGURES,
    "compile_s",
)
GPU_KEYS = (
    "target",
    "legal",
    "reason",
    "registers",
    "spill_bytes",
    "shared_bytes",
    "instructions",
    *FIGURES,
    "compile_s",
)

#: Reports that a process remembers, besides those on disk.
_REMEMBERED = 64
_memory: dict[str, dict[str, Any]] = {}

#: How the facts of several launches make the facts of the whole.
_TOTALS = {
    "vmem_bytes": max,
    "bundles": sum,
    "registers": max,
    "spill_bytes": max,
    "shared_bytes": max,
    "instructions": sum,
}

_gpu = Worker("kopt.runtime.gpu_worker", {"TRITON_INTERPRET": None, "TRITON_DEFAULT_FP_FUSION": "1"})


def report(
    source: str,
    entry: str,
    specs: Sequence[TensorSpec],
    target: Target | str,
    *,
    donate: Sequence[int] = (),
    estimates: bool = True,
    known: KnownModule | None = None,
    profile: bool = False,
) -> dict[str, Any]:
    """Compile an emitted module for a target's chip, with no such chip here, and say what its compiler says.

    ``specs`` are of all tensors that the entry takes, hidden ones last; ``donate`` the arguments whose buffers the
    caller gives up (TPU); ``estimates`` whether a TPU's compiler is asked for bundles, which take most of
    the time; ``known`` is what kopt knows of the module's kernels, without which there are no figures but libtpu's own.
    ``profile`` is whether libtpu is asked for its own estimate of cycles, which may take minutes.
    The keys are those of `TPU_KEYS` or `GPU_KEYS`, None where the compiler does not say, and
    ``launches``, a list of the same by kernel, where there are several. An illegal module is a report with ``legal``
    False and the compiler's ``reason``; ``legal`` is None where the time limit came first. Raises `CompileError`
    where the compiler is not installed.
    """
    chip_target = parse_target(target).compile_target
    require_compiler(chip_target)
    if isinstance(chip_target.chip, TpuChip):
        chip = chip_target.chip
        job = source, entry, specs, chip, donate
        asked = estimates and profile
        # What was profiled once says all that is asked for without a profile.
        kept = None if asked or not estimates else _kept(chip_target, (*job, True, True))
        job = (*job, estimates, asked)
        facts = kept or _remembered(chip_target, job, lambda: compile_report(*job))
        if estimates:
            facts = with_figures(facts, known, tpu_costs(chip))
        else:
            facts["cycles_reason"] = "the report was asked for without estimates"
        return _assemble(TPU_KEYS, chip_target, facts, facts.pop("kernels", []))
    if isinstance(chip_target.chip, GpuChip):
        return _gpu_report(source, entry, specs, chip_target, chip_target.chip)
    raise ConfigError(f"target '{chip_target}' has no compiler to report on", id="target-not-here")


def _gpu_report(source: str, entry: str, specs: Sequence[TensorSpec], target: Target, chip: GpuChip) -> dict[str, Any]:
    job = source, entry, tuple(specs), chip.name
    try:
        facts = _remembered(
            target, job, lambda: _gpu.call("compile_module", *job, time_limit=time_limit(COMPILE_SECONDS))
        )
    except WorkerTimeout as error:
        facts = {"legal": None, "reason": f"Triton: {error}"}
    except WorkerCrash as error:
        facts = {"legal": False, "reason": f"Triton crashed: {str(error).splitlines()[0]}"}
    except RemoteError as error:
        raise CompileError(f"cannot compile for {target}: {error.kind}: {error.message}") from None
    return _assemble(GPU_KEYS, target, facts, facts.pop("launches", []))


def _remembered(target: Target, job: tuple[Any, ...], compiled: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a compiler says of a module, which the cache may know: all but what came of limits and crashes."""
    if (known := _kept(target, job)) is not None:
        return known
    facts = compiled()
    root = cache_folder()
    final = facts.get("legal") is not None and not facts.get("hurried") and "crashed" not in str(facts.get("reason"))
    if root is not None and final:
        text = json.dumps({"of": f"{job[1]} for {target}", "facts": facts})
        if json.loads(text)["facts"] == facts:
            key = _key(target, job)
            Folder(root, "reports").keep(key, text)
            while len(_memory) >= _REMEMBERED:
                _memory.pop(next(iter(_memory)))
            _memory[key] = copy.deepcopy(facts)
    return facts


def _kept(target: Target, job: tuple[Any, ...]) -> dict[str, Any] | None:
    """What this process or the cache on disk remembers of a module; nothing where the cache is off."""
    root = cache_folder()
    if root is None:
        return None
    key = _key(target, job)
    if key in _memory:
        return copy.deepcopy(_memory[key])
    text = Folder(root, "reports").find(key)
    return None if text is None else json.loads(text)["facts"]


def _key(target: Target, job: tuple[Any, ...]) -> str:
    flags = os.environ.get("LIBTPU_INIT_ARGS") if target.family == "pallas" else None
    return hashlib.sha256(repr((package_versions(), own_files(), target.chip, flags, job)).encode()).hexdigest()


def require_compiler(target: Target) -> None:
    """Raises `CompileError` where the packages are missing that compile for a target's chip."""
    packages, extra = _COMPILERS.get(target.family, ((), ""))
    if absent := missing(packages):
        raise CompileError(
            f"a report for {target} needs {' and '.join(absent)}", notes=[install(extra)], id="target-not-here"
        )


#: What compiles for the chips of each family, and the extra that brings it.
_COMPILERS = {"pallas": (("jax", "libtpu"), "tpu"), "triton": (("torch", "triton"), "triton")}


def _assemble(
    keys: Sequence[str], target: Target, facts: dict[str, Any], launches: list[dict[str, Any]]
) -> dict[str, Any]:
    """The report's keys in order, totals over the launches, and the launches where there are several."""
    totals = {key: _total(key, launches) for key in _TOTALS if key in keys}
    known = {**totals, **facts, "target": str(target)}
    result = {key: known.get(key) for key in keys}
    if len(launches) > 1:
        result["launches"] = launches
    return result


def _total(key: str, launches: list[dict[str, Any]]) -> int | None:
    values = [launch.get(key) for launch in launches]
    known = [value for value in values if value is not None]
    return _TOTALS[key](known) if known and len(known) == len(values) else None
