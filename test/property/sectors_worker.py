"""A process of Triton's interpreter that counts what loads bring: started with ``TRITON_INTERPRET=1``."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from kopt.runtime.triton_interpret import load_function
from kopt.runtime.wire import Packed, unpack

#: What a GPU's memory moves at once.
SECTOR_BYTES = 32


def run(source: str, entry: str, arrays: list[Packed]) -> tuple[list[np.ndarray], list[int]]:
    """The arrays after a kernel, and for each the bytes of the sectors that each program's loads touch in it."""
    function = load_function(source, entry)
    tensors = [unpack(array, "torch") for array in arrays]
    with torch.no_grad(), _Counting(tensors) as counting:
        function(*tensors)
    return [tensor.numpy() for tensor in tensors], counting.bytes


class _Counting:
    """Looks at the addresses of the interpreter's loads."""

    def __init__(self, tensors: list[torch.Tensor]):
        self.starts = [tensor.data_ptr() for tensor in tensors]
        self.ends = [tensor.data_ptr() + tensor.nbytes for tensor in tensors]
        self.bytes = [0] * len(tensors)

    def __enter__(self) -> _Counting:
        from triton.runtime.interpreter import InterpreterBuilder

        self._builder, self._load = InterpreterBuilder, InterpreterBuilder.create_masked_load
        own, load = self, self._load

        def counted(builder: Any, ptrs: Any, mask: Any, *rest: Any, **options: Any) -> Any:
            own.count(np.asarray(ptrs.data).reshape(-1), np.asarray(mask.data).reshape(-1))
            return load(builder, ptrs, mask, *rest, **options)

        InterpreterBuilder.create_masked_load = counted
        return self

    def count(self, addresses: np.ndarray, mask: np.ndarray) -> None:
        """One load of one program."""
        addresses = np.broadcast_to(addresses, mask.shape)[mask.astype(bool)] if mask.size > 1 else addresses
        for number, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)):
            own = addresses[(addresses >= start) & (addresses < end)]
            self.bytes[number] += len(np.unique((own - start) // SECTOR_BYTES)) * SECTOR_BYTES

    def __exit__(self, *_: object) -> None:
        self._builder.create_masked_load = self._load
