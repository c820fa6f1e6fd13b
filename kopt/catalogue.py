"""The catalogue of diagnostics: every kind of mistake, by the id that an error ends in, as in ``… [unknown-name]``.

An error has the id that its place in the code gives it, else that of its class (`kopt.errors`). Ids stay: tools and
searches go by them. ``docs/diagnostics.md`` is written from this table, and ``kopt diagnostics ID`` prints an entry.
"""

from __future__ import annotations

from dataclasses import dataclass

from kopt.errors import ConfigError
from kopt.registry import did_you_mean


@dataclass(frozen=True)
class MistakeKind:
    """One kind: ``what`` was found, ``why`` it is refused or said, and how to ``fix`` it."""

    what: str
    why: str
    fix: str


#: Mistakes in the Python of a kernel.
KERNELS = {
    "unknown-name": MistakeKind(
        "A module, a value or the kernel's scope has no such name.",
        "Kernels run as Python while they are imported. An undefined name is an error then.",
        "Take the name that the error proposes. [Language](language.md) lists what kernels may call.",
    ),
    "foreign-function": MistakeKind(
        "A function of NumPy, of `math`, of JAX or of Triton is called on a device value.",
        "Such libraries compute on arrays that exist. A device value is computed when the kernel runs.",
        "Call torch's function of that name, which the error names.",
    ),
    "torch-function": MistakeKind(
        "A function or method of torch's has no meaning on device values.",
        "[Language](language.md) lists the functions that kernels can compute; others would run on the host only.",
        "Write it in terms of functions that are listed, or call it on host tensors outside of the loops.",
    ),
    "torch-arguments": MistakeKind(
        "A function of torch's is called with arguments that it does not take.",
        "Operations on device values take the arguments of torch's functions, by torch's names.",
        "Write the call as torch's documentation has it.",
    ),
    "python-error": MistakeKind(
        "Python raised an exception at this line while the kernel was imported.",
        "A kernel's own Python runs at import. Its exceptions are shown at their line.",
        "Read the exception's text as in any Python program. What the kernel itself raises passes unchanged.",
    ),
    "no-value": MistakeKind(
        "A variable is used where it has no value: only a loop, or one arm of a branch, assigns it.",
        "A device loop may have no visits, and a branch takes only one arm. The name may then have no value.",
        "Assign the variable before the loop or branch. What a grid computes leaves it through a tensor.",
    ),
    "condition": MistakeKind(
        "An `if` or `while` has a tensor of several elements as its condition, or its value is needed at import.",
        "A branch takes one way for a whole block. Lanes cannot go different ways.",
        "Choose in each lane by `torch.where(condition, a, b)`, or reduce the condition: `condition.any()`.",
    ),
    "device-value-as-number": MistakeKind(
        "Python takes a device value for a number, or iterates over it.",
        "Device values have no numbers while the kernel is imported.",
        "Compute with torch's functions; convert by `.to(dtype)`; walk ranges with `hl.tile` or `hl.grid`.",
    ),
    "not-known-at-import": MistakeKind(
        "A size, a bound or a step is computed on the device, where the code's structure depends on it.",
        "Shapes are fixed when a kernel is compiled.",
        "Take it from a shape, an argument or `hl.specialize`, or walk up to it in a device loop.",
    ),
    "jump": MistakeKind(
        "`return`, `break` or `continue` stands where the device decides whether it happens.",
        "Blocks of a launch run all together; a single one cannot leave its loop.",
        "Assign a value in both arms, use `torch.where`, or make the condition part of the loop's bounds.",
    ),
    "paths-differ": MistakeKind(
        "A variable has another dtype, shape or structure on one path than on the other.",
        "After a branch or a loop the variable has one value, of one type.",
        "Convert it, as in `x = (…).to(torch.float32)`, or give it its final type before the loop.",
    ),
    "loop-carried": MistakeKind(
        "A value goes from one cell of the grid to the next, or Python's objects change in a device loop: a list "
        "grows, an iterator is advanced, a random number is drawn.",
        "Cells of a grid run in no order, and the number of visits is not known: Python runs the body once.",
        "Put the loop inside the loop over tiles, use `hl.atomic_add`, or carry a tensor of fixed size.",
    ),
    "in-place": MistakeKind(
        "A device value, or a whole host tensor, is changed in place in a device loop.",
        "A device value cannot be changed; only elements of a tensor can.",
        "Assign the result: `acc = acc + x`. Store into elements: `out[tile] = …`.",
    ),
    "outside-device-loop": MistakeKind(
        "Something that only device loops have is used outside of a device loop, or outside of a kernel.",
        "Blocks and atomic updates have a meaning only inside a loop over `hl.tile` or `hl.grid`.",
        "Move it into the loop, or use torch's functions on host tensors.",
    ),
    "host-side": MistakeKind(
        "The host uses a tensor in a way that the compiler cannot follow.",
        "What the host does between launches becomes part of the emitted module, and needs a form there.",
        "Compute it in a device loop, or before the kernel is called.",
    ),
    "ragged-lanes": MistakeKind(
        "An operation would mix valid lanes with lanes that the last block of a loop does not have.",
        "Where the block size does not divide the extent, the last block has fewer valid lanes.",
        "Choose a block size that divides the extent, or keep the tile's dimension apart.",
    ),
    "jagged": MistakeKind(
        "A jagged tile is used where all items need equally many lanes, or it was not made from lengths.",
        "Each item of a jagged tile has its own number of lanes.",
        "Load the lengths of a tile of items: `hl.jagged_tile(lengths[tile])`; see [Jagged](jagged.md).",
    ),
    "index": MistakeKind(
        "An index list does not fit the array, or has an entry that is no index.",
        "Tiles, numbers, slices with known bounds and integer tensors are indices.",
        "Write one index for each dimension, `:` for a whole one.",
    ),
    "mask-index": MistakeKind(
        "A boolean tensor is an index in a place where its number of elements matters.",
        "How many elements a mask selects is known when the kernel runs, and shapes are fixed before.",
        "Use `torch.where`, or `hl.load(…, extra_mask=mask)` and `hl.store(…, extra_mask=mask)`.",
    ),
    "shapes": MistakeKind(
        "Operands do not broadcast, cannot be multiplied, or cannot take this shape.",
        "Dimensions must be equal, or 1; those of different loops are different, even where they have one size.",
        "Look at the shapes in the error; add dimensions by `x[:, None]`.",
    ),
    "dtype": MistakeKind(
        "An operation does not take this dtype.",
        "Types are torch's; nothing is converted that torch would not convert.",
        "Convert by `.to(dtype)`.",
    ),
    "operand": MistakeKind(
        "A function gets an argument of another kind than it takes.",
        "Host tensors, device values, tiles and numbers are different things in a kernel.",
        "Give what the error expects; [Language](language.md) has a line for each function.",
    ),
    "atomic": MistakeKind(
        "An atomic update has a target, a dtype or an ordering for which there is no such update.",
        "Atomic updates exist for some kinds and dtypes.",
        "Take a dtype that the error names, or reduce within a cell.",
    ),
    "loop-bounds": MistakeKind(
        "A loop's bounds are no integers.",
        "Loops count elements, from one integer to another.",
        "Use `tile.begin` and `tile.end` of a tile, and `int` of a number.",
    ),
    "no-source": MistakeKind(
        "The source of a kernel cannot be found, or is not what was loaded.",
        "Kernels are imported from their source.",
        "Define the kernel in a file or a notebook's cell; load a file that changed again.",
    ),
    "unsupported": MistakeKind(
        "The kernel does something that kopt cannot express, or not for this target.",
        "The error says what, and for which target.",
        "Follow its note, where it has one.",
    ),
    "no-device-loop": MistakeKind(
        "A kernel has no `hl.tile` or `hl.grid` loop (a remark).",
        "Without such a loop nothing is launched: the emitted module has only operators of torch or JAX.",
        "Loop over tiles: `for tile in hl.tile(x.size(0)): out[tile] = …`.",
    ),
    "print-at-import": MistakeKind(
        "`print` in a kernel was given a device value (a remark).",
        "Python prints once, while the kernel is imported, and a device value has a type then, but no numbers.",
        "Use `hl.device_print`, or run the kernel on the target `eager` ([Eager](eager.md)).",
    ),
}

#: Mistakes in a call, its target and its configuration.
CALLS = {
    "argument": MistakeKind(
        "An argument of a call does not fit the kernel.",
        "A kernel is compiled for shapes, dtypes and devices.",
        "The error names the argument, what was expected and what came.",
    ),
    "spec": MistakeKind(
        "A string is not a tensor spec.",
        "Specs stand for tensors: a dtype and extents, as in `f32[4096,2560]`.",
        "Take a dtype of the error's list, and a number for each extent.",
    ),
    "shared-memory": MistakeKind(
        "Two arguments share memory, and the kernel writes one.",
        "Each argument is an array of its own to the compiler.",
        "Pass a copy, or the whole tensor, and take its parts inside of the kernel.",
    ),
    "gradient": MistakeKind(
        "A gradient is asked of a kernel that has none, or that it cannot have.",
        "A kernel's backward is written by its author ([At home in torch](torch.md#gradients)).",
        "Give it a backward, or call it under `torch.no_grad()` or on `x.detach()`.",
    ),
    "config": MistakeKind(
        "An option has an impossible value.",
        "Nothing is guessed: a wrong option would lower another kernel than was meant.",
        "The error says what is possible.",
    ),
    "unknown-target": MistakeKind(
        "There is no such target, interpreter or chip.",
        "A target is a family and a chip or interpreter, as in `pallas:v6e` or `pallas:strict@v5e`.",
        "Take the proposed name; [Targets](targets.md) has them all.",
    ),
    "target-not-here": MistakeKind(
        "The target exists, but cannot be run or compiled for on this machine, or in this use.",
        "Chips run on their machines; reports need the target's compiler.",
        "Name an interpreter, such as `pallas:interpret`, or install what the note says.",
    ),
    "missing-package": MistakeKind(
        "A package that this needs is not installed.",
        "torch, JAX and Triton are optional.",
        "Install the extra that the note names.",
    ),
    "unknown-key": MistakeKind(
        "A configuration has a key that is none of kopt's, and no tunable of the kernel.",
        "A misspelt key would change nothing, without notice.",
        "Take the proposed key; `kopt.config` lists them, and `hl.register_tunable` makes more.",
    ),
    "config-value": MistakeKind(
        "A key of a configuration has a value that it cannot have.",
        "Each key has its words or its range.",
        "Take one that the error lists.",
    ),
    "block-sizes": MistakeKind(
        "`block_sizes` does not fit the kernel's open tiles, or IR whose sizes are settled.",
        "It has a number for each tile whose size the kernel leaves open, in order of appearance.",
        "Count the `hl.tile` dimensions without `block_size=`; import the kernel again to change other sizes.",
    ),
    "unknown-function": MistakeKind(
        "A module has no such function.",
        "The entry names the function that is lowered or run.",
        "Take one that the error lists.",
    ),
    "unknown-pass": MistakeKind(
        "A pipeline names a pass or an option that there is not, or cannot be read.",
        "A pipeline is `builtin.module(pass{option=value},pass)`.",
        "Take the proposed name; `kopt --show-passes` lists them with their options.",
    ),
    "command-line": MistakeKind(
        "The command does not take these arguments.",
        "Options are never abbreviated, and unknown ones are errors.",
        "`kopt COMMAND --help` lists them.",
    ),
    "file": MistakeKind(
        "A file cannot be read, written, or understood.",
        "The error has the system's reason.",
        "Check the path and its rights, and that the file is of the kind that the command reads.",
    ),
}

#: Mistakes in IR, what lowerings refuse, and what runs find.
IR = {
    "syntax": MistakeKind(
        "IR text is not well formed.",
        "The parser expected something else at this place.",
        "[Dialects](dialects/tile.md) shows the syntax of each operation.",
    ),
    "invalid-ir": MistakeKind(
        "An operation breaks its own rules.",
        "Passes rely on what verifiers check.",
        "The error says what the operation needs; print the IR before the pass with `--print-ir-before`.",
    ),
    "pass-order": MistakeKind(
        "An operation is met that a pass removes, and that pass has not run.",
        "Each lowering starts from the operations that earlier passes leave.",
        "Run the pass that the note names first, or a whole pipeline: `kopt --show-pipelines`.",
    ),
    "no-form": MistakeKind(
        "An operation or a type has no form in the code of this target.",
        "kopt emits no code that would not compile, or that would mean something else.",
        "Use another operation, or another target.",
    ),
    "not-lowered": MistakeKind(
        "A pass cannot carry valid IR over without changing its meaning.",
        "A refusal at a place is better than a wrong result.",
        "The error says what stands in the way; its note says what to write instead.",
    ),
    "plan": MistakeKind(
        "A plan asks for something that the target cannot do.",
        "Plans say how each block arrives and each loop runs ([Plans](plans.md)).",
        "Change the pins of the configuration, or leave the decision to kopt.",
    ),
    "vmem": MistakeKind(
        "The buffers of a launch take more VMEM than the chip has.",
        "A TPU's kernel works on blocks that its VMEM holds.",
        "Take the block sizes that the note proposes.",
    ),
    "element-type": MistakeKind(
        "The chip has no such element type.",
        "TPUs have no 64-bit elements and no f16 arithmetic.",
        "Convert to a dtype that the chip has, such as `torch.float32` or `torch.int32`.",
    ),
    "update": MistakeKind(
        "An update of elements has no correct form on this chip.",
        "TPUs have no atomic instructions: updates become accumulators or copies.",
        "Reduce within a cell, or update by one index as the note says.",
    ),
    "lost-updates": MistakeKind(
        "Cells of a grid would overwrite each other's results.",
        "A block that several cells write keeps what the last one wrote.",
        "Use atomic updates, or let each cell write its own block.",
    ),
    "aliasing": MistakeKind(
        "One loop nest reads and writes the same memory in two ways.",
        "On a TPU the input and output of a launch are different arrays: it would read old elements.",
        "Read from a copy, or split the loops.",
    ),
    "gpu-block": MistakeKind(
        "A block, or a grid, has a form that Triton cannot run.",
        "Triton's blocks have powers of two lanes, and a limit; launches have a limit of programs.",
        "Choose other block sizes.",
    ),
    "collective": MistakeKind(
        "Ranks are used in a way that has no correct order, or no form.",
        "Ranks see each other's memory only after barriers ([Collectives](collectives.md)).",
        "Follow the note: a barrier, one group, equal parts.",
    ),
    "order-not-checked": MistakeKind(
        "The order of a kernel's ranks cannot be checked (a warning).",
        "It depends on what is in memory, or the kernel has more events than `verify-barriers` follows.",
        "Raise its `limit`, or run the kernel on `pallas:strict`.",
    ),
    "compiler": MistakeKind(
        "The target's own compiler refused the emitted module, died, or did not end in time.",
        "The error has its reason. `KOPT_TIME_LIMIT` sets the seconds.",
        "Try other block sizes; report what kopt should have refused itself.",
    ),
    "pass-meaning": MistakeKind(
        "A pass changed what a module computes, under `--verify-semantics`.",
        "That is a bug of the pass ([Validation](validation.md)).",
        "Report it with the reproducer that is printed.",
    ),
    "out-of-bounds": MistakeKind(
        "A kernel touches an element that its array does not have.",
        "On a chip it would read or write other memory.",
        "Mask the access, or clamp the index.",
    ),
    "race": MistakeKind(
        "Cells of a grid, or copies, access the same elements in no order.",
        "The result would depend on which access is first.",
        "Use atomic updates, give each cell its own elements, or wait for the copy.",
    ),
    "rank": MistakeKind(
        "A rank of a program's group is gone, or did not come in time.",
        "Every rank makes the same calls in the same order.",
        "Look for the rank that the error names; `KOPT_TIME_LIMIT` sets the seconds.",
    ),
    "error": MistakeKind(
        "Something that has no kind of its own.",
        "The error's text says all there is.",
        "Follow it.",
    ),
}

#: Every kind by its id.
CATALOGUE = {**KERNELS, **CALLS, **IR}


def entry(id: str) -> str:
    """What ``kopt diagnostics ID`` prints."""
    if id not in CATALOGUE:
        raise ConfigError(f"there is no diagnostic '{id}'{did_you_mean(id, CATALOGUE)}", id="command-line")
    kind = CATALOGUE[id]
    return f"{id}: {kind.what}\nWhy: {kind.why}\nFix: {kind.fix}\n"
