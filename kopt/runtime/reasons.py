"""A compiler's refusal as one readable line, mapped to the emitted line and to the kernel's source line."""

from __future__ import annotations

import re

from kopt.errors import CompileError
from kopt.runtime.emitted import file_name, line_of_error, source_location

#: What to take where a message has it, tried in order; then the message up to its first blank line.
_ESSENCES = (
    re.compile(r"Scoped allocation with size [\d.]+\w* and limit [\d.]+\w* exceeded scoped vmem limit by [\d.]+\w*"),
    re.compile(r"Ran out of memory in memory space \w+\.?( Used [\d.]+\w* of [\d.]+\w* \w+)?"),
    re.compile(r"Allocation \(size=\d+\) would exceed memory \(size=\d+\)"),
    re.compile(r"not contain X\{64\|128\} element types"),
)

#: What to drop: prefixes, advice for the compiler's authors, and encoded kernels.
_NOISE = (
    re.compile(r"^(INTERNAL|UNIMPLEMENTED|RESOURCE_EXHAUSTED|INVALID_ARGUMENT): "),
    re.compile(r"Mosaic failed to compile TPU kernel( with MLIR module name `[^`]*` HLO name `[^`]*`)?: "),
    re.compile(r"Pallas encountered an internal verification error\. *"),
    re.compile(r"Please (file|report) [^.]*? at:? *\S+ ?"),
    re.compile(r"Error details: "),
    re.compile(r"See (details at|\S+) [^ ]*( for more details\.)?"),
    re.compile(r",? and index_map \{.*"),
    re.compile(r"\s*see current operation: .*"),
    re.compile(r", (backend_config|metadata|frontend_attributes)=.*"),
)
#: The kernel in a message of XLA, by its instruction.
_KERNEL = re.compile(
    r"(?:%|label: |:: )(?!pallas_call)(\w+?)(?:\.\d+)?(?:$| = [^\n]*custom_call_target=\"tpu_custom_call\")",
    re.MULTILINE,
)
_LONGEST = 400
_RAISED = re.compile(r"[\w.]*(Error|Exception)\b.*:")
_REWRITES = {"not contain X{64|128} element types": "the chip has no 64-bit elements in kernels"}


def clean(message: str) -> str:
    """The part of a compiler's message that a kernel's author can act on, on one line."""
    for essence in _ESSENCES:
        if match := essence.search(message):
            kernel = _KERNEL.search(message)
            return (f"kernel {kernel[1]}: " if kernel else "") + _REWRITES.get(match[0], match[0])
    line = " ".join(message.strip().split("\n\n")[0].split())
    for noise in _NOISE:
        line = noise.sub("", line).strip()
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def reason_of(error: BaseException, source: str, entry: str) -> str:
    """``file.py:12: message (emitted line 31: code)``; the places are left out where they are not known."""
    return located(clean(str(error) or type(error).__name__), emitted_line(error, source, entry), source)


def located(message: str, line: int | None, source: str) -> str:
    """A message with the emitted line, and before it the source line that the emitted line's comment names."""
    if line is None:
        return message
    place = source_location(source, line)
    code = source.splitlines()[line - 1].strip()
    where = f"{place.file}:{place.line}: " if place else ""
    return f"{where}{message} (emitted line {line}: {code})"


def refusal(error: BaseException, says: str, source: str, entry: str, target: object) -> CompileError:
    """An exception of what runs emitted text, with the emitted line and, where it is known, the kernel's."""
    line = emitted_line(error, source, entry)
    notes = [f"emitted line {line}: {source.splitlines()[line - 1].strip()}"] if line else []
    location = source_location(source, line) if line else None
    return CompileError(f"{target}: kernel '{entry}': {says}", location, notes)


def essence(error: BaseException) -> str:
    """What went wrong in JAX, on one line: it wraps what a callback raises in its whole printed traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    if lines and "callback" in lines[0].lower() and raised:
        return raised[-1]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def emitted_line(error: BaseException, source: str, entry: str) -> int | None:
    """The emitted line that an exception is about: from its own text, its causes' texts, then their tracebacks.

    JAX keeps the place of an operation in a cause's traceback, Mosaic in a cause's text.
    """
    file = file_name(source, entry)
    in_text = re.compile(re.escape(file) + r'"?:(\d+)')
    chain = list(_causes(error))
    for cause in chain:
        if places := in_text.findall(str(cause)):
            return int(places[0])
    lines = [line_of_error(cause, file) for cause in reversed(chain)]
    lines += [_line_of_equation(error, file), _line_of_kernel(str(error), source)]
    return next((line for line in lines if line), None)


def _line_of_kernel(message: str, source: str) -> int | None:
    """The emitted line that names the kernel of XLA's message, as ``name="softmax_0"``."""
    kernel = _KERNEL.search(message)
    named = re.compile(rf"""name=["']{kernel[1]}["']""") if kernel else None
    return next((i for i, line in enumerate(source.splitlines(), 1) if named and named.search(line)), None)


def _line_of_equation(error: BaseException, file: str) -> int | None:
    """The emitted line of the equation that JAX was lowering: a function that JAX itself jits hides its caller.

    Reads the ``eqn`` variables of the traceback's frames; finds nothing where JAX names them otherwise.
    """
    found = None
    trace = error.__traceback__
    while trace is not None:
        info = getattr(trace.tb_frame.f_locals.get("eqn"), "source_info", None)
        frames = getattr(getattr(info, "traceback", None), "frames", ())
        found = next((frame.line_num for frame in frames if frame.file_name == file), found)
        trace = trace.tb_next
    return found


def _causes(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain
