"""Nothing is lost and nothing is wrong, whatever happens at whichever step: kills, full disks, Ctrl-C, many at once."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt.errors import ConfigError
from kopt.runtime.cache_folder import Folder
from kopt.runtime.worker import Worker, WorkerCrash, WorkerMemory
from kopt.tuning.files import read, save
from kopt.tuning.results import Candidate, Tuned
from test.runtime.faults import killed_at, raised_at, steps_of

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks"),
    # An iterator over a folder that is made while the fault is raised is closed by nobody.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CACHE, FILES, WORKER = "cache_folder.py", "tuning/files.py", "runtime/worker.py"
OLD, NEW = "old" * 100, "new" * 100


def full_disk() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def writing(path: Path) -> tuple[Folder, Callable[[], None]]:
    """A cache with two entries, and the writing of one of them anew."""
    folder = Folder(path, "kernels")
    folder.keep("a", OLD)
    folder.keep("b", OLD)
    return folder, lambda: folder.keep("a", NEW)


def check(folder: Folder) -> None:
    """Entries are whole, others are untouched, and the next write works."""
    assert folder.find("a") in (OLD, NEW) and folder.find("b") == OLD
    folder.keep("a", NEW)
    assert folder.find("a") == NEW


def test_a_cache_survives_a_kill_at_every_step(tmp_path: Path) -> None:
    folder, write = writing(tmp_path)
    steps = steps_of(write, CACHE)
    for number in range(1, steps + 1):
        folder, write = writing(tmp_path)
        assert killed_at(number, write, CACHE)
        check(folder)


@pytest.mark.parametrize("error", [full_disk(), KeyboardInterrupt()], ids=["full disk", "Ctrl-C"])
def test_a_cache_survives_errors_at_every_step(error: BaseException, tmp_path: Path) -> None:
    """A full disk leaves no entry and says nothing; Ctrl-C arrives. Neither leaves more than one file under way."""
    folder, write = writing(tmp_path)
    for number in range(1, steps_of(write, CACHE) + 1):
        folder, write = writing(tmp_path / str(number))
        found = raised_at(number, error, write, CACHE)
        assert found is (None if isinstance(error, OSError) else error), number
        assert len(os.listdir(folder.path)) <= 3
        check(folder)


def test_eight_processes_on_one_cache(tmp_path: Path) -> None:
    """Each finds whole texts, whoever wrote them, while old files go."""
    texts = {str(number) * 2000 for number in range(8)}

    def work(text: str) -> bool:
        folder = Folder(tmp_path, "kernels", most=20_000)
        for turn in range(40):
            folder.keep(str(turn % 16), text)
            if (found := folder.find(str((turn + 5) % 16))) is not None and found not in texts:
                return False
        return True

    children = []
    for text in sorted(texts):
        if not (child := os.fork()):
            right = False
            try:
                right = work(text)
            finally:
                os._exit(0 if right else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    left = list(Folder(tmp_path, "kernels").entries())
    assert left and all(Folder(tmp_path, "kernels").find(one.path.stem) in texts for one in left)


def tuned(rows: int, size: int) -> Tuned:
    best = Candidate({"block_sizes": [size]}, 0.5, legal=True)
    return Tuned("doubled", "pallas:v6e", "v6e", (f"x: f32[{rows},8]",), [best], {}, "quick", 0, "s", None)


def kept(path: Path) -> list[tuple[str, int]]:
    return sorted((entry.specs[0], entry.config["block_sizes"][0]) for entry in read(path).entries)


FAULTS = {"kill": None, "full disk": full_disk(), "Ctrl-C": KeyboardInterrupt()}


@pytest.mark.parametrize("fault", FAULTS)
def test_kept_configurations_survive_every_step(fault: str, tmp_path: Path) -> None:
    """The file is as it was or as it is to be; the lock is free again; a full disk is an error that names the file."""
    path = tmp_path / "doubled.kopt.json"
    before, after = [("x: f32[1,8]", 32)], [("x: f32[1,8]", 32), ("x: f32[2,8]", 64)]
    write = lambda: save([tuned(2, 64)], path)  # noqa: E731
    save([tuned(1, 32)], path)
    text = path.read_text()
    steps = steps_of(write, FILES)
    for number in range(1, steps + 1, 1 + steps // 20):
        path.write_text(text)
        if fault == "kill":
            assert killed_at(number, write, FILES)
        else:
            found = raised_at(number, FAULTS[fault], write, FILES)
            assert found is None or isinstance(found, (ConfigError, KeyboardInterrupt)), number
        assert kept(path) in (before, after)
        save([tuned(2, 64)], path)
        assert kept(path) == after


SERVICE = """
import time

def echo(*args):
    return args

def grow():
    taken = []
    while True:
        taken.append(bytearray(2**24))
        time.sleep(0.005)

def close_and_hang():
    import os, gc
    os.closerange(3, 64)
    time.sleep(600)
"""


@pytest.fixture
def service(tmp_path: Path) -> Worker:
    (tmp_path / "kopt_faults_service.py").write_text(SERVICE)
    paths = os.pathsep.join((str(tmp_path), str(Path(__file__).resolve().parents[2])))
    return Worker("kopt_faults_service", {"PYTHONPATH": paths})


def test_ctrl_c_in_a_call_leaves_no_answer_behind(service: Worker) -> None:
    """The next call gets its own answer, never that of the one that was interrupted."""
    service.call("echo", "first", time_limit=60)
    steps = steps_of(lambda: service.call("echo", "counted", time_limit=60), WORKER)
    for number in range(1, steps + 1, 1 + steps // 10):
        interrupted = lambda: service.call("echo", "interrupted", time_limit=60)  # noqa: E731
        assert isinstance(raised_at(number, KeyboardInterrupt(), interrupted, WORKER), KeyboardInterrupt | None)
        assert service.call("echo", number, time_limit=60) == (number,)
    service.stop()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_what_takes_all_memory_is_ended(service: Worker) -> None:
    assert service.memory_limit is not None and service.memory_limit > 2**30
    service.memory_limit = 2**28
    with pytest.raises(WorkerMemory, match="GiB of memory, 0.2 are allowed"):
        service.call("grow", time_limit=60)
    assert service.call("echo", 1, time_limit=60) == (1,)
    service.stop()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="descriptors")
def test_what_answers_no_more_and_hangs_is_ended(service: Worker) -> None:
    """Its pipe is closed, and it goes on: it is killed 5 s later."""
    with pytest.raises(WorkerCrash, match="the process ended"):
        service.call("close_and_hang", time_limit=60)
    assert service.call("echo", 1, time_limit=60) == (1,)
    service.stop()
