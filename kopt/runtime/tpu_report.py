"""What libtpu says of an emitted Pallas module, with no TPU: compiled in worker processes, which may abort.

Two dumps are wanted: the bundles, and libtpu's cycle profile. On some chips libtpu aborts while it writes the
profile, often after writing it, so there the profile is made by a second compilation whose end does not matter.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from kopt.errors import CompileError
from kopt.runtime import hlo
from kopt.runtime.emitted_loops import has_computed_loops
from kopt.runtime.time_limits import COMPILE_SECONDS, time_limit
from kopt.runtime.worker import RemoteError, Worker, WorkerCrash, WorkerTimeout
from kopt.specs import TensorSpec
from kopt.targets.chips import TpuChip

_MODULE = "kopt.runtime.tpu_worker"
#: Of the eighty stages of a kernel's program only the one that is read is written: a quarter of the time.
_BUNDLE_FLAGS = (
    f"--xla_jf_dump_to={{dump}} --xla_jf_dump_llo_text=true --xla_jf_dump_llo_pass_label_regex={hlo.SCHEDULE}"
)
_PROFILE_FLAGS = "--xla_jf_dump_static_llo_profile_to={dump}"

#: Chips whose profile libtpu writes without aborting, and chips where it aborts after writing. Others: no profile.
PROFILE_TOGETHER = ("v5e", "v5p", "v6e")
PROFILE_APART = ("tpu7x",)

_Job = tuple[str, str, tuple[TensorSpec, ...], str, tuple[int, ...]]


class _Compiler:
    """A worker with libtpu's dumps going to a folder of its own, emptied before each compilation."""

    def __init__(self, flags: str):
        self.dump = Path(tempfile.mkdtemp(prefix="kopt-libtpu-"))
        atexit.register(shutil.rmtree, self.dump, ignore_errors=True)
        args = " ".join(filter(None, (os.environ.get("LIBTPU_INIT_ARGS"), flags.format(dump=self.dump))))
        self.worker = Worker(_MODULE, {**ENVIRONMENT, "LIBTPU_INIT_ARGS": args})

    def compile(self, job: _Job) -> dict[str, Any]:
        """The worker's answer; raises what `Worker.call` raises."""
        for file in self.dump.iterdir():
            file.unlink()
        return self.worker.call("compile_module", *job, str(self.dump), time_limit=time_limit(COMPILE_SECONDS))


#: What processes that load libtpu have in their environment.
ENVIRONMENT: dict[str, str | None] = {
    "JAX_PLATFORMS": "cpu",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    # libtpu logs by the megabyte, into a folder that nobody empties.
    "TPU_LOG_DIR": "disabled",
    "TPU_MIN_LOG_LEVEL": "3",
    # Reasons name the line of the kernel.
    "JAX_TRACEBACK_IN_LOCATIONS_LIMIT": None,
}


@cache
def _compiler(kind: str) -> _Compiler:
    """The compiler process of a kind: ``both`` dumps, ``bundles`` only, ``profile`` only, or ``none``."""
    both = f"{_BUNDLE_FLAGS} {_PROFILE_FLAGS}"
    flags = {"both": both, "bundles": _BUNDLE_FLAGS, "profile": _PROFILE_FLAGS, "none": ""}
    return _Compiler(flags[kind])


def compile_report(
    source: str,
    entry: str,
    specs: Sequence[TensorSpec],
    chip: TpuChip,
    donate: Sequence[int],
    estimates: bool = True,
    profile: bool = True,
) -> dict[str, Any]:
    """The facts of `kopt.runtime.report` for a TPU; keys that libtpu did not fill are missing.

    Without ``profile`` there are bundles, and no cycles of libtpu's. Without ``estimates`` nothing is dumped, which
    takes a fraction of the time. Where the time limit comes before the profile, the facts are those without it, and
    ``hurried``.
    """
    job: _Job = (source, entry, tuple(specs), chip.name, tuple(donate))
    if not estimates:
        return _compile_guarded(job, "none")
    if not profile or _has_vacuous_profile(source):
        return _compile_guarded(job)
    if chip.name in PROFILE_TOGETHER:
        try:
            return _with_cycles(_compiler("both").compile(job), _compiler("both").dump)
        except WorkerCrash:
            pass  # as on the chips where libtpu aborts: the profile apart from the rest
        except WorkerTimeout:
            return {**_compile_guarded(job), "hurried": True}
    if chip.name in PROFILE_TOGETHER + PROFILE_APART:
        return _compile_apart(job)
    return _compile_guarded(job)


def _has_vacuous_profile(source: str) -> bool:
    """Whether libtpu would make up how often loops run; with loops to what is loaded, its profile may never end."""
    try:
        return has_computed_loops(source)
    except (SyntaxError, RecursionError):  # the compilation says what is wrong
        return True


def _compile_apart(job: _Job) -> dict[str, Any]:
    with ThreadPoolExecutor(max_workers=1) as pool:
        profile = pool.submit(_write_profile, job)
        facts = _compile_guarded(job)
        profile.result()
    return _with_cycles(facts, _compiler("profile").dump)


def _write_profile(job: _Job) -> None:
    """Compile for the profile's sake alone: an abort may come after the file, and an illegal module has none."""
    try:
        _compiler("profile").compile(job)
    except (WorkerCrash, WorkerTimeout, RemoteError):
        return


def _compile_guarded(job: _Job, dumps: str = "bundles") -> dict[str, Any]:
    try:
        return _compiler(dumps).compile(job)
    except WorkerTimeout as error:
        return {"legal": None, "reason": f"libtpu: {error}"}
    except WorkerCrash as error:
        return {"legal": False, "reason": f"libtpu crashed: {_first_lines(error)}"}


def _first_lines(error: Exception) -> str:
    return " | ".join(str(error).splitlines()[:3])


def _with_cycles(facts: dict[str, Any], dump: Path) -> dict[str, Any]:
    for kernel in facts.get("kernels", ()):
        kernel["libtpu_cycles"] = hlo.cycles_of(dump, kernel["kernel"]) or None  # 0: the profile missed the kernel
    return facts


def bundle_texts(source: str, entry: str, specs: Sequence[TensorSpec], chip: TpuChip) -> dict[str, str]:
    """The bundles of a module's kernels by their names, as libtpu prints them. Raises `CompileError` without any."""
    compiler = _compiler("bundles")
    facts = _compile_guarded((source, entry, tuple(specs), chip.name, ()))
    if not facts["legal"]:
        raise CompileError(str(facts["reason"]))
    texts = {kernel["kernel"]: hlo.bundle_text(compiler.dump, kernel["kernel"]) for kernel in facts["kernels"]}
    return {name: text for name, text in texts.items() if text is not None}
