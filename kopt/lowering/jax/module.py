"""The emitted program: imports, kernels, what one rank does, and the function over a mesh of all ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from kopt.analysis.entry import entry_function
from kopt.analysis.groups import groups_of, ranks_of
from kopt.diagnostics import location_of
from kopt.errors import LoweringError
from kopt.lowering.jax.collectives import SPELLINGS
from kopt.lowering.pallas.module import print_functions
from kopt.lowering.pallas.printing import RESERVED
from kopt.lowering.writer import Names, Writer, is_identifier

_OPTIONS = ("mesh", "in_specs", "out_specs")


def print_module(module: ModuleOp, entry: str) -> str:
    """The Python text of a host function; needs JAX only.

    ``entry`` takes the arrays of all ranks and a mesh that has an axis for each group. Part n of an array along
    dimension 0 is rank n's, unless ``in_specs`` and ``out_specs`` say otherwise. A function of no group is printed
    as it is. Raises `LoweringError`, with the place, for ops that JAX has no form of.
    """
    func = entry_function(module, entry)
    groups = groups_of(func)
    if not all(map(is_identifier, (entry, *groups))):
        raise LoweringError(f"'{entry}' and the groups {list(groups)} must be names in Python", location_of(func))
    names = Names((*RESERVED, "P", entry, *_OPTIONS))
    if not groups:
        text = print_functions(func, entry, names, SPELLINGS)
    else:
        one = names.fresh(f"{entry}_of_rank")
        text = print_functions(func, one, names, SPELLINGS, f"\n\n{_over_mesh(func, entry, one, groups)}")
    return f'"""{entry}: a program of the ranks of a mesh, emitted by kopt."""\n\n{text}'


def _over_mesh(func: FuncOp, entry: str, one: str, groups: Sequence[str]) -> str:
    writer, names = Writer(), Names((*RESERVED, "P", entry, one, *_OPTIONS))
    arrays = [names.bind(argument) for argument in func.body.block.args]
    specs = [_specs(types, groups) for types in (func.function_type.inputs.data, func.function_type.outputs.data)]
    options = f"*, mesh, in_specs={specs[0]}, out_specs={specs[1]}"
    with writer.block(f"def {entry}({', '.join([*arrays, options])}):"):
        axes = "the axis " + groups[0] if len(groups) == 1 else f"the axes {', '.join(groups)}"
        writer.line(f'"""Arrays of all ranks, over a mesh that has {axes}."""')
        for group, ranks in ranks_of(func).items():
            with writer.block(f'if mesh.shape["{group}"] != {ranks}:'):
                message = f"{entry} is for {ranks} ranks along '{group}', found {{mesh.shape}}"
                writer.line(f'raise ValueError(f"{message}")')
        places = "mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False"
        writer.line(f"program = jax.shard_map({one}, {places})")
        writer.line(f"return program({', '.join(arrays)})")
    return writer.text()


def _specs(types: Iterable[Attribute], groups: Sequence[str]) -> str:
    """Parts along dimension 0, of arrays that have one: one spec for all where it holds for all."""
    axes = f'"{groups[0]}"' if len(groups) == 1 else f"({', '.join(repr(group) for group in groups)})".replace("'", '"')
    each = [f"P({axes})" if isinstance(type, MemRefType) and type.get_shape() else "P()" for type in types]
    return f"P({axes})" if set(each) <= {f"P({axes})"} else f"({', '.join(each)}{',' if len(each) == 1 else ''})"
