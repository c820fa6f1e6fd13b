"""Random kernels over the frontend's tables: the reference gives what torch gives; `make fuzz` tries every target.

``KOPT_FUZZ_SEED`` chooses other kernels; the run's summary names the seed. `make fuzz` goes on with fresh ones.
"""

from __future__ import annotations

import os

import pytest

from test.property.exploring import explore

REFERENCE = 500
#: The same kernels in each run, unless the environment says otherwise.
SEED = int(os.environ.get("KOPT_FUZZ_SEED", "1"))
_SHARDS = 10


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(_SHARDS))
def test_the_reference_is_torch(shard: int, tmp_path, record_property) -> None:
    """The import and the interpreter, with 64-bit types too."""
    record_property("KOPT_FUZZ_SEED", SEED)
    wanted = REFERENCE // _SHARDS
    assert explore(SEED * 100 + shard, wanted, ("reference",), True, tmp_path) >= wanted
