"""What a target may refuse of a generated kernel, by what it says, and why. Anything else refused is a failure."""

from __future__ import annotations

import re

_FRONTEND = {
    r"a device value is no Python float": "parameters of functions are numbers of Python, not of loops",
    r"a number of parts that follows from the size of a block is smaller in the last one": (
        "the blocks of a loop have as many values each: Python unpacks them once"
    ),
}
#: By target: what the error says, as a regular expression, and the reason.
REFUSALS: dict[str, dict[str, str]] = {
    "reference": _FRONTEND,
    "triton:interpret": _FRONTEND,
    "pallas:interpret": {
        **_FRONTEND,
        r"may not fit 32 bits": "a TPU has no 64-bit integers: only what provably fits is narrowed",
        r"a TPU has no f64": "a TPU has no f64",
        r"is not from -?\d+ to \d+ \[argument\]\n(.|\n)*32 bits serve this kernel's arithmetic only in that range": (
            "sums of 64-bit integers in 32 bits: elements for which these do not serve are refused"
        ),
        r"is read in blocks that start at multiples of \d+, which Mosaic takes only": (
            "a single column of an array of narrow elements, in blocks of rows: no layout is tried that keeps its row"
        ),
        r"reads and writes '\w+' through different views": "a launch has one operand for an array, of one shape",
        r"an array is read by computed numbers after the same loop writes it": (
            "what is gathered is brought before the launch, or from an array that it updates by computed rows alone"
        ),
        r"is updated by computed rows in one place and accessed by blocks in another": (
            "rows that are updated stay in VMEM, in a layout that blocks do not have"
        ),
        r"the buffers of '\w+' take [\d.]+ MiB of VMEM": (
            "an array that loops access in several ways stays whole, and few lanes of a row are padded to 128"
        ),
        r"is updated by row numbers of different dimensions": "rows stand along one dimension of what stays in VMEM",
    },
}
#: What refuses as another does.
_ALIKE = {"pallas:strict": "pallas:interpret"}


def is_refusal(target: str, message: str) -> bool:
    """Whether an error is one of the target's own."""
    return any(re.search(pattern, message) for pattern in REFUSALS[_ALIKE.get(target, target)])
