"""What a subcommand works on: a kernel in a Python file, or a function of an IR file, behind one interface."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kopt.errors import ArgumentError, ConfigError, KoptError, Location
from kopt.registry import did_you_mean
from kopt.runtime.extras import advice_for
from kopt.tools.command_line import ArgumentParser
from kopt.tools.files import read_input

SPEC_HELP = "tensors as 'f32[4096,2560]' or FILE.npy, scalars as Python literals"


class Subject(Protocol):
    """Something that can be lowered for a target.

    ``judges`` are the targets that say what its results should be.
    """

    judges: tuple[str, ...]

    def lower(self, args: Sequence[Any], target: str | None, config: dict[str, Any]) -> Any:
        """The ``Lowered`` of this kernel for these arguments."""
        ...

    def executable(self, args: Sequence[Any], target: str | None, config: dict[str, Any]) -> Any:
        """What runs it, with its ``target``."""
        ...

    def default_arguments(self) -> list[str]:
        """The specs of the arguments where the kernel's types fix them, else an error that asks for them."""
        ...


@dataclass
class IRFile:
    """A function of an IR file; its argument types are the specs."""

    module: Any
    entry: str
    judges: tuple[str, ...] = ("reference",)
    allow_inline: bool = False

    def lower(self, args: Sequence[Any], target: str | None, config: dict[str, Any]) -> Any:
        """Lower the function; the module stays as it is."""
        from kopt.api import lower_module

        return lower_module(self.module, entry=self.entry, target=target, config=config, allow_inline=self.allow_inline)

    def executable(self, args: Sequence[Any], target: str | None, config: dict[str, Any]) -> Any:
        """The function lowered and compiled."""
        return self.lower(args, target, config).compile()

    def default_arguments(self) -> list[str]:
        """The specs of the function's memref arguments."""
        from xdsl.dialects.func import FuncOp

        function = next(op for op in self.module.ops if isinstance(op, FuncOp) and op.sym_name.data == self.entry)
        return [_spec_of_type(type_) for type_ in function.function_type.inputs]


@dataclass
class PythonKernel:
    """A kernel of a Python file."""

    kernel: Any
    name: str
    judges: tuple[str, ...] = ("reference", "eager")

    def lower(self, args: Sequence[Any], target: str | None, config: dict[str, Any]) -> Any:
        """Import and lower for the arguments' shapes."""
        return self.kernel.lower(*args, target=target, config=config)

    def executable(self, args: Sequence[Any], target: str | None, config: dict[str, Any]) -> Any:
        """The kernel lowered and compiled, or its Python where the target runs that."""
        return self.kernel.executable(*args, target=target, config=config)

    def default_arguments(self) -> list[str]:
        """A Python kernel takes any shape: an error that asks for one."""
        raise ArgumentError(f"'{self.name}' needs its arguments: {SPEC_HELP}")


def add_subject_options(parser: ArgumentParser) -> None:
    """The arguments that every subcommand takes: the kernel, its arguments, config keys."""
    parser.add_argument("subject", metavar="FILE[:NAME]", help="a Python file and its kernel, or an IR file")
    parser.add_argument("arguments", nargs="*", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("--entry", metavar="NAME", help="the function of an IR file, where it has several")
    parser.add_argument(
        "--allow-inline",
        action="store_true",
        help="run the code that an IR file brings along (triton.inline): only of files that you trust",
    )
    parser.add_argument("-c", "--config", action="append", default=[], metavar="KEY=VALUE",
                        help="config, as in -c 'block_sizes=[128,2048]' -c loop_type=pipeline")  # fmt: skip


def load_subject(args: argparse.Namespace) -> Subject:
    """The kernel that ``FILE[:NAME]`` names. Raises ``kopt.KoptError`` where there is none."""
    path, colon, name = args.subject.rpartition(":")
    if not colon or not path.endswith((".py", ".mlir")):
        path, name = args.subject, ""
    if path.endswith(".py"):
        return load_python_kernel(path, name)
    return _load_ir(path, args.entry or name or None, args.allow_inline)


def parse_config(values: Sequence[str]) -> dict[str, Any]:
    """``KEY=VALUE`` words as a config; values are Python literals, other words are strings."""
    config: dict[str, Any] = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals:
            raise ConfigError(f"config '{value}' is not KEY=VALUE", id="config-value")
        config[key.strip().replace("-", "_")] = _literal(text)
    return config


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text.lower(), text)


def _load_ir(path: str, entry: str | None, allow_inline: bool) -> IRFile:
    from kopt.analysis.entry import entry_function
    from kopt.parsing import parse_module, verify

    name, text = read_input(path)
    module = parse_module(text, name)
    verify(module, text)
    return IRFile(module, entry_function(module, entry).sym_name.data, allow_inline=allow_inline)


def _spec_of_type(type_: Any) -> str:
    from xdsl.dialects.builtin import MemRefType

    from kopt import dtypes
    from kopt.open_extents import called_shape

    dtype = dtypes.from_ir(type_.element_type) if isinstance(type_, MemRefType) else None
    if dtype is None:
        raise ArgumentError(
            f"cannot make up an argument of type {type_}", notes=["only memrefs of known dtypes"], id="spec"
        )
    return f"{dtype.spec}[{','.join(map(str, called_shape(type_.get_shape())))}]"


def load_python_kernel(path: str, name: str) -> PythonKernel:
    """Execute a Python file and take its kernel ``name``."""
    namespace = vars(_execute(Path(path)))
    if name not in namespace:
        public = [key for key, value in namespace.items() if callable(value) and not key.startswith("_")]
        missing = f"'{path}' has no kernel '{name}'{did_you_mean(name, public) or '.'}"
        question = f"which kernel of '{path}'?"
        raise ConfigError(f"{missing if name else question} Write {path}:NAME.")
    from kopt.api import Kernel, kernel

    value = namespace[name]
    return PythonKernel(value if isinstance(value, Kernel) else kernel(value), name)


def _execute(path: Path) -> Any:
    """Import a file by its path; what it raises is shown at the file's own line."""
    if not path.is_file():
        raise ConfigError(f"cannot read '{path}': No such file or directory", id="file")
    name, root = _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(root))
    try:
        spec.loader.exec_module(module)
    except KoptError:
        raise
    except SyntaxError as error:
        where = Location(str(path), error.lineno or 1, error.offset or 1)
        raise ConfigError(f"invalid Python: {error.msg}", where) from error
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == path.resolve()]
        line = (frames[-1].lineno if frames else None) or 1
        message = f"importing the file raised {type(error).__name__}: {error}"
        advice = advice_for(error.name) if isinstance(error, ModuleNotFoundError) else None
        raise ConfigError(message, Location(str(path), line), notes=[advice] if advice else []) from error
    finally:
        sys.path.pop(0)
    return module


def _module_name(path: Path) -> tuple[str, Path]:
    """The name to import a file by, and the folder from which its own imports start.

    A file of a package is its module; another gets a name of its own, since it may be called like an installed one.
    """
    folder = path.resolve().parent
    if not (folder / "__init__.py").exists():
        return f"kopt_input_{path.stem}", folder
    parts = [path.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder
