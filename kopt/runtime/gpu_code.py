"""Reading GPU machine code listings: registers, spills and instruction counts. Pure functions of text."""

from __future__ import annotations

import re

_USAGE = re.compile(r"\bREG:(?P<registers>\d+)\s+STACK:(?P<stack>\d+)")
_SASS = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?P<op>[^;]+);", re.MULTILINE)
_AMD_FIELD = re.compile(
    r"^\s*\.(?P<key>vgpr_count|agpr_count|private_segment_fixed_size):\s*(?P<value>\d+)", re.MULTILINE
)
_AMD_INSTRUCTION = re.compile(r"^\t[a-z]\w*(?:\s|$)", re.MULTILINE)


def nvidia_facts(listing: str) -> dict[str, int | None]:
    """From ``cuobjdump -res-usage -sass``: a thread's registers and stack bytes, and SASS instructions.

    The stack of a Triton kernel is what it spilled. NOPs and the closing self-branch pad the code and do not count.
    """
    usage = _USAGE.search(listing)
    ops = [op.strip() for op in _SASS.findall(listing)]
    counted = [op for op in ops if not op.startswith("NOP")]
    return {
        "registers": int(usage["registers"]) if usage else None,
        "spill_bytes": int(usage["stack"]) if usage else None,
        "instructions": len(counted) or None,
    }


def amd_facts(assembly: str) -> dict[str, int | None]:
    """From the assembly's metadata: vector registers, scratch bytes a lane, and instructions."""
    fields = {match["key"]: int(match["value"]) for match in _AMD_FIELD.finditer(assembly)}
    code = assembly.split(".section", 1)[0]
    return {
        "registers": fields.get("vgpr_count"),
        "spill_bytes": fields.get("private_segment_fixed_size"),
        "instructions": len(_AMD_INSTRUCTION.findall(code)) or None,
    }
