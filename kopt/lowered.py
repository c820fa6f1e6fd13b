"""A kernel lowered for one target: its IR at every stage, the emitted module, and what to do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kopt.config import Config
from kopt.notebooks import html
from kopt.targets.target import Target

if TYPE_CHECKING:
    from pathlib import Path

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from kopt.call_checks import CallChecks
    from kopt.passes.opened import Opened
    from kopt.programs import ProgramOptions
    from kopt.runtime.compiled_kernel import CallForm
    from kopt.runtime.executable import Executable
    from kopt.runtime.report_table import Report
    from kopt.runtime.signature import Signature
    from kopt.validation import Validation


@dataclass(repr=False)
class Lowered:
    """What ``kernel.lower(…)`` gives.

    ``module`` is the imported module (``ModuleOp``) with its block sizes chosen, never rewritten; ``opened`` what the
    choice changed in it, where there was one; ``config`` has the chosen sizes; ``source`` the self-contained Python
    module that was emitted (empty for ``reference``, which emits nothing); ``remarks`` what the passes reported on the
    way; ``intervals`` which integers arguments must hold, by position, for 32 bits to serve; ``program`` how a host
    program was planned (None for a kernel), and ``groups`` torch's names of its process groups by its own.
    """

    module: ModuleOp
    entry: str
    target: Target
    config: Config
    source: str
    signature: Signature
    hidden: tuple[Any, ...] = ()
    remarks: tuple[Any, ...] = ()
    intervals: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    form: CallForm | None = field(default=None, repr=False)
    program: ProgramOptions | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    opened: Opened | None = None

    def __repr__(self) -> str:
        sizes = "" if self.config.block_sizes is None else f", block sizes {list(self.config.block_sizes)}"
        return f"<kopt lowered {self.signature} for {self.target}{sizes}>"

    def _repr_html_(self) -> str:
        remarks = "\n".join(map(str, self.remarks))
        return html(repr(self), IR=self.ir, source=self.source, remarks=remarks)

    @property
    def ir(self) -> str:
        """The text of the imported module."""
        return str(self.module)

    @property
    def imported(self) -> ModuleOp:
        """A copy of the module as it was imported: before the choice of block sizes, where there was one."""
        return self.module.clone() if self.opened is None else self.opened.put_back(self.module)

    @property
    def passes(self) -> list[ModulePass]:
        """The target's pipeline."""
        return _passes(self.target, self.config, self.program)

    @property
    def family(self) -> str:
        """Whose code is emitted: ``pallas``, ``triton``, of programs ``jax`` and ``torch``; ``reference`` has none."""
        return _PROGRAMS[self.target.family] if self.program else self.target.family

    @property
    def function(self) -> str:
        """The name of the emitted module's public function: the kernel's, where a module can define that."""
        from kopt.lowering.names import public_name

        return public_name(self.entry)

    def stages(self) -> list[tuple[str, str]]:
        """``[(pass name, IR text after it)]`` of the target's pipeline, the import first."""
        from kopt.context import make_context
        from kopt.pass_manager import run

        recorder = _recorder()
        passes = _passes(self.target, self.config, self.program)
        imported = self.imported
        text = str(imported)
        run(imported, make_context(), passes, instrumentation=[recorder])
        return [("import", text), *recorder.stages]

    def verify(
        self, seed: int = 0, n: int = 2, *, exact: bool = False, args: Sequence[Any] | None = None
    ) -> Validation:
        """Runs the interpreter before and after each pass of the target's pipeline; what it found of each.

        ``n`` sets of arguments are made up from ``seed``, unless a call's are given as ``args``: then the further
        ones have other floats. ``exact`` computes in a finite ring, in which sums in any order are equal.
        Raises `MeaningError`, which names the pass and has a reproducer, where a pass changes a value beyond what it
        states.
        """
        from kopt.context import make_context
        from kopt.pass_manager import run
        from kopt.runtime.wire import pack, to_reference
        from kopt.specs import framework_of
        from kopt.validation import Options, Validator

        tensors = [*filter(framework_of, args or ()), *self.hidden]
        given = None if args is None else [to_reference(pack(value)) for value in tensors]
        validator = Validator(Options(seed, n, exact), self.entry, given)
        passes = _passes(self.target, self.config, self.program)
        run(self.imported, make_context(), passes, instrumentation=[validator])
        return validator.result

    def compile(self) -> Any:
        """The kernel ready to run on its target, called as its Python function is; of IR, with tensors."""
        if self.form is None:
            return self.executable
        from kopt.runtime.compiled_kernel import CompiledKernel

        return CompiledKernel(self.executable, self.form)

    @property
    def call_form(self) -> CallForm:
        """The form of calls: of the Python function, else of the tensors alone."""
        from kopt.runtime.compiled_kernel import form_of_tensors

        if self.form is not None:
            return self.form
        found = self.executable
        names = [parameter.name for parameter in self.signature.parameters]
        return form_of_tensors(names, len(found.results or ()) - len(found.mutated), found.mutated)

    def save(self, folder: str | Path) -> None:
        """Writes the kernel into a folder that `kopt.load` calls, and Python without kopt imports as a package.

        Several kernels, and one for several signatures, may be saved in one. Raises `ArgumentError` for what only this
        process can run.
        """
        from kopt.stored.artifacts import save

        save(self, folder)

    def explain(self, path: str | Path) -> None:
        """Writes one HTML file that shows what became of the kernel, pass by pass, and why. It opens offline.

        `kopt.explain.explanation` gives the same as data (``docs/explain.md``).
        """
        from pathlib import Path

        from kopt.explain import Compile, explanation
        from kopt.explain.page_text import page

        Path(path).write_text(page(explanation(Compile.of(self))), encoding="utf-8")

    @property
    def machine_code(self) -> dict[str, Any]:
        """What the chip's compiler makes of the emitted module: bundles, SASS or GCN (`kopt.explain.compiled`)."""
        from kopt.explain.compiled import compiled
        from kopt.specs import spec_of

        specs = [*(spec.called for spec in self.signature.specs), *(spec_of(value) for value in self.hidden)]
        return compiled(self.source, self.function, specs, self.target)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the module by its text, no values that the import read, nothing that was compiled."""
        from kopt.stored.values import portable

        kept = {f.name: getattr(self, f.name) for f in fields(self)}
        form = None if self.form is None else portable(self.form)
        return {**kept, "module": self.ir, "form": form}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from kopt.dialects.tile.extent_names import bind_extents
        from kopt.parsing import parse_module

        module = parse_module(state["module"])
        bind_extents(module, [extent for spec in state["signature"].specs for extent in spec.open])
        vars(self).update({**state, "module": module})

    @cached_property
    def executable(self) -> Executable:
        """The kernel as a function of its tensors alone, hidden ones bound."""
        from kopt.analysis.entry import entry_function
        from kopt.diagnostics import location_of
        from kopt.runtime.executable import Executable
        from kopt.signatures import mutated_positions, result_specs

        func = entry_function(self.module, self.entry)
        if self.program is None:
            self._refuse_ranks()
        return Executable(
            self.source,
            self.function,
            self.signature,
            self.target,
            hidden=self.hidden,
            interpret=self._interpret,
            mutated=mutated_positions(func),
            results=result_specs(func),
            swap=self.config.output_only == "swap",
            location=location_of(func),
            checks=self.checks,
            intervals=self.intervals,
            groups=None if self.program is None else self.groups,
        )

    @cached_property
    def checks(self) -> CallChecks | None:
        """What calls look at before they run: interpreters do, chips where they are told to."""
        if self.program is not None or not (self.config.checks or self.target.mode != "chip"):
            return None
        from kopt.call_checks import call_checks

        return call_checks(self.module, self.entry, self.target.family == "reference")

    def _refuse_ranks(self) -> None:
        """One process cannot be several ranks: a kernel that copies between them is for the caller's mesh."""
        from kopt.analysis.entry import entry_function
        from kopt.analysis.groups import groups_of
        from kopt.diagnostics import location_of
        from kopt.errors import UnsupportedError

        func = entry_function(self.module, self.entry)
        if groups := groups_of(func):
            message = f"'{self.entry}' is for the ranks of '{', '.join(groups)}': it cannot run by itself"
            note = "lower(…).source is a function for jax.shard_map over a mesh with such an axis"
            raise UnsupportedError(message, location_of(func), notes=[note])

    def _interpret(self, arrays: list[Any]) -> list[Any]:
        """The reference: results, then the final values of the arguments that the kernel writes."""
        from kopt.analysis.entry import entry_function
        from kopt.interpreter import run
        from kopt.signatures import mutated_positions

        results = run(self.module, self.entry, arrays)
        func = entry_function(self.module, self.entry)
        return [*results, *(arrays[position] for position in mutated_positions(func))]

    def report(self, estimates: bool = True, values: Mapping[str, Any] | None = None, profile: bool = False) -> Report:
        """What the target's own compiler says of the emitted module, with no such chip here, and what kopt predicts.

        It prints as a table. The keys are those of `kopt.runtime.report`, what was chosen, what kopt's own model of the
        chip predicts (`kopt.planning.summary.PREDICTED`), and ``planned_seconds``; None is what is not known.
        ``values`` are what arguments of integers hold, by name: figures of
        loops that run from `offsets[i]` to `offsets[i + 1]` are of these, and None without them. With ``profile``
        libtpu's own estimate is asked for, ``libtpu_cycles``, which may take minutes. Without ``estimates``, bundles,
        cycles and predictions are None, and the compilation takes a fraction of the time.

        Raises `CompileError` where the compiler is not installed, `ConfigError` for the reference, which has none, and
        `UnsupportedError` for kernels of several ranks; `ArgumentError` for values of what is no argument.
        """
        from kopt.reports import report_of

        self._refuse_ranks()
        return report_of(self, _passes(self.target, self.config, self.program), estimates, values or {}, profile)


def lower(
    module: ModuleOp,
    entry: str,
    target: Target,
    config: Config,
    signature: Signature,
    hidden: Sequence[Any] = (),
    form: CallForm | None = None,
    program: ProgramOptions | None = None,
    groups: Mapping[str, str] | None = None,
    allow_inline: bool = False,
    opened: Opened | None = None,
    remarks: Sequence[Any] = (),
) -> Lowered:
    """Runs the target's pipeline on a copy of an imported module, verifies what came out, and prints it.

    ``form`` is that of calls of the Python function that was imported, ``program`` says how a host program is planned,
    and ``groups`` names its process groups; ``allow_inline`` whether
    the module may bring code of its own, as kernels of Python authors do; ``opened`` is what the choice of block
    sizes changed, and ``remarks`` what was said of them.
    """
    from kopt.analysis.entry import entry_function
    from kopt.analysis.intervals import intervals
    from kopt.clone import cloned
    from kopt.context import make_context
    from kopt.diagnostics import Diagnostic, collect, report
    from kopt.lowering import emit
    from kopt.pass_manager import run
    from kopt.verification import verify

    passes = _passes(target, config, program)
    with collect() as said:
        if target.remark is not None:
            report(Diagnostic("remark", target.remark))
        rewritten = cloned(module)
        run(rewritten, make_context(), passes, instrumentation=_validators(entry))
        verify(rewritten)
        interpreted = target.family == "reference"
        family = _PROGRAMS[target.family] if program else target.family
        source = "" if interpreted else emit(rewritten, entry, family, allow_inline)
        noted = intervals(entry_function(rewritten, entry))
    return Lowered(
        rewritten if interpreted else module,
        entry,
        target,
        config,
        source,
        signature,
        tuple(hidden),
        (*remarks, *said),
        noted,
        form,
        program,
        groups or {},
        opened,
    )


#: Whose code a program becomes, by its target's family.
_PROGRAMS = {"triton": "torch", "pallas": "jax"}


def _passes(target: Target, config: Config, program: ProgramOptions | None) -> list[ModulePass]:
    from kopt.passes.pipelines import pipeline, program_pipeline

    if program is None:
        return pipeline(target, config)
    return program_pipeline(target, config, program)


def _validators(entry: str) -> list[Any]:
    """What the environment asks for."""
    import os

    if os.environ.get("KOPT_VERIFY_SEMANTICS", "") in ("", "0"):
        return []
    from kopt.validation import Options, Validator

    return [Validator(Options.from_environment(), entry)]


def _recorder() -> Any:
    from kopt.pass_manager import Instrumentation

    class Recorder(Instrumentation):
        """Keeps the IR text after every pass."""

        def __init__(self) -> None:
            self.stages: list[tuple[str, str]] = []

        def after(self, pass_, module) -> None:
            self.stages.append((pass_.name, str(module)))

    return Recorder()
