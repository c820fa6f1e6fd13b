"""``kopt cache``: what is kept on disk between processes, listed or removed."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress

from kopt.runtime.cache_folder import MOST_BYTES, Entry, Folder, cache_folder
from kopt.tools.command_line import ArgumentParser

PROG = "kopt cache"

#: The kinds of files, and what one is called.
_KINDS = {"kernels": "compiled kernel", "reports": "compiler's report"}


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: prints a line a file, the last used first, or removes them."""
    args = make_parser().parse(argv)
    root = cache_folder()
    if root is None:
        print("there is no cache: KOPT_CACHE_DIR is empty")
        return 0
    folders = {kind: Folder(root, kind) for kind in _KINDS}
    if args.action == "clear":
        removed = sum(folder.clear() for folder in folders.values())
        print(f"{root}: removed {removed} file{'' if removed == 1 else 's'}")
        return 0
    found = {kind: sorted(folder.entries(), key=lambda e: -e.used) for kind, folder in folders.items()}
    print(json.dumps(_as_data(found), indent=2) if args.json else _table(found, str(root)))
    return 0


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt cache``."""
    parser = ArgumentParser(prog=PROG, description="What kopt keeps on disk between processes (KOPT_CACHE_DIR).")
    parser.add_argument("action", nargs="?", default="list", choices=("list", "clear"), help="default: list")
    parser.add_argument("--json", action="store_true", help="the list as JSON")
    return parser


def _table(found: dict[str, list[Entry]], root: str) -> str:
    lines = [
        f"{entry.size:>10,}  {_age(entry.used):>9}  {_KINDS[kind]:<18} {_what(kind, entry)}".rstrip()
        for kind, entries in found.items()
        for entry in entries
    ]
    total = sum(entry.size for entries in found.values() for entry in entries)
    return "\n".join([*lines, f"{root}: {len(lines)} files, {total:,} bytes of at most {2 * MOST_BYTES:,}"])


def _as_data(found: dict[str, list[Entry]]) -> list[dict[str, object]]:
    return [
        {"kind": kind, "what": _what(kind, entry), "file": str(entry.path), "bytes": entry.size, "used": entry.used}
        for kind, entries in found.items()
        for entry in entries
    ]


def _what(kind: str, entry: Entry) -> str:
    """The kernel of a file, its target and arguments; nothing of a file that says nothing of them."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(entry.path.read_text().partition("\n")[2])
        if kind == "kernels":
            specs = ", ".join(
                f"{name}: {spec[0]}[{','.join(map(str, spec[1]))}]" for name, spec in content["parameters"]
            )
            return f"{content['entry']}({specs}) for {content['target']}"
        return content["of"]
    return ""


def _age(used: float) -> str:
    seconds = max(0, int(time.time() - used))
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{seconds // size} {unit[:3]}"
    return f"{seconds} s"
