"""The one way kopt runs something in another process: a persistent worker with time limits.

A worker imports one module and answers calls to its functions. It is started on first use, killed when a call passes
its time limit, and started afresh after a crash: a compiler that aborts or a kernel that hangs costs one call.
Arguments and results are pickled; standard output of the worker goes to its standard error, which is kept so that a
crash can be explained.
"""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import IO, Any

from kopt import errors
from kopt.errors import KoptError

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
#: How often a worker's memory is looked at.
_LOOK_SECONDS = 0.1
#: Of the machine's memory, what a worker may have.
_SHARE = 0.9
_CHILD = "import sys; from kopt.runtime.worker import serve; serve(sys.argv[1], int(sys.argv[2]))"


class WorkerTimeout(Exception):
    """A call passed its time limit; the worker was killed."""


class WorkerCrash(Exception):
    """The worker process died during a call. The message is the end of what it wrote."""


class WorkerMemory(WorkerCrash):
    """A call took more memory than it may; the worker was killed."""


class RemoteError(Exception):
    """A function in the worker raised: ``kind`` is the exception's class name, ``trace`` its traceback."""

    def __init__(self, kind: str, message: str, trace: str):
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.trace = trace


@dataclass
class _Process:
    popen: subprocess.Popen[bytes]
    connection: Connection
    log: IO[bytes]
    owner: int


class Worker:
    """A process that serves the functions of ``module``; ``env`` changes its environment (None removes a name).

    ``memory_limit`` are the bytes that it and what it starts may have in memory, by default nearly all that the machine
    has; ``cpu_limit`` the seconds of processors that a call may take. Both hold where the system tells.
    """

    def __init__(
        self,
        module: str,
        env: Mapping[str, str | None] | None = None,
        memory_limit: int | None = None,
        cpu_limit: float | None = None,
    ):
        self.module = module
        self.env = dict(env or {})
        self.memory_limit = machine_bytes() if memory_limit is None else memory_limit
        self.cpu_limit = cpu_limit
        self._process: _Process | None = None
        self._lock = threading.Lock()
        atexit.register(self.stop)

    def call(self, function: str, *args: Any, time_limit: float) -> Any:
        """``module.function(*args)`` in the worker.

        Raises `WorkerTimeout`, `WorkerCrash` (`WorkerMemory`), `RemoteError`, or the `KoptError` that the function
        raised.
        """
        with self._lock:
            process = self._running()
            try:
                process.connection.send((function, args))
                answered = self._wait(process, time_limit)
                reply = process.connection.recv() if answered else None
            except (EOFError, OSError) as error:
                raise WorkerCrash(self._last_words(process)) from error
            except BaseException:
                self._kill()
                raise
            if reply is None:
                self._kill()
                raise WorkerTimeout(f"no answer within {time_limit:g} s")
        return _open_reply(reply)

    def _wait(self, process: _Process, time_limit: float) -> bool:
        """Whether an answer comes in time. Raises `WorkerMemory` and `WorkerTimeout`."""
        if self.memory_limit is None and self.cpu_limit is None:
            return process.connection.poll(time_limit)
        end, begin = time.monotonic() + time_limit, cpu_seconds(process.popen.pid)
        while (left := end - time.monotonic()) > 0:
            if process.connection.poll(min(left, _LOOK_SECONDS)):
                return True
            if self.cpu_limit is not None and cpu_seconds(process.popen.pid) - begin > self.cpu_limit:
                raise WorkerTimeout(f"no answer within {self.cpu_limit:g} s of processor time")
            if self.memory_limit is not None and (taken := resident_bytes(process.popen.pid)) > self.memory_limit:
                raise WorkerMemory(f"{taken / 2**30:.1f} GiB of memory, {self.memory_limit / 2**30:.1f} are allowed")
        return False

    def stop(self) -> None:
        """End the process, if this process started it; the next call starts another."""
        process = self._process
        if process is not None and process.owner == os.getpid():
            self._kill()

    def interrupt(self) -> None:
        """End the process in the middle of a call of another thread's, for which it has crashed then."""
        process = self._process
        if process is not None and process.owner == os.getpid():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.popen.pid, signal.SIGKILL)

    def _running(self) -> _Process:
        process = self._process
        if process is not None and process.owner == os.getpid():
            if process.popen.poll() is None:
                return process
            self._kill()
        self._process = self._start()
        return self._process

    def _start(self) -> _Process:
        ours, theirs = Pipe()
        log = tempfile.TemporaryFile()
        popen = subprocess.Popen(
            [sys.executable, "-c", _CHILD, self.module, str(theirs.fileno())],
            env=_environment(self.env),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        theirs.close()
        return _Process(popen, ours, log, os.getpid())

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.popen.pid, signal.SIGKILL)
        process.popen.wait()
        process.connection.close()
        process.log.close()

    def _last_words(self, process: _Process) -> str:
        """How the process ended and the end of its log; the process is dropped."""
        with suppress(subprocess.TimeoutExpired):
            process.popen.wait(timeout=5)
        code = process.popen.returncode
        process.log.seek(0)
        tail = process.log.read().decode(errors="replace").strip().splitlines()[-20:]
        self._kill()
        ended = f"killed by {signal.Signals(-code).name}" if code and code < 0 else f"exit status {code}"
        return "\n".join([f"the process ended ({ended})", *tail])


def _environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    env = dict(os.environ)
    paths = [_PACKAGE_ROOT, env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def _open_reply(reply: tuple[Any, ...]) -> Any:
    kind, *rest = reply
    if kind == "ok":
        return rest[0]
    if kind == "kopt":
        name, message, location, notes, id = rest
        error = getattr(errors, name, KoptError)(message, location, notes)
        error.id = id
        raise error
    raise RemoteError(*rest)


def machine_bytes() -> int | None:
    """What one process may take of this machine's memory before the system would have to end others."""
    try:
        return int(_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return None


def resident_bytes(pid: int) -> int:
    """Bytes that a process and those that it started have in memory; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(map(resident_bytes, map(int, children)))


def cpu_seconds(pid: int) -> float:
    """Seconds of processors that a process has had, with children that have ended; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def serve(module: str, descriptor: int) -> None:
    """The worker's main loop: answer calls until the other end closes."""
    connection = Connection(descriptor)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    functions = importlib.import_module(module)
    while True:
        try:
            name, args = connection.recv()
        except EOFError:
            return
        stand_somewhere()
        connection.send(_answer(getattr(functions, name), args))


def stand_somewhere() -> None:
    """Leave a working directory that is gone: it is the one in which this process was started, and libraries ask."""
    try:
        os.getcwd()
    except FileNotFoundError:
        os.chdir(tempfile.gettempdir())


def _end_with_parent(parent: int) -> None:
    """End this process, even in the middle of a kernel that hangs, when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _answer(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        return ("ok", function(*args))
    except KoptError as error:
        return ("kopt", type(error).__name__, error.message, error.location, error.notes, error.id)
    except Exception as error:  # every failure of a kernel or a compiler is an answer, not the worker's end
        return ("error", type(error).__name__, str(error), traceback.format_exc())
