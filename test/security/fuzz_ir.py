"""Mutants of IR texts through parser, verifier, printers, passes and pipelines, until stopped: ``make fuzz-ir``.

Guided by coverage: a mutant whose way through kopt is new becomes one of the texts that mutants are made of.
``python test/security/fuzz_ir.py --seed 7 --cases 1000`` says which mutants, and how many.
"""

from __future__ import annotations

import random
import resource
import sys
import types
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Python's own library has a package `test`; ours is a folder.
_PACKAGE = types.ModuleType("test")
_PACKAGE.__path__ = [str(ROOT / "test")]
sys.modules["test"] = _PACKAGE

from test.fuzzing.campaign import Limits, arguments, run  # noqa: E402
from test.fuzzing.record import Record  # noqa: E402

#: No process may take more memory: what asks for more ends in an error that is a failure.
MEMORY = 2 << 30
#: Mutants of one process, and the seconds that one may compute.
EACH, SECONDS = 2000, 20
#: How often a mutant is made of one that went new ways, and of how many of those.
_GUIDED, _NEW = 0.5, 400
#: Of how many mutants one is watched: it takes nearly three times as long.
_WATCHED = 10
_SAVED_EVERY = 50


def main() -> None:
    """The campaign, or one of its processes."""
    parser = arguments("mutants of IR texts: no traceback, no hang, no memory above 2 GB", EACH)
    options = parser.parse_args()
    if options.worker:
        _worker(options)
    else:
        # The process itself stops what hangs; the campaign what it cannot.
        record = run(Path(__file__), options, [], Limits(3 * SECONDS, options.each), _shown)
        sys.exit(bool(record.failures))


def _worker(options: Namespace) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    record = Record()
    explore(options.seed, options.each, record, options.out)


def explore(seed: int, number: int, record: Record, folder: Path) -> None:
    """A number of mutants, of a seed."""
    from test.fuzzing.coverage import CallSites
    from test.security.journeys import Journey
    from test.security.mutations import mutant, texts
    from test.security.rewrites import rewritten_of

    generator, seeds, sites = random.Random(seed), texts(), CallSites()
    journey, new = Journey(generator, record.counts), [*seeds]
    case, saved = folder / f"{seed}.case", folder / f"{seed}.json"
    for done in range(1, number + 1):
        change = generator.choice((mutant, rewritten_of))
        text = change(new if generator.random() < _GUIDED else seeds, generator)
        case.write_text(text)
        known = len(sites.seen)
        with sites.watching() if done % _WATCHED == 0 else nullcontext():
            what = journey.failure(text)
        if what is not None:
            record.fail(what, text)
        elif len(sites.seen) > known and done > _SAVED_EVERY:
            new = [*new[-_NEW:], text]
            record.counts["new ways"] += 1
        record.counts["cases"] += 1
        if done % _SAVED_EVERY == 0 or done == number:
            record.counts["call sites"] = len(sites.seen)
            record.counts["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            record.save(saved)


def _shown(record: Record) -> str:
    """The summary."""
    counts = record.counts
    lines = [f"mutants {counts['cases']}, failures {counts['failures']} of {len(record.failures)} kinds"]
    for step, passed in sorted(record.table("passed ").items()):
        if not step.startswith("pass "):
            lines.append(f"{step:16} {passed} passed, {counts[f'refused {step}']} refused")
    alone = record.table("passed pass "), record.table("refused pass ")
    lines.append(f"{'passes alone':16} {sum(alone[0].values())} passed, {sum(alone[1].values())} refused")
    return "\n".join([*lines, *(f"FAILED {what}" for what in sorted(record.failures))])


if __name__ == "__main__":
    main()
