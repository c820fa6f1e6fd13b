"""pytest also collects the lit tests, so that one run and one summary cover everything."""

from __future__ import annotations

import gc
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kopt.testing.runner import SUFFIXES, run_file
from test.environment import settle

LIT = Path(__file__).parent / "lit"
_BETWEEN_FREEZES = 400
_finished = count(1)

gc.disable()  # until all is collected

settle()

# What hypothesis draws is the same in each run, so that a change is to blame for what it breaks; time is no property.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes the golden modules anew."""
    parser.addoption("--update-golden", action="store_true", help="write the emitted modules of test/golden anew")


@pytest.fixture(autouse=True)
def seed_torch() -> None:
    """torch's random numbers are the same in every run, whichever tests run before."""
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(0)


def pytest_collection_finish() -> None:
    """What was imported and collected lives until the end: searches for garbage pass it by."""
    gc.freeze()
    gc.enable()


def pytest_runtest_logfinish() -> None:
    """What caches hold by now lives on: later searches for garbage pass it by too."""
    if next(_finished) % _BETWEEN_FREEZES == 0:
        gc.collect()
        gc.freeze()


def pytest_unconfigure() -> None:
    """Extension modules complain of what is left at the end."""
    gc.unfreeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the seeds that tests recorded."""
    reports = [report for each in terminalreporter.stats.values() for report in each]
    for seed in sorted({n for r in reports for key, n in getattr(r, "user_properties", ()) if key == "KOPT_FUZZ_SEED"}):
        terminalreporter.line(f"property tests ran with KOPT_FUZZ_SEED={seed}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A lit test is a file of one test."""
    if file_path.suffix in SUFFIXES and LIT in file_path.parents:
        return LitFile.from_parent(parent, path=file_path)
    return None


class LitFile(pytest.File):
    """One lit test file."""

    def collect(self):
        """The file's single test."""
        yield LitItem.from_parent(self, name="lit")


class LitFailure(Exception):
    """A lit test failed; carries its log."""


class LitItem(pytest.Item):
    """Runs the RUN lines of a lit test."""

    def runtest(self) -> None:
        """Run in-process; skip where a required module is not installed."""
        outcome = run_file(self.path, LIT.parents[1])
        if outcome.missing is not None:
            pytest.skip(f"{outcome.missing} is not installed")
        if outcome.failed:
            raise LitFailure(outcome.log)

    def repr_failure(self, excinfo, style=None):
        """The log of the commands instead of a traceback into the runner."""
        if isinstance(excinfo.value, LitFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        """Where the test is and what it is called."""
        return self.path, 0, str(self.path.relative_to(LIT))
