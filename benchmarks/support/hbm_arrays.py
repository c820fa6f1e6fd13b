"""Arrays of the programs that libtpu compiles stay in HBM."""

from __future__ import annotations

import os

#: On the chips that have either flag.
_FLAGS = "--xla_gf_vmem_memory_space_assignment=false --xla_vf_vmem_memory_space_assignment=false"


def keep_arrays_in_hbm() -> None:
    """Has libtpu leave all arrays in HBM, in every compilation that this process starts from now on.

    XLA keeps whole arrays of a small program in VMEM, as far as kernels leave it free: their windows then take nothing,
    and come at once. In the program of a model they are in HBM.
    """
    os.environ["LIBTPU_INIT_ARGS"] = f"{os.environ.get('LIBTPU_INIT_ARGS', '')} {_FLAGS}".strip()
