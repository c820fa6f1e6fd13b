"""Random kernels until stopped: ``make fuzz``. Each round has a fresh seed, which it prints first.

A round that fails says so and shows the kernel; ``KOPT_FUZZ_SEED=… make fuzz`` begins with that seed.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys

_FILES = (
    "test/property/test_kernels.py",
    "test/property/test_jagged.py",
    "test/property/test_accesses.py",
    "test/extents/test_extents.py",
)


def main() -> None:
    """Rounds of the property tests, each in a process of its own."""
    first = os.environ.get("KOPT_FUZZ_SEED")
    while True:
        seed = first or str(random.randrange(10**6))
        first = None
        print(f"KOPT_FUZZ_SEED={seed}", flush=True)
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "auto", *_FILES, *sys.argv[1:]],
            env={**os.environ, "KOPT_FUZZ_SEED": seed},
            check=False,
        )


if __name__ == "__main__":
    main()
