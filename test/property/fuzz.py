"""Random kernels on every target beside torch, until stopped: ``make fuzz``.

A kernel that fails is kept, as small as hypothesis makes it, in a file that runs as it is. ``python
test/property/fuzz.py --seed 7 --cases 1000 --jobs 2`` says which kernels, how many, and in how many processes.
"""

from __future__ import annotations

import sys
import tempfile
import types
from argparse import Namespace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Python's own library has a package `test`; ours is a folder.
_PACKAGE = types.ModuleType("test")
_PACKAGE.__path__ = [str(ROOT / "test")]
sys.modules["test"] = _PACKAGE

from test.fuzzing.campaign import Limits, arguments, run  # noqa: E402
from test.fuzzing.record import Record  # noqa: E402

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
#: What one kernel may take: XLA compiles it.
SECONDS = 120
#: Kernels of one process: JAX keeps what it compiled.
EACH = 400
#: Of how many rounds one runs on the strict interpreter, too.
_STRICT = 8
#: After how many rounds comes a kernel over jagged storage.
_JAGGED = 4


def main() -> None:
    """The campaign, or one of its processes."""
    parser = arguments("random kernels on every target, beside torch", EACH)
    parser.add_argument("--targets", default=",".join(TARGETS), help="beside eager, which is torch")
    options = parser.parse_args()
    if options.worker:
        _worker(options)
    else:
        extra = ["--targets", options.targets]
        record = run(Path(__file__), options, extra, Limits(SECONDS, options.each), _shown)
        sys.exit(bool(record.failures))


def _worker(options: Namespace) -> None:
    """Rounds of kernels; a round that fails is run again, to find the smallest kernel."""
    from test.environment import settle

    settle()
    import torch

    from test.property.exploring import ROUND, Tally, run_round

    torch.set_num_threads(1)
    record, case = Record(), options.out / f"{options.seed}.case"
    with tempfile.TemporaryDirectory() as folder:
        for part in range(max(1, options.each // ROUND)):
            targets = tuple(options.targets.split(","))
            if "pallas:interpret" in targets and part % _STRICT == _STRICT - 1:
                targets = (*targets, "pallas:strict")
            tally = Tally(targets, record=record, related=_related(targets), before=case.write_text)
            number = options.seed * 1000 + part
            try:
                run_round(number, ROUND, tally, Path(folder), shrink=False)
            except AssertionError as error:
                _keep(record, str(error), number, folder)
            if part % _JAGGED == 0:
                _jagged(record, number, folder, tuple(options.targets.split(",")))
            record.counts["cases"] += len(tally.seen)
            record.counts["undefined"] += tally.undefined
            record.save(options.out / f"{options.seed}.json")


def _jagged(record: Record, number: int, folder: str, targets: tuple[str, ...]) -> None:
    """A kernel over jagged storage, which torch computes item by item."""
    from test.property.test_jagged import compare

    try:
        compare(number, Path(folder), ("eager", *targets))
    except Exception as error:
        record.fail(f"jagged: {str(error).splitlines()[0][:200]} (number {number})", str(error))
        return
    record.counts["cases"] += 1
    record.counts.update({f"compared {target}": 1 for target in targets})


def _related(targets: tuple[str, ...]) -> dict[str, int]:
    """Of how many kernels one is changed on a target: fewer where XLA compiles both."""
    return {target: 6 if target.startswith("pallas") else 2 for target in targets if target != "pallas:strict"}


def _keep(record: Record, said: str, number: int, folder: str) -> None:
    """Finds the smallest kernel of a round that fails as it does, on the target that does."""
    from hypothesis.errors import Flaky

    from test.property.exploring import ROUND, Tally, run_round
    from test.property.failures import Failure

    found = Failure.of(said)
    targets = (found.target,) if found.target else TARGETS
    try:
        run_round(number, ROUND, Tally(targets, related=dict.fromkeys(targets, 1)), Path(folder), shrink=True)
    except AssertionError as error:
        found = Failure.of(str(error))
    except Flaky:
        pass  # it fails in one run and not in the next, as where a compiler reads what nothing has written
    smallest = found.shrunk(Path(folder))
    parts = [smallest.said, *(f"# as a lit test\n\n{lit}" for lit in [smallest.as_lit_test(Path(folder))] if lit)]
    record.fail(
        f"{smallest.said.splitlines()[0][:200]} (round {number})", "\n\n".join([*parts, f"# found as\n\n{said}"])
    )


def _shown(record: Record) -> str:
    """The summary."""
    counts = record.counts
    lines = [f"kernels {counts['cases']}, failures {counts['failures']} of {len(record.failures)} kinds"]
    for target, compared in record.table("compared ").items():
        refused = record.table(f"refused {target}: ")
        seconds = counts[f"ms {target}"] / 1000
        share = 100 * sum(refused.values()) / max(1, compared + sum(refused.values()))
        rate, same = compared / max(seconds, 1e-9), counts[f"related {target}"]
        numbers = f"{compared} equal, {same} the same when changed, {rate:.1f} a second, {share:.1f} % refused"
        lines.append(f"{target:18} {numbers}")
        lines += [f"    {number} × {what}" for what, number in refused.items()]
    lines.append(f"torch refused {counts['undefined']}")
    return "\n".join([*lines, *(f"FAILED {what}" for what in sorted(record.failures))])


if __name__ == "__main__":
    main()
