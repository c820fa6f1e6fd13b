"""The worker process: answers, errors, crashes, time limits."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kopt.errors import CompileError, Location
from kopt.runtime.worker import RemoteError, Worker, WorkerCrash, WorkerTimeout

ROOT = Path(__file__).resolve().parents[2]

SERVICE = """
import os, sys, time
from kopt.errors import CompileError, Location

def echo(*args):
    print("printed by the service")
    return args

def pid():
    return os.getpid()

def variable(name):
    return os.environ.get(name)

def fail(message):
    raise ValueError(message)

def refuse():
    raise CompileError("no", Location("file.py", 3, 4), ["because"])

def die():
    print("last words", file=sys.stderr, flush=True)
    os.abort()

def sleep(seconds):
    time.sleep(seconds)
"""


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    (folder / "kopt_test_service.py").write_text(SERVICE)
    paths = os.pathsep.join((str(folder), str(ROOT)))
    worker = Worker("kopt_test_service", {"KOPT_TEST": "set", "HOME": None, "PYTHONPATH": paths})
    yield worker
    worker.stop()


def test_answers_and_keeps_running(worker):
    assert worker.call("echo", 1, "two", time_limit=60) == (1, "two")
    assert worker.call("pid", time_limit=60) == worker.call("pid", time_limit=60) != os.getpid()


def test_environment(worker):
    assert worker.call("variable", "KOPT_TEST", time_limit=60) == "set"
    assert worker.call("variable", "HOME", time_limit=60) is None


def test_errors_cross(worker):
    with pytest.raises(RemoteError, match="bad") as caught:
        worker.call("fail", "bad", time_limit=60)
    assert caught.value.kind == "ValueError" and "in fail" in caught.value.trace
    with pytest.raises(CompileError) as refused:
        worker.call("refuse", time_limit=60)
    assert refused.value.location == Location("file.py", 3, 4) and refused.value.notes == ("because",)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_crash_is_reported_and_the_next_call_works(worker):
    with pytest.raises(WorkerCrash, match=r"SIGABRT(.|\n)*last words"):
        worker.call("die", time_limit=60)
    assert worker.call("echo", time_limit=60) == ()


def test_a_time_limit_kills(worker):
    pid = worker.call("pid", time_limit=60)
    start = time.monotonic()
    with pytest.raises(WorkerTimeout, match=r"0\.3 s"):
        worker.call("sleep", 60, time_limit=0.3)
    assert time.monotonic() - start < 10
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert worker.call("pid", time_limit=60) != pid


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_worker_ends_with_its_parent(worker):
    """A parent that is killed leaves no process behind, not even one in the middle of a call."""
    code = f"""
import os, sys, threading
from kopt.runtime.worker import Worker
worker = Worker("kopt_test_service", {worker.env!r})
print(worker.call("pid", time_limit=60), flush=True)
threading.Thread(target=lambda: worker.call("sleep", 60, time_limit=60), daemon=True).start()
sys.stdin.read()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _alive(pid)


def _alive(pid):
    """Whether a process runs; one that ended and waits to be collected does not."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
