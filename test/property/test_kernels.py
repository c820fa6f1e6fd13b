"""Random kernels over the frontend's tables: every target gives what torch gives.

``KOPT_FUZZ_SEED`` chooses other kernels; the run's summary names the seed. `make fuzz` goes on with fresh ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from test.property.exploring import Tally, explore
from test.property.judge import module_of
from test.property.refusals import REFUSALS

#: The same kernels in each run, unless the environment says otherwise; then someone is there to read the smallest.
GIVEN = os.environ.get("KOPT_FUZZ_SEED")
SEED = int(GIVEN or "1")
#: How many tests there are of each kind, and how many kernels a test compares: more where someone asks for a seed.
REFERENCE, EVERYWHERE = ((20, 50), (10, 20)) if GIVEN else ((2, 35), (2, 14))
#: Of the kernels of a test, how many may be refused, by torch or by a target.
_REFUSED = 0.1
#: Kernels that once failed, as small as they were found.
CORPUS = sorted(Path(__file__).with_name("corpus").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(REFERENCE[0]))
def test_the_reference_is_torch(shard: int, tmp_path, record_property) -> None:
    """The import and the interpreter, with 64-bit types too."""
    _compare(shard, REFERENCE[1], ("reference",), tmp_path, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(EVERYWHERE[0]))
def test_every_target_is_torch(shard: int, tmp_path, record_property) -> None:
    """All targets, on kernels without 64-bit arithmetic, which a TPU has not."""
    _compare(500 + shard, EVERYWHERE[1], tuple(REFUSALS), tmp_path, record_property)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_failed_once_is_right(path: Path, tmp_path: Path) -> None:
    """On every target, and changed as it may be changed."""
    tally, text = Tally(tuple(REFUSALS), related=dict.fromkeys(REFUSALS, 1)), path.read_text()
    assert not tally.count(module_of(text, tmp_path))
    assert tally.compared == 1
    assert not tally.changed(text, tmp_path)


def _compare(shard: int, wanted: int, targets: tuple[str, ...], folder, record_property) -> None:
    record_property("KOPT_FUZZ_SEED", SEED)
    related = {target: 5 for target in targets if not target.startswith("pallas")}  # XLA would compile both
    tally = explore(SEED * 1000 + shard, wanted, targets, folder, shrink=GIVEN is not None, related=related)
    assert tally.compared >= wanted, tally
    assert tally.refused + tally.undefined <= _REFUSED * len(tally.seen), tally
