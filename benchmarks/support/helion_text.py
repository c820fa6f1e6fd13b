"""The process in which Helion generates Triton code for a GPU that is not there, with its default configuration.

Arguments are fake tensors of a device ``cuda``, and torch answers what Helion asks of that device.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from triton.runtime import driver

from examples.registry import DTYPES
from kopt.runtime.gpu_worker import TargetOnly
from kopt.specs import TensorSpec, spec_of
from kopt.targets.chips import GPU_CHIPS
from support import helion_function
from support.shapes import arguments, calling, subject

#: What torch says of the chips that Helion's defaults are known for here.
PROPERTIES = {
    "sm90": SimpleNamespace(
        name="NVIDIA H100 80GB HBM3",
        major=9,
        minor=0,
        multi_processor_count=132,
        total_memory=80 << 30,
        warp_size=32,
        shared_memory_per_block_optin=227 << 10,
        shared_memory_per_multiprocessor=228 << 10,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048,
        L2_cache_size=50 << 20,
    )
}
ENTRY = "called_with_tensors"


def generated(name: str, dtype: str, chip_name: str) -> tuple[str, str, tuple[TensorSpec, ...], list[int]]:
    """The text for an example's size ``real``, its function of tensors, their specs, and the block sizes."""
    os.environ.setdefault("HELION_AUTOTUNE_EFFORT", "none")
    _pretend(chip_name)
    import helion

    example = subject(name)
    with FakeTensorMode():
        args = arguments(example, DTYPES[dtype], "cuda")
    kernel = helion.kernel(helion_function(example.kernel.fn), static_shapes=True)
    bound = kernel.bind(args)
    config: Any = bound.config_spec.default_config()
    call, tensors = calling(example.kernel.fn.__name__, args, ENTRY)
    specs = tuple(spec_of(tensor) for tensor in tensors)
    text = _defined(bound.to_triton_code(config), example.kernel.fn, chip_name) + call
    return text, ENTRY, specs, list(config.config.get("block_sizes", ()))


def _defined(text: str, function: Any, chip_name: str) -> str:
    """The text with what it names and cannot get: functions that it has inside, and a number that a device tells."""
    first, rest = text.split("\n", 1)
    names = [value.__name__ for value in function.__defaults__ or () if callable(value)]
    count = PROPERTIES[chip_name].multi_processor_count
    told = ["import helion.runtime", f"helion.runtime.get_num_sm = lambda *_, **__: {count}"]
    return "\n".join([first, *(f"{name} = None" for name in names), *told, rest])


def _pretend(chip_name: str) -> None:
    """From now on torch and Triton name a chip's device."""
    facts = PROPERTIES[chip_name]
    driver.set_active(TargetOnly(GPU_CHIPS[chip_name]))  # pyright: ignore[reportArgumentType]
    answers: dict[str, Any] = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_capability": (facts.major, facts.minor),
        "get_device_properties": facts,
        "get_device_name": facts.name,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    torch.version.cuda = torch.version.cuda or "12.8"
