"""How often functions are imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import kopt.frontend.importer as importer


@contextmanager
def counted_imports() -> Iterator[list[int]]:
    """Counts imports inside the ``with`` block: the number is the only element."""
    count, run = [0], importer._Import.run

    def counted(self: Any, *args: Any) -> Any:
        count[0] += 1
        return run(self, *args)

    with patch.object(importer._Import, "run", counted):
        yield count
