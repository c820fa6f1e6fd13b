"""The accelerators of this machine: which target a kernel gets when none is named, and whether one can run here."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import cache

from kopt.diagnostics import Diagnostic, report
from kopt.errors import ConfigError
from kopt.runtime.extras import EXTRAS, install, is_installed, missing
from kopt.runtime.machine import has_gpu, has_tpu, prepare_jax
from kopt.targets.chips import Chip
from kopt.targets.nearest_chip import nearest_cuda, nearest_hip, nearest_tpu
from kopt.targets.target import PACKAGES, Target, parse_target

#: What each family needs in order to run.
_NEEDED = {"pallas": ("jax",), "triton": ("triton", "torch"), "reference": (), "eager": ("torch",)}


@cache
def _installed(package: str) -> bool:
    return package in sys.modules or is_installed(package)


#: The environment without `os.environ`'s checks of each name, which take as long as a launch.
_ENVIRON, _NAME = os.environ._data, os.environ.encodekey("KOPT_TARGET")  # pyright: ignore[reportAttributeAccessIssue]


def environment_target() -> str | bytes | None:
    """``KOPT_TARGET``, as the environment has it."""
    return _ENVIRON.get(_NAME)


def default_target() -> Target:
    """The target when none is named.

    ``KOPT_TARGET`` wins; then the accelerator that is there, or the chip of the table that is nearest to it, with a
    remark; then the first installed of ``pallas:interpret``, ``triton:interpret`` and ``reference``; ``eager`` only
    where it is named.
    """
    if named := os.environ.get("KOPT_TARGET"):
        return parse_target(named)
    found = _accelerator()
    if found is None or found.mode != "chip":
        found = replace(_interpreter(), remark=None if found is None else found.remark)
    if found.remark is not None:
        report(Diagnostic("remark", found.remark))
    return found


def _interpreter() -> Target:
    for name in ("pallas:interpret", "triton:interpret"):
        target = parse_target(name)
        if _installed(PACKAGES[target.family]):
            return target
    return parse_target("reference")


@cache
def _accelerator() -> Target | None:
    """The chip that is here; ``reference`` with a remark where something is missing to use it; else None."""
    if has_tpu() and _installed("jax"):
        return _tpu_target()
    if not has_gpu():
        return None
    if _installed("triton") and _installed("torch"):
        return _gpu_target()
    return _unused(f"it needs {install('triton')}")


def _unused(reason: str) -> Target:
    """Of a GPU that nothing here can run on."""
    return Target("reference", "interpret", remark=f"this machine's GPU is not used: {reason}")


def _tpu_target() -> Target | None:
    import jax

    device = jax.devices()[0]
    return _chosen("pallas", device.device_kind, nearest_tpu(device.device_kind)) if device.platform == "tpu" else None


def _gpu_target() -> Target | None:
    import torch

    if not torch.cuda.is_available():
        return None if _hidden() else _unused(f"torch {torch.__version__} says '{_why_torch_has_none()}'")
    if torch.version.hip:
        arch = torch.cuda.get_device_properties(0).gcnArchName.split(":")[0]
        return _chosen("triton", arch, nearest_hip(arch))
    major, minor = torch.cuda.get_device_capability()
    return _chosen("triton", f"sm{major}{minor}", nearest_cuda(10 * major + minor))


#: By them users say which GPUs a process sees.
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def _hidden() -> bool:
    """Whether this process is to see no GPU."""
    return any(os.environ.get(name, "0").strip() in ("", "-1") for name in _VISIBLE)


def _why_torch_has_none() -> str:
    """Why torch cannot use a GPU: it is built without, the driver is too old, …"""
    import torch

    try:
        torch.cuda.init()
    except (AssertionError, RuntimeError) as error:
        return (str(error).splitlines() or ["no reason"])[0]
    return "no GPU is available"


def _chosen(family: str, found: str, chip: Chip) -> Target:
    """The target of the chip that is nearest to what was found, with a remark where it is another."""
    if found in (chip.name, getattr(chip, "device_kind", None)):
        return Target(family, "chip", chip)
    said = f"this machine's {found} is not in kopt's table: kernels are planned by the facts of {family}:{chip.name}"
    return Target(family, "chip", chip, f"{said}, the nearest there")


def require(target: Target, traces: bool = False) -> None:
    """Raises `ConfigError` where a target cannot run here: a package is missing, or the chip.

    Where a kernel may become part of a program that JAX ``traces``, which may run elsewhere, no TPU has to be here.
    """
    if absent := missing(_NEEDED[target.family]):
        message = f"target '{target}' needs {' and '.join(absent)}, which this Python does not have"
        raise ConfigError(message, notes=[install(EXTRAS[PACKAGES[target.family]])])
    if target.mode != "chip" or traces and target.family == "pallas" or _is_here(target):
        return
    kind = "TPU" if target.family == "pallas" else "GPU"
    raise ConfigError(
        f"target '{target}' runs on a {kind}, and this machine has none that it can use",
        notes=[
            f"without the chip, lower(…, target='{target}') gives its module, and .report() what its compiler says",
            f"'{target.family}:interpret@{target.chip.name}' runs the same module here",  # pyright: ignore
        ],
        id="target-not-here",
    )


def _is_here(target: Target) -> bool:
    """Whether this process can run on a chip of the target's family."""
    if target.family == "pallas":
        prepare_jax()
        import jax

        return jax.default_backend() == "tpu"
    import torch

    return torch.cuda.is_available() and (target.gpu.backend == "hip") == bool(torch.version.hip)
