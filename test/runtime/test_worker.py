"""The worker process: answers, errors, crashes, time limits."""

import os
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
