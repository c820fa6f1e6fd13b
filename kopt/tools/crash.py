"""What a bug in kopt leaves behind: a file that reproduces it."""

from __future__ import annotations

import argparse
import shlex
import traceback

from kopt.errors import KoptError, Location, MeaningError


class InternalError(KoptError):
    """A bug in kopt, not a mistake of the user's."""


def write_reproducer(
    args: argparse.Namespace, name: str, text: str, pass_name: str | None, crash: Exception
) -> InternalError:
    """Write the input, the command and the traceback to ``--crash-reproducer``; the error to show for it."""
    path = args.crash_reproducer
    where = f"in pass '{pass_name}'" if pass_name else "outside any pass"
    message = f"internal error {where}: {type(crash).__name__}: {crash}"
    notes = ["this is a bug in kopt, not in the input"]
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(_reproducer(args, path, text, crash))
        notes.append(f"wrote '{path}': the command in its first line reproduces the crash")
    except OSError as error:
        notes.append(f"no reproducer: cannot write '{path}': {error.strerror}")
    return InternalError(message, Location(name, 1), notes, source="")


def keep_reproducer(args: argparse.Namespace, error: MeaningError) -> MeaningError:
    """Write what shows a changed value again to ``--crash-reproducer``, and say so."""
    path = args.crash_reproducer
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(error.reproducer.replace("kopt FILE", f"kopt {shlex.quote(path)}", 1))
        error.notes += (f"wrote '{path}': the command in its first line shows it again",)
    except OSError as reason:
        error.notes += (f"no reproducer: cannot write '{path}': {reason.strerror}",)
    return error


def _reproducer(args: argparse.Namespace, path: str, text: str, crash: Exception) -> str:
    command = ["kopt", path, f"--pass-pipeline={args.pipeline}", "-t", args.target]
    if args.allow_unregistered_dialect:
        command.append("--allow-unregistered-dialect")
    trace = "".join(traceback.format_exception(crash)).rstrip().splitlines()
    lines = [f"// {shlex.join(command)}", text.strip("\n"), "", *(f"// {line}" for line in trace)]
    return "\n".join(lines) + "\n"
