"""The emitted program: imports, kernels, what one rank does, and the function over a mesh of all ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from kopt.analysis.entry import entry_function
from kopt.analysis.groups import groups_of, ranks_of
from kopt.lowering.jax.collectives import HANDLERS
from kopt.lowering.names import Names, is_identifier, quoted
from kopt.lowering.pallas.module import print_functions
from kopt.lowering.pallas.printing import RESERVED
from kopt.lowering.writer import Writer

_OPTIONS = ("mesh", "in_specs", "out_specs")


def print_module(module: ModuleOp, entry: str) -> str:
    """The Python text of a host function; needs JAX only.

    ``entry`` takes the arrays of all ranks and a mesh that has an axis for each group. Part n of an array along
    dimension 0 is rank n's, unless ``in_specs`` and ``out_specs`` say otherwise. A function of no group is printed
    as it is. All that it does has a form in JAX: ``verify-pallas`` and ``verify-host`` have seen to that.
    """
    func = entry_function(module, entry)
    groups = groups_of(func)
    names = Names((*RESERVED, "P", *_OPTIONS))
    name = names.public(entry)
    if not groups:
        text = print_functions(func, name, names, HANDLERS)
    else:
        one = f"{name}_of_rank"
        names.reserve(one)
        text = print_functions(func, one, names, HANDLERS, f"\n\n{_over_mesh(func, name, one, groups)}")
    return f'"""{name}: a program of the ranks of a mesh, emitted by kopt."""\n\n{text}'


def _over_mesh(func: FuncOp, entry: str, one: str, groups: Sequence[str]) -> str:
    writer, names = Writer(), Names((*RESERVED, "P", entry, one, *_OPTIONS))
    arrays = [names.bind(argument) for argument in func.body.block.args]
    specs = [_specs(types, groups) for types in (func.function_type.inputs.data, func.function_type.outputs.data)]
    options = f"*, mesh, in_specs={specs[0]}, out_specs={specs[1]}"
    with writer.block(f"def {entry}({', '.join([*arrays, options])}):"):
        axes = f"the {'axis' if len(groups) == 1 else 'axes'} {', '.join(groups)}"
        about = f"Arrays of all ranks, over a mesh that has {axes}."
        writer.line(f'"""{about}"""' if all(map(is_identifier, groups)) else quoted(about))
        for group, ranks in ranks_of(func).items():
            with writer.block(f"if mesh.shape[{quoted(group)}] != {ranks}:"):
                spelt = group.replace("{", "{{").replace("}", "}}")
                message = f"{entry} is for {ranks} ranks along '{spelt}', found {{mesh.shape}}"
                writer.line(f"raise ValueError(f{quoted(message)})")
        places = "mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False"
        writer.line(f"program = jax.shard_map({one}, {places})")
        writer.line(f"return program({', '.join(arrays)})")
    return writer.text()


def _specs(types: Iterable[Attribute], groups: Sequence[str]) -> str:
    """Parts along dimension 0, of arrays that have one: one spec for all where it holds for all."""
    axes = quoted(groups[0]) if len(groups) == 1 else f"({', '.join(map(quoted, groups))})"
    each = [f"P({axes})" if isinstance(type, MemRefType) and type.get_shape() else "P()" for type in types]
    return f"P({axes})" if set(each) <= {f"P({axes})"} else f"({', '.join(each)}{',' if len(each) == 1 else ''})"
