"""Reading SASS: loops, matrix instructions, and how wide memory is accessed. Pure functions of text.

A loop is a natural loop of the graph of branches: every instruction that reaches the backward branch from its target.
So code that was moved out of line belongs to the loop that it returns to.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"^\s+/\*(?P<address>[0-9a-f]{4,})\*/\s+(?:(?P<guard>@!?U?P\w+)\s+)?(?P<text>[^;]+);", re.MULTILINE)
_TARGET = re.compile(r"\b0x(?P<target>[0-9a-f]+)\s*$")
#: A branch that is taken by all where it has no condition, by guard or operand.
_CONDITION = re.compile(r"!?U?P\d|\.DIV|\.CONV")
#: What multiplies matrices, the newest first.
_MATRIX = {
    "tcgen05": re.compile(r"UTC\w*MMA"),
    "wgmma": re.compile(r"[HQIB]GMMA"),
    "mma.sync": re.compile(r"[HIDQOB]MMA"),
}
_BITS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128, "256": 256}
#: Loads and stores of global memory; LDGSTS goes to shared memory by cp.async, U… by TMA.
_LOADS, _STORES = ("LDG", "LDGSTS"), ("STG",)
#: Of a thread's own memory: what it spills.
_LOCAL = ("LDL", "STL")
_TMA = re.compile(r"UTMALDG|UTMASTG|UTMAREDG|UBLKCP")
#: All that a loop is made of that waits for a barrier, or that closes the code.
_WAITING = {"SYNCS", "BRA", "NANOSLEEP", "YIELD"}


@dataclass(frozen=True)
class Instruction:
    """One of a listing. ``target`` is the address that a branch with a known one goes to."""

    address: int
    guard: str
    text: str

    @property
    def opcode(self) -> str:
        """With its modifiers: ``LDG.E.128``."""
        return self.text.split(maxsplit=1)[0]

    @property
    def kind(self) -> str:
        """The opcode alone: ``LDG``."""
        return self.opcode.split(".")[0]

    @property
    def target(self) -> int | None:
        found = _TARGET.search(self.text) if self.kind == "BRA" else None
        return int(found["target"], 16) if found else None

    @property
    def ends(self) -> bool:
        """Whether nothing follows it."""
        if self.guard or self.kind not in ("BRA", "EXIT", "RET"):
            return False
        return self.kind != "BRA" or not _CONDITION.search(self.text)


def instructions(listing: str) -> list[Instruction]:
    """Those of ``cuobjdump -sass``, without what pads the end."""
    found = [
        Instruction(int(match["address"], 16), match["guard"] or "", match["text"].strip())
        for match in _LINE.finditer(listing)
    ]
    return [each for each in found if each.kind != "NOP"]


def innermost_loops(code: Sequence[Instruction]) -> list[list[Instruction]]:
    """The instructions of each loop that has no other in it; one that only waits for a barrier is no loop."""
    blocks = _blocks(code)
    loops = _loops(blocks)
    inner = [body for header, body in loops.items() if not _holds_another(header, loops)]
    return [[each for block in sorted(body) for each in blocks[block]] for body in inner]


def has_nested_loops(code: Sequence[Instruction]) -> bool:
    """Whether a loop has another one in it."""
    loops = _loops(_blocks(code))
    return any(_holds_another(header, loops) for header in loops)


def hot_loop(code: Sequence[Instruction]) -> list[Instruction] | None:
    """The innermost loop with the most matrix instructions, then the longest; None where there is no loop."""
    return max(innermost_loops(code), key=lambda loop: (matrix_instructions(loop), len(loop)), default=None)


def matrix_kind(code: Sequence[Instruction]) -> str:
    """``tcgen05``, ``wgmma``, ``mma.sync`` or ``none``."""
    return next((name for name, kind in _MATRIX.items() if any(kind.fullmatch(each.kind) for each in code)), "none")


def matrix_instructions(code: Sequence[Instruction]) -> int:
    """How many instructions multiply matrices."""
    return sum(any(kind.fullmatch(each.kind) for kind in _MATRIX.values()) for each in code)


def waits(code: Sequence[Instruction]) -> int:
    """How often products that run beside the program are waited for: once for each where they are made one by one."""
    return sum(each.opcode.startswith("WARPGROUP.DEPBAR") for each in code)


def work(loop: Sequence[Instruction]) -> float | None:
    """What a loop gets done in a trip: products of a warp in units of m64n64k16 shared by four, else 16 bytes loaded.

    None where neither can be told: of what TMA loads, and of matrix instructions whose shape the opcode leaves out.
    """
    if matrix_instructions(loop):
        products = [_products(each) for each in loop if any(kind.fullmatch(each.kind) for kind in _MATRIX.values())]
        return None if None in products else sum(filter(None, products)) / (64 * 64 * 16 / 4)
    return sum(_bits(each) for each in loop if each.kind in _LOADS) / 128 or None


def has_tma(code: Sequence[Instruction]) -> bool:
    """Whether blocks move by TMA."""
    return any(_TMA.match(each.kind) for each in code)


def loads(code: Sequence[Instruction]) -> dict[str, int]:
    """How many loads of global memory there are by their bits, the widest first; by TMA they are ``tma``."""
    return _by_width(code, _LOADS, "UTMALDG")


def stores(code: Sequence[Instruction]) -> dict[str, int]:
    """How many stores of global memory there are by their bits."""
    return _by_width(code, _STORES, "UTMASTG")


def local_bytes(code: Sequence[Instruction]) -> int:
    """Bytes that a warp moves to and from its threads' own memory, each instruction once."""
    return sum(32 * _bits(each) // 8 for each in code if each.kind in _LOCAL)


def ptx_matrix_kind(ptx: str) -> str:
    """As `matrix_kind`, from PTX."""
    names = {"tcgen05": "tcgen05.mma", "wgmma": "wgmma.mma_async", "mma.sync": "mma.sync"}
    return next((kind for kind, name in names.items() if name in ptx), "none")


def ptx_has_tma(ptx: str) -> bool:
    """As `has_tma`, from PTX."""
    return "cp.async.bulk" in ptx


def _by_width(code: Sequence[Instruction], kinds: Sequence[str], tma: str) -> dict[str, int]:
    found = Counter(_bits(each) for each in code if each.kind in kinds)
    widths = {str(bits): found[bits] for bits in sorted(found, reverse=True)}
    bulk = sum(each.kind == tma for each in code)
    return {**({"tma": bulk} if bulk else {}), **widths}


def _products(matrix: Instruction) -> float | None:
    """Of one instruction and warp: four share ``64x128x16``, one has ``16816`` by itself."""
    for part in matrix.opcode.split("."):
        if (shape := part.split("x")) and len(shape) == 3:
            return math.prod(map(int, shape)) / 4
        if found := re.fullmatch(r"168(\d+)", part):
            return 16 * 8 * int(found[1])
    return None


def _bits(access: Instruction) -> int:
    return next((_BITS[part] for part in access.opcode.split(".") if part in _BITS), 32)


def _blocks(code: Sequence[Instruction]) -> list[list[Instruction]]:
    """Runs of instructions that are entered at the top only."""
    entered = {each.target for each in code}
    blocks: list[list[Instruction]] = []
    fresh = True
    for each in code:
        if fresh or each.address in entered:
            blocks.append([])
        blocks[-1].append(each)
        fresh = each.target is not None or each.ends
    return blocks


def _successors(blocks: Sequence[Sequence[Instruction]]) -> list[list[int]]:
    starts = {block[0].address: number for number, block in enumerate(blocks)}
    after = []
    for number, block in enumerate(blocks):
        last = block[-1]
        following = [] if last.ends or number + 1 == len(blocks) else [number + 1]
        branch = starts.get(last.target) if last.target is not None else None
        after.append(following if branch is None else [*following, branch])
    return after


def _loops(blocks: Sequence[Sequence[Instruction]]) -> dict[int, set[int]]:
    """The blocks of each loop that does more than wait, by the block that it is entered at."""
    found = _natural_loops(_successors(blocks))
    return {header: body for header, body in found.items() if not _waits(blocks, body)}


def _holds_another(header: int, loops: Mapping[int, set[int]]) -> bool:
    return any(other in loops[header] for other in loops if other != header)


def _natural_loops(after: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """The blocks of each loop by the block that it is entered at."""
    order = _reverse_postorder(after)
    before = _predecessors(after, order)
    dominator = _dominators(order, before)
    loops: dict[int, set[int]] = {}
    for block in order:
        for header in after[block]:
            if _dominates(header, block, dominator):
                loops.setdefault(header, {header}).update(_reaching(block, header, before))
    return loops


def _reverse_postorder(after: Sequence[Sequence[int]]) -> list[int]:
    """The blocks that can be reached, each before what follows it but for backward branches."""
    done: list[int] = []
    seen = {0} if after else set()
    stack = [(0, iter(after[0]))] if after else []
    while stack:
        block, rest = stack[-1]
        following = next((other for other in rest if other not in seen), None)
        if following is None:
            done.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(after[following])))
    return done[::-1]


def _predecessors(after: Sequence[Sequence[int]], order: Sequence[int]) -> dict[int, list[int]]:
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for following in after[block]:
            before[following].append(block)
    return before


def _dominators(order: Sequence[int], before: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The immediate dominator of each block, by Cooper, Harvey and Kennedy's iteration; the first one's is itself."""
    place = {block: number for number, block in enumerate(order)}
    dominator = {order[0]: order[0]} if order else {}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [other for other in before[block] if other in dominator]
            found = known[0]
            for other in known[1:]:
                while found != other:
                    if place[found] > place[other]:
                        found = dominator[found]
                    else:
                        other = dominator[other]
            if dominator.get(block) != found:
                dominator[block] = found
                changed = True
    return dominator


def _dominates(one: int, other: int, dominator: Mapping[int, int]) -> bool:
    while other != one and dominator[other] != other:
        other = dominator[other]
    return other == one


def _reaching(block: int, header: int, before: Mapping[int, Sequence[int]]) -> set[int]:
    found, left = {block}, [block]
    while left:
        if (each := left.pop()) == header:
            continue
        left += [other for other in before[each] if other not in found]
        found.update(before[each])
    return found


def _waits(blocks: Sequence[Sequence[Instruction]], body: set[int]) -> bool:
    """Whether a loop is the wait for a barrier, or the branch to itself that closes the code."""
    code = [each for block in body for each in blocks[block]]
    return {each.kind for each in code} <= _WAITING
