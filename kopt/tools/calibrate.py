"""``kopt calibrate FILE.csv``: fits the constants of the cost model to times that a user has measured."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kopt.errors import ConfigError, KoptError, Location
from kopt.targets.constant_files import VARIABLE
from kopt.tools.command_line import ArgumentParser
from kopt.tools.subject import load_python_kernel, parse_config

if TYPE_CHECKING:
    from kopt.planning.calibration import Fit, Sample
    from kopt.targets.chips import Chip

PROG = "kopt calibrate"
COLUMNS = ("kernel", "specs", "config", "ms", "target")
#: Fewer measurements tell nothing of a chip.
_LEAST = 3


@dataclass(frozen=True)
class Measured:
    """A line of the file: a kernel that was measured with some arguments and a configuration."""

    kernel: str
    specs: Sequence[str]
    config: Mapping[str, Any]
    target: str
    seconds: float
    location: Location


def run(argv: Sequence[str]) -> int:
    """The subcommand on one command line: prints a table, and writes a file of constants where one is named."""
    args = make_parser().parse(argv)
    chips: dict[str, list[Measured]] = {}
    for line in read(Path(args.file), args.target):
        chips.setdefault(line.target, []).append(line)
    found = {target: _fitted(target, lines) for target, lines in chips.items()}
    entries = {target.partition(":")[2]: entry(fit, args.file) for target, fit in found.items()}
    if args.write:
        Path(args.write).write_text(json.dumps(entries, indent=2) + "\n")
    print(json.dumps(entries, indent=2) if args.json else _table(chips, found))
    if args.write and not args.json:
        print(f"wrote {args.write}; {VARIABLE}={args.write} uses it")
    return 0


def make_parser() -> ArgumentParser:
    """The arguments of ``kopt calibrate``."""
    parser = ArgumentParser(prog=PROG, description="Fit the cost model's constants to measured times.")
    parser.add_argument("file", metavar="FILE.csv", help=f"columns {', '.join(COLUMNS)}; see docs/tuning.md")
    parser.add_argument("--target", metavar="T", help="the chip of lines that name none, as pallas:v5e")
    parser.add_argument("--write", metavar="FILE", help=f"put the constants down, for {VARIABLE}")
    parser.add_argument("--json", action="store_true", help="the constants as JSON")
    return parser


def read(path: Path, target: str | None) -> Iterator[Measured]:
    """The measurements of a file. Raises `ConfigError` at the line that is wrong."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read '{path}': {error}", id="file") from None
    lines = csv.DictReader(text.splitlines())
    if missing := [name for name in ("kernel", "specs", "ms") if name not in (lines.fieldnames or ())]:
        raise _wrong(path, 1, f"there is no column '{missing[0]}'", [f"columns are {', '.join(COLUMNS)}"])
    for row in lines:
        yield _measured(path, lines.line_num, row, target)


def _wrong(path: Path, line: int, message: str, notes: Sequence[str] = ()) -> ConfigError:
    return ConfigError(message, Location(str(path), line, 1, 1), notes)


def _measured(path: Path, line: int, row: Mapping[str, Any], target: str | None) -> Measured:
    from kopt.targets.target import parse_target

    try:
        seconds = float(row["ms"]) * 1e-3
    except (TypeError, ValueError):
        raise _wrong(path, line, f"'ms' is a number, found '{row['ms']}'") from None
    if not 0 < seconds < float("inf"):
        raise _wrong(path, line, f"'ms' is a time, found '{row['ms']}'")
    named = (row.get("target") or "").strip() or target
    if named is None:
        raise _wrong(path, line, "nothing says what chip this was measured on", ["--target pallas:v5e, or a column"])
    try:
        chip = parse_target(named)
        config = _config(row.get("config") or "")
    except KoptError as error:
        raise _wrong(path, line, error.message, error.notes) from None
    if chip.chip is None or chip.interpreted:
        raise _wrong(path, line, f"'{named}' is no chip", ["as pallas:v5e or triton:sm90"])
    return Measured(
        row["kernel"], shlex.split(row["specs"]), config, str(chip), seconds, Location(str(path), line, 1, 1)
    )


def _config(text: str) -> Mapping[str, Any]:
    """``block_sizes=[64,128] num_warps=4``, or a JSON object."""
    if not text.strip().startswith("{"):
        return parse_config(shlex.split(text))
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigError(f"'config' is no JSON object: {error}", id="file") from None


def _fitted(target: str, lines: Sequence[Measured]) -> Fit:
    from kopt.planning.calibration import fitted
    from kopt.targets.target import parse_target

    if len(lines) < _LEAST:
        raise ConfigError(f"{len(lines)} measurements on '{target}' tell nothing of it: bring {_LEAST} or more")
    chip = parse_target(target).chip
    assert chip is not None
    return fitted([_sample(line, chip) for line in lines], chip)


def _sample(line: Measured, chip: Chip) -> Sample:
    """What a line's launches cost, and took."""
    from kopt.planned import planned_launches
    from kopt.planning.assumed import assumed_lengths
    from kopt.planning.calibration import Sample
    from kopt.planning.cost import cost
    from kopt.tools.arguments import specs_or_literals

    path, _, name = line.kernel.rpartition(":")
    subject = load_python_kernel(path, name) if path.endswith(".py") else load_python_kernel(line.kernel, "")
    try:
        low = subject.lower(specs_or_literals(line.specs), line.target, dict(line.config))
    except KoptError as error:
        raise ConfigError(f"'{line.kernel}' cannot be lowered: {error.message}", line.location, error.notes) from None
    pairs = [(model, plan, assumed_lengths(model)) for model, plan in planned_launches(low)]
    sample = Sample(lambda chip: [cost(model, {}, plan, chip, known) for model, plan, known in pairs], line.seconds)
    if not pairs or sample.predicted(chip) != sample.predicted(chip):
        raise ConfigError(f"nothing tells what '{line.kernel}' costs: its loops depend on data", line.location)
    return sample


def entry(fit: Fit, file: str) -> dict[str, Any]:
    """The constants of a chip, as files have them."""
    after = sorted(abs(fit.after))
    costs = {name: float(f"{value:.4g}") for name, value in fit.fitted.items()}
    return {
        "source": f"kopt calibrate {file}",
        "fit": f"{len(after)} kernels, mean error {sum(after) / len(after):.1%}",
        "costs": costs,
    }


def _table(chips: Mapping[str, Sequence[Measured]], found: Mapping[str, Fit]) -> str:
    lines = []
    for target, fit in found.items():
        pairs = zip(chips[target], fit.before, fit.after, strict=True)
        lines += [f"{target}: error {abs(fit.before).mean():.1%} before, {abs(fit.after).mean():.1%} after"]
        lines += [f"  {name:<16} {value:.4g}" for name, value in fit.fitted.items()]
        for each, before, after in pairs:
            lines.append(
                f"  {each.kernel} {' '.join(each.specs)}: {each.seconds * 1e3:.4g} ms, {before:+.1%} → {after:+.1%}"
            )
    return "\n".join(lines)
