"""What tests want of XLA, JAX and torch, before any of them is loaded."""

from __future__ import annotations

import importlib.util
import mmap
import os
from pathlib import Path

# XLA compiles each of thousands of interpreted kernels for one run of it: LLVM's optimisations, fusions by way of MLIR,
# a module of LLVM for each part, and the Python lines of operations do not repay what they take.
_XLA_FLAGS = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)


def settle() -> None:
    """Sets the environment of this process, and of those that it starts."""
    os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *filter(_is_in_xla, _XLA_FLAGS)]).strip()
    os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch's threads wait for one another busily, and tensors are small
    os.environ["KOPT_CACHE_DIR"] = ""  # what an earlier run compiled says nothing of this one


def _is_in_xla(flag: str) -> bool:
    """Whether the installed XLA has a flag: at one that it does not know it ends the process."""
    spec = importlib.util.find_spec("jaxlib")
    for folder in (spec and spec.submodule_search_locations) or ():
        for library in Path(folder).glob("libjax_common.*"):
            with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return content.find(flag.lstrip("-").partition("=")[0].encode()) >= 0
    return False
