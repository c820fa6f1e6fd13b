"""Reading what libtpu writes: optimised HLO text, bundle dumps and cycle profiles. Pure functions of text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%(?P<name>[\w.\-]+) = .*?(?<=[\s)}])(?P<opcode>[a-z][\w\-]*)\(")
_VMEM = re.compile(r'"used_scoped_memory_configs":\[(?P<configs>[^\]]*)\]')
_VMEM_SIZE = re.compile(r'"memory_space":"1"[^}]*?"size":"(\d+)"')
_BUNDLE = re.compile(
    r"^ *(?P<number>0x[0-9a-f]+|0) +(?P<label>LB|LH|PF|PB|LE|CT)? *: (?P<depth>>*) *\{(?P<text>.?)", re.MULTILINE
)
#: The stage of libtpu whose text is read. Later ones leave empty bundles out, in which the program waits for results.
SCHEDULE = "packed-bundles-post-ra"
#: Where a loop ends: a predicate of its counter and a literal, and the branch back to its beginning.
_END = re.compile(r"(%p\w+) = scmp\.ge\.s32\.totalorder (%s\w+), (\d+)")
_BACK = re.compile(r"sbr\.rel \(!(%p\w+)\)")
#: A branch under a condition, and the bundle that it goes to.
_BRANCH = re.compile(r"sbr\.rel \(!?%p\w+\) target bundleno = (\d+)")
#: Bundles from which on what a branch skips counts apart. Less is what starts copies, under conditions of its own.
_SKIPPED = 64
_CYCLES = re.compile(r"estimated_cycles: (\d+)")
_OP_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')

#: Instructions of the entry computation that move and compute nothing.
_FREE = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "partition-id", "after-all"}
#: Instructions that may take any time, and give no estimate.
_UNCOUNTED = {"while", "conditional", "custom-call", "call"}
#: Calls that take 64-bit integers apart, or put them together.
_HALVES = re.compile(r'custom_call_target="X64\w+"')


@dataclass(frozen=True)
class KernelCall:
    """A Pallas kernel in optimised HLO: its instruction's name, and the VMEM that the compiler gave it."""

    name: str
    vmem_bytes: int | None


def entry_lines(hlo: str) -> list[str]:
    """The instruction lines of the ENTRY computation."""
    start = hlo.find("\nENTRY ")
    if start < 0:
        return []
    body = hlo[start + 1 :].split("\n}", 1)[0]
    return body.splitlines()[1:]


def kernel_calls(hlo: str) -> list[KernelCall]:
    """The Pallas kernels of a module, in the order of its text (those in called computations too)."""
    calls = []
    for line in hlo.splitlines():
        if 'custom_call_target="tpu_custom_call"' in line and (match := _INSTRUCTION.match(line)):
            calls.append(KernelCall(match["name"], _vmem(line)))
    return calls


def _vmem(line: str) -> int | None:
    match = _VMEM.search(line)
    sizes = _VMEM_SIZE.findall(match["configs"]) if match else []
    return sum(map(int, sizes)) if sizes else None


def extra_ops(hlo: str) -> list[str]:
    """What the entry computation does besides calling kernels: opcodes, and for a fusion its name without number.

    An asynchronous pair counts once, by its start.
    """
    return [_op_name(match["name"], match["opcode"]) for match, _ in _extra_instructions(hlo)]


def extra_cycles(hlo: str) -> int:
    """libtpu's estimate for what the entry computation does besides calling kernels."""
    return sum(int(cycles) for _, line in _extra_instructions(hlo) for cycles in _OP_CYCLES.findall(line))


def uncounted_ops(hlo: str) -> list[str]:
    """Operations around kernels that libtpu gives no cycles, though they take some."""
    found = ((match["opcode"], line) for match, line in _extra_instructions(hlo))
    return [opcode for opcode, line in found if opcode in _UNCOUNTED and not _HALVES.search(line)]


def _extra_instructions(hlo: str) -> Iterator[tuple[re.Match[str], str]]:
    for line in entry_lines(hlo):
        match = _INSTRUCTION.match(line)
        if match is None or match["opcode"] in _FREE or match["opcode"].endswith("-done"):
            continue
        if 'custom_call_target="tpu_custom_call"' not in line:
            yield match, line


def _op_name(name: str, opcode: str) -> str:
    return re.sub(r"(\.\w+)*$", "", name) if opcode == "fusion" else opcode


@dataclass(frozen=True)
class Loop:
    """A loop of a kernel's program, or at ``depth`` 0 what is in none: ``bundles`` of its own, outside inner loops.

    Empty bundles count: the program waits there for results.

    ``trips`` are those of a loop that counts from 0 to a literal, each time that it runs. ``skipped`` is how many of
    its bundles each branch under a condition skips, in the order of the program: innermost ones of `_SKIPPED` and more,
    inside of libtpu's own branch around all that a step does.
    """

    depth: int
    bundles: int
    trips: int | None = None
    skipped: tuple[int, ...] = ()


def loops_of(dump: Path, kernel: str) -> list[Loop] | None:
    """The loops of a kernel's program in the order in which they begin, from the schedule that libtpu dumps.

    The grid is a loop too. How often loops with computed bounds run is known only to who knows the kernel's arguments.
    """
    text = bundle_text(dump, kernel)
    return None if text is None else _loops(text)


def bundle_text(dump: Path, kernel: str) -> str | None:
    """A kernel's schedule as libtpu dumps it, a bundle a line: a cycle each, with the empty ones in which it waits."""
    files = sorted(dump.glob(f"*-{kernel}-*-{SCHEDULE}.txt"))
    return files[-1].read_text() if files else None


def _loops(text: str) -> list[Loop]:
    """Each bundle belongs to the innermost loop that is open at its depth."""
    open_loops, depths = [0], [0]
    texts: list[list[tuple[int, str]]] = [[]]
    matches = list(_BUNDLE.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end, needed in zip(matches, ends, _needed(matches), strict=True):
        empty = match["text"].startswith("}")  # such a bundle has no marks
        depth = len(open_loops) - 1 if empty else max(len(match["depth"]), needed)
        del open_loops[depth + 1 :]
        if match["label"] == "LB":
            open_loops[depth:] = [len(texts)]
            texts.append([])
            depths.append(depth)
        texts[open_loops[-1]].append((int(match["number"], 16), text[match.start() : end]))
    return [
        Loop(depth, len(own), _trips("".join(each for _, each in own)), _skipped(own))
        for depth, own in zip(depths, texts, strict=True)
    ]


def _skipped(own: Sequence[tuple[int, str]]) -> tuple[int, ...]:
    """How many of a loop's own bundles the branches forward skip that others skip too: the innermost of these."""
    numbers = [number for number, _ in own]
    jumps = [(number, int(target)) for number, text in own for target in _BRANCH.findall(text)]
    counts = [bisect_left(numbers, end) - bisect_right(numbers, first) for first, end in jumps]
    found = [(*jump, count) for jump, count in zip(jumps, counts, strict=True) if count >= _SKIPPED]
    inside = [(outer, inner) for outer in found for inner in found if outer[0] < inner[0] and inner[1] <= outer[1]]
    around = {outer for outer, _ in inside}
    return tuple(each[2] for each in found if each not in around and any(inner == each for _, inner in inside))


def _needed(bundles: Sequence[re.Match[str]]) -> list[int]:
    """How many loops are open at each bundle, by those that follow: only a bundle marked LB begins one.

    A bundle may be marked for fewer loops than it runs in: libtpu moves instructions from after a loop into it.
    """
    depths, needed = [], 0
    for bundle in reversed(bundles):
        depths.append(needed := max(needed, len(bundle["depth"])))
        if bundle["label"] == "LB":
            needed = len(bundle["depth"]) - 1
    return depths[::-1]


def _trips(body: str) -> int | None:
    """How often a loop runs whose last branch goes back until its counter, plus a literal, reaches another."""
    ends = {predicate: (counter, int(limit)) for predicate, counter, limit in _END.findall(body)}
    back = [ends[predicate] for predicate in _BACK.findall(body) if predicate in ends]
    if not back:
        return None
    counter, limit = back[-1]
    step = re.search(re.escape(counter) + r" = sadd\.s32 (\d+),", body)
    return -(-limit // int(step[1])) if step is not None and int(step[1]) else None


def cycles_of(dump: Path, kernel: str) -> int | None:
    """libtpu's own estimate of a kernel's cycles, from its profile."""
    file = dump / f"{kernel}_static_llo_profile.textproto"
    match = _CYCLES.search(file.read_text()) if file.exists() else None
    return int(match[1]) if match else None
