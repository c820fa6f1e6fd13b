"""One checkout's compiler behind a pipe: ``python compile_worker.py CHECKOUT``, with the examples of this checkout.

Each line of its input is a JSON list ``[example, size, target, block sizes or null]``, each line of its output how many
milliseconds of processor time one compilation took, or null where it is refused.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any


def imported_from(folder: str | Path, name: str) -> Any:
    """A module, found in a folder first."""
    sys.path[0] = str(folder)
    return importlib.import_module(name)


kopt = imported_from(sys.argv[1], "kopt")
registry = imported_from(Path(__file__).resolve().parents[2], "examples.registry")


def compiled(name: str, size: str, target: str, blocks: list[int] | None) -> float | None:
    """The time from import to emission, of a new kernel object."""
    example = registry.BY_NAME[name]
    args = example.make_args(size, registry.DTYPES["bf16"])
    config: dict[str, Any] = {} if blocks is None else {"block_sizes": blocks}
    gc.collect(1)
    start = process_time()
    try:
        kopt.kernel(example.kernel.fn).lower(*args, target=target, config=config)
    except kopt.KoptError:
        return None
    return (process_time() - start) * 1e3


def main() -> None:
    warnings.simplefilter("ignore")
    compiled("exp", "tiny", "pallas:v6e", None)
    gc.freeze()  # what stays is not looked at again
    for line in sys.stdin:
        print(json.dumps(compiled(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
