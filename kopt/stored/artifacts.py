"""Folders of compiled kernels: written by `Lowered.save`, called by `kopt.load` or, without kopt, imported.

norm/__init__.py      norm = SavedKernel(…)      a package: ``import norm; norm.norm(x)``
norm/standalone.py    `kopt.stored.standalone`   finds the kernel of a call, with torch or JAX alone
norm/kernels.json     what each was compiled for
norm/norm_1f6e….py    an emitted module
norm/3c02….bin        the elements of a tensor that a kernel brings
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kopt import dtypes
from kopt.errors import ArgumentError
from kopt.open_extents import is_open
from kopt.runtime.seeds import RandomSeed
from kopt.specs import framework_of, spec_of
from kopt.stored import standalone
from kopt.stored.record import Record
from kopt.stored.standalone import MANIFEST
from kopt.stored.values import NotStored, decoded_spec, encoded

if TYPE_CHECKING:
    from kopt.lowered import Lowered

_FORMAT = 1


def save(low: Lowered, folder: str | Path) -> None:
    """Writes a lowered kernel into a folder, beside those that are there; in place of one for the same arguments.

    Raises `ArgumentError` for what no folder holds: programs, the reference, kernels whose import read elements.
    """
    path = Path(folder)
    try:
        record = _record(low, path)
    except NotStored as reason:
        raise ArgumentError(f"'{low.entry}' cannot be saved: it has {reason}") from None
    others = [other for other in _manifest(path)["kernels"] if not _is_same(other, record)]
    kernels = sorted([*others, record], key=_open_extents)  # what was compiled for a shape is for calls of that shape
    names = sorted({kernel["entry"] for kernel in kernels})
    manifest = {"format": _FORMAT, "dtypes": _dtype_names(), "kernels": kernels}
    _write(path / "standalone.py", Path(standalone.__file__).read_text())
    _write(path / MANIFEST, json.dumps(manifest, indent=1))
    _write(path / "__init__.py", _package(names))


def load(folder: str | Path) -> Artifact:
    """The kernels of a folder that `Lowered.save` wrote, with all that kopt checks of a call.

    Raises `ArgumentError` where it is none.
    """
    return Artifact(Path(folder))


class Artifact:
    """Saved kernels: each an attribute by its name; called itself where there is one."""

    def __init__(self, folder: Path):
        manifest = _manifest(folder)
        if not manifest["kernels"]:
            raise ArgumentError(
                f"'{folder}' has no saved kernels", notes=["write some: kernel.lower(…).save(folder)"], id="file"
            )
        self._kernels = {record["entry"]: _Kernel(folder, record["entry"]) for record in manifest["kernels"]}
        self._folder = folder

    def __repr__(self) -> str:
        return f"<kopt artifact {self._folder}: {', '.join(self._kernels)}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._kernels:
            raise AttributeError(f"{self!r} has no kernel '{name}'")
        return self._kernels[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(self._kernels) > 1:
            raise ArgumentError(f"{self!r} has several kernels", notes=["call one by its name"])
        return next(iter(self._kernels.values()))(*args, **kwargs)


class _Kernel(standalone.SavedKernel):
    """A saved kernel that runs as a compiled one does."""

    converts = True

    def __init__(self, folder: Path, name: str):
        super().__init__(folder, name)
        self._compiled: dict[int, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            number, values, tensors = self.find(args, kwargs)
        except TypeError as error:
            message, *notes = str(error).splitlines()
            raise ArgumentError(message, notes=[note.strip() for note in notes]) from None
        return self.run(number, values, tensors)

    def run(self, number: int, values: dict[str, Any], tensors: list[Any]) -> Any:
        if number not in self._compiled:
            content = dict(self.records[number])
            held = [standalone._held(self.folder, one, "torch") for one in content["held"]]
            content["source"] = (self.folder / content["module"]).read_text()
            record = Record.from_json({key: content[key] for key in Record.keys()})
            values_of = zip(held, record.hidden_specs, strict=True)
            self._compiled[number] = record.compiled([spec if one is None else one for one, spec in values_of])
        return self._compiled[number].run(values)


def _record(low: Lowered, path: Path) -> dict[str, Any]:
    """What the manifest has of a kernel, whose files are written."""
    if low.form is not None and any(read.place is None for read in low.form.reads):
        raise NotStored("elements of tensors that its import read")
    content = Record.of(low).json
    framework = "jax" if low.target.family == "pallas" else "torch"
    if framework == "jax" and any(isinstance(value, RandomSeed) for value in low.hidden):
        raise NotStored("random numbers of torch's generator")
    path.mkdir(parents=True, exist_ok=True)
    module = f"{low.function}_{hashlib.sha256(low.source.encode()).hexdigest()[:12]}.py"
    _write(path / module, content.pop("source"))
    arguments = {name: encoded(tree) for name, tree in low.call_form.arguments.items()}
    content["signature"] = [item for item in content["signature"] if item[0] in arguments]
    return {
        **content,
        "arguments": arguments,
        "module": module,
        "framework": framework,
        "interprets": low.target.mode != "chip",
        "wide": low.executable.uses_wide,
        "held": [_held(value, path) for value in low.hidden],
    }


def _held(value: Any, path: Path) -> Any:
    """A tensor that the kernel brings, whose bytes are written."""
    if isinstance(value, RandomSeed):
        return {"seed": value.device}
    spec = spec_of(value)
    content = _bytes(value)
    file = f"{hashlib.sha256(content).hexdigest()[:16]}.bin"
    _write(path / file, content)
    return [file, spec.dtype.torch, list(spec.shape)]


def _bytes(value: Any) -> bytes:
    if framework_of(value) != "torch":
        import numpy as np

        return np.ascontiguousarray(value).tobytes()
    import torch

    return value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _package(names: list[str]) -> str:
    lines = [f'"""Kernels that kopt compiled: {", ".join(names)}."""', "", "from pathlib import Path", ""]
    lines += ["from .standalone import SavedKernel", "", "_FOLDER = Path(__file__).parent", ""]
    return "\n".join([*lines, *(f'{name} = SavedKernel(_FOLDER, "{name}")' for name in names), ""])


def _manifest(path: Path) -> dict[str, Any]:
    """What a folder has. Raises `ArgumentError` where that is of another version, or none of kopt's."""
    file = path / MANIFEST
    if not file.exists():
        return {"format": _FORMAT, "kernels": []}
    try:
        content = json.loads(file.read_text())
        if content["format"] == _FORMAT:
            return content
    except (ValueError, KeyError, TypeError):
        pass
    raise ArgumentError(f"'{file}' is not a list of kernels of this version", notes=["save them again"], id="file")


def _is_same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two kernels are for the same calls."""
    keys = "entry", "signature", "arguments", "framework"
    return all(a[key] == b[key] for key in keys) and _taken(a) == _taken(b)


def _taken(record: dict[str, Any]) -> list[Any]:
    """The tensors that a kernel takes, without the extents of the call that it was compiled in."""
    specs = [(name, decoded_spec(spec)) for name, spec in record["parameters"]]
    return [
        (name, spec.dtype, spec.strides, [(e.name, e.multiple, e.least) if is_open(e) else e for e in spec.shape])
        for name, spec in specs
    ]


def _open_extents(record: dict[str, Any]) -> int:
    return sum(len(decoded_spec(spec).open) for _, spec in record["parameters"])


def _dtype_names() -> dict[str, str]:
    """The dtypes of specs by what torch and JAX call them."""
    return {name: dtype.spec for dtype in dtypes.BY_SPEC.values() for name in (dtype.torch, dtype.jax)}


def _write(path: Path, content: str | bytes) -> None:
    """In one step: whoever reads finds the old file or the new one."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content.encode() if isinstance(content, str) else content)
    part.replace(path)
