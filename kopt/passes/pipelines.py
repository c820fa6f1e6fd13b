"""The pipelines: which passes take a kernel from its import to each target, in order, and why in that order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.passes import ModulePass

from kopt.config import Config
from kopt.passes import PASSES
from kopt.plans.kinds import VALUES
from kopt.plans.pins import options as pin_options
from kopt.registry import load
from kopt.targets.chips import Chip, TpuChip
from kopt.targets.target import Target

if TYPE_CHECKING:
    from kopt.passes.verifying.printable import VerifyPrintablePass
    from kopt.programs import ProgramOptions

#: The passes that plan a host program of calls, kernels and collectives for ``-t torch-py``, in order.
HOST_PROGRAM: tuple[str, ...] = (
    # Results that collectives would allocate become arrays of the function's own, which all that follows can place.
    "symm-to-dps",
    # Allocators are part of types, so what may share memory is known only when all of them are chosen.
    "symm-place",
    "symm-propagate",
    # Views of what is copied before it is returned.
    "dce",
    # Captured runs are what memory is planned for; ``host-partition,host-hoist-allocs`` go here where they are wanted.
    # Last of what changes memory: lives are final.
    "plan-buffers",
)

#: What is looked at before text is printed, by its family, besides ``verify-host``: no run notices a missing barrier.
_PRINTABLE = {
    "pallas": ("verify-pallas",),
    "jax": ("verify-pallas",),
    "triton": ("verify-triton",),
    "torch": ("verify-symm", "verify-triton"),
}


def pipeline(target: Target, config: Config) -> list[ModulePass]:
    """The passes for a target. The reference interpreter runs what was imported, nearly as it is."""
    lowers = {"pallas": _pallas, "triton": _triton}.get(target.family)
    passes = reference_pipeline() if lowers is None else lowers(target, config)
    return [*choosing(target, config), *_verify(), *passes]


def choosing(target: Target, config: Config, start: str = "open") -> list[ModulePass]:
    """The passes that choose block sizes for a target: first of all, for whatever follows may use them."""
    loop_type = "resident" if config.keeps_resident else config.loop_type
    loops = {"loop_type": loop_type, "split_k": config.split_k, "deterministic": config.deterministic}
    chip = None if target.chip is None else target.chip.name
    # Blocks are chosen by what is computed, so what no product of the target scales is multiplied out before.
    expand = [] if target.family == "reference" else [_make("expand-scaling", chip=chip)]
    # What cells do in launches of their own decides how large their blocks should be.
    apart = [_make("fission-grids", chip=chip, keep=_named_loops(config))] if target.family == "triton" else []
    return [*expand, *apart, _make("choose-block-sizes", chip=chip, **loops, start=start)]


def _verify() -> list[ModulePass]:
    # Places are those of the source still, and every target says the same of them.
    return [_make("verify-accesses"), _make("verify-index-widths")]


def program_pipeline(target: Target, config: Config, options: ProgramOptions) -> list[ModulePass]:
    """The passes that take a host program to torch or JAX code."""
    if target.family == "pallas":
        # After a Pallas target's own passes: what they would do to kernels is done in these already.
        kernels = [*_pallas_kernels(target, config), *_kernels_of_ranks(options), _make("verify-barriers")]
        return [*choosing(target, config), *_verify(), *kernels, *printable("jax")]
    # The memory is planned first, then the kernels are lowered.
    place = HOST_PROGRAM.index("plan-buffers")
    # Calls that allocate their results end a captured run.
    before, captured = (("host-to-dps",), ("host-partition", "host-hoist-allocs")) if options.capture else ((), ())
    planned = (*before, *HOST_PROGRAM[:place], *captured, *HOST_PROGRAM[place:])
    front = [*choosing(target, config), *_verify(), *_simplify()]
    return [*front, *map(_make, planned), *_triton_kernels(target, config), *printable("torch")]


def printable(family: str) -> list[VerifyPrintablePass]:
    """The last look before the text of a family is printed: printers refuse nothing."""
    return [*map(_make, _PRINTABLE[family]), _make("verify-host", family=family)]


def _kernels_of_ranks(options: ProgramOptions) -> list[ModulePass]:
    """A kernel for each collective, by the number of ranks that the program is lowered for; `jax.lax` has the rest."""
    if options.all_reduce == "library":
        return []
    kind = options.all_reduce.replace("_", "-")
    return [_make("expand-collectives", kind=kind, ranks=ranks, group=group) for group, ranks in options.ranks.items()]


def jagged_pipeline() -> list[ModulePass]:
    """The passes after which the rows of items are seen, for checks of offsets."""
    return named("canonicalize", "cse", "raise-jagged", "dce")


def reference_pipeline() -> list[ModulePass]:
    """The passes after which the interpreter runs a module, and checks its accesses, as every target would."""
    # What is stored in rows that are named twice is said by this pass alone, on every target.
    return [_make("mask-rmw-scatter")]


def _pallas(target: Target, config: Config) -> list[ModulePass]:
    # Copies between ranks that nothing orders go wrong now and then; no race detector sees a rank that is late.
    return [*_pallas_kernels(target, config), _make("verify-barriers"), *printable("pallas")]


def before_models(config: Config, chip: Chip | None = None) -> list[ModulePass]:
    """The first passes for a TPU, once block sizes are chosen: after them, models of launches are built."""
    shares = isinstance(chip, TpuChip) and chip.cores > 1
    return [
        # Results must include what changes in place before versions replace the arguments; and before loops that visit
        # nothing disappear, for the caller goes by what the imported module writes.
        _make("return-mutated-arguments"),
        # While accesses are those of the source: whatever replaces one hands its id on.
        _make("name-accesses"),
        _make("set-eviction-policies", policies=_policies(config), drop=True),
        *_simplify(),
        *([_make("distribute-loops", keep=_named_loops(config), outermost=True)] if shares else []),
        *scheduling(config),
        # Loops over items' own extents become ordinary ones. First of all: other passes know ordinary loops only.
        _make("convert-jagged-to-tile"),
    ]


def rows_moved(chip: TpuChip, config: Config) -> list[ModulePass]:
    """The first passes for a TPU: after them, accesses of computed rows are products and DMAs."""
    return [
        *before_models(config, chip),
        # Rows that VMEM does not hold: loops like those of the source, before arrays and accesses change.
        *walks(chip.name),
        # Launches cannot give new versions of arrays through views with repeated elements.
        _make("reduce-expanded-updates"),
        # JAX arrays cannot be written: launches give new versions. Before masks, so that launches own their memrefs.
        _make("functionalise-host"),
        # Before arrays are cut, cast and padded for launches, so that none of that is done to what is never read.
        _make("eliminate-output-only", mode=config.output_only or "return"),
        # Before anything asks how arrays stand in memory: for launches that are functional already.
        _make("delinearise-launches"),
        # Blocks of slices are blocks of their arrays, which nobody copies.
        _make("fold-slices"),
        # Of what gathers leave alone nothing is moved: while gathers are loads of the source.
        _make("slice-operands"),
        # Blocks must begin at multiples of their size: slices of operands, so launches must be functional already.
        _make("rebase-ranges"),
        # Updates of 64-bit integers, by how many meet: while they are updates, and before loads become DMAs.
        _make("narrow-atomics"),
        # Sums of 64 bits that name elements: before comparisons with the bounds of arrays come of them.
        _make("narrow-indices"),
        # Steps that Mosaic does not take become lanes of whole dimensions: before gathers, which take no steps either.
        _make("spread-strides"),
        # What is a block after all is written as one: new arrays for launches that are functional already.
        _make("normalise-accesses"),
        # What is in flat storage may be in a block that is there: before kinds of gathers are decided.
        _make("speculate-picks"),
        # Accesses at computed places alone are left to decide about; how blocks come is decided when all are known.
        _make("plan-values", chip=chip.name, **_pins_of_values(config)),
        # Products, reductions and loops come of it: before masks, and before whatever moves blocks.
        _make("realise-values", chip=chip.name),
        # Of the bounds of places: while these are computed of indices.
        _make("int-range-optimizations"),
    ]


def _pallas_kernels(target: Target, config: Config) -> list[ModulePass]:
    return [*_pallas_values(target, config), *_pallas_memory(target, config)]


def _pallas_values(target: Target, config: Config) -> list[ModulePass]:
    """What kernels of a TPU compute, and the loads and loops that they have: before plans."""
    chip = target.tpu.name
    return [
        *rows_moved(target.tpu, config),
        # Semaphores are scratch memory, which stands beside the grids of launches.
        _make("lower-remote-copies"),
        # Which rows make a tile of memory decides where blocks may begin.
        _make("permute-array-layout"),
        # XLA copies arrays that it lays out by columns: while accesses are blocks of these.
        _make("match-array-layouts"),
        # What moves with an inner loop of one visit moves with the loop around it, which may be aligned then.
        _make("unroll-single-trip-loops", keep=_named_loops(config)),
        # What such a loop carried begins with a constant.
        _make("canonicalize"),
        # Loops, loads and stores that begin anywhere: loads, selects and masks come of it, so before the other masks.
        *(_make(name, chip=chip) for name in ("strip-mine-cells", "align-accesses")),  # cells in order have one core
        # After everything that adds reductions; Mosaic has no padding loads, so no folding.
        _make("insert-masks"),
        # Masks of narrow values are cheap; what they feed is computed in 32 bits.
        _make("expand-for-mosaic"),
        # Values are computed in the types that Mosaic has; after masks, whose fills no factor changes.
        _make("convert-exp-to-exp2"),
        # After masks and factors, which are of wide values; before types of values are final.
        _make("narrow-floats", chip=chip),
        # Types of values are final; before loops become dimensions of the grid, and what they carry scratch memory.
        *named("merge-lane-parts", "keep-reduced-dims"),
        # Scans are of 32 bits, and of defined lanes; sums that loops carry have the dimension that a last lane has.
        _make("convert-scan-to-dot", chip=chip),
        # Before windows, which are then of scalars that fit their memory.
        _make("chunk-scalars"),
        *named("cse", "dce"),
        # Loads are final, and what is loaded once has windows and DMAs of its own.
        _make("hoist-loads"),
    ]


def _pallas_memory(target: Target, config: Config) -> list[ModulePass]:
    """Where a TPU has what kernels load and store, and how it comes there: plans, and what realises them."""
    chip, kind = target.tpu.name, config.loop_type
    return [
        # Which loads find the same blocks is known now; where all those come from, plans decide.
        *([] if kind in ("resident", "grid") else [_make("keep-blocks", chip=chip, loop_type=kind)]),
        # How blocks arrive decides what must be legal, so plans come first.
        _make("plan-accesses", loop_type=kind, chip=chip, **_pins_of_blocks(config)),
        # Right after: what a plan cannot be is said of the kernel as its author wrote it.
        _make("verify-plan", chip=chip),
        # Visits without masks are loops of their own: while loops are those that the plan names.
        _make("peel-loops"),
        _make("apply-schedule"),
        # A hoisted loop is a dimension of the grid like the others.
        _make("order-grid", chip=chip),
        # Needs the order, which decides what is revisited; before binding, since targets become plain arrays.
        _make("materialize-accumulators", chip=chip),
        # A target whose first value an accumulator knows is only written from now on.
        _make("eliminate-output-only", mode=config.output_only or "return"),
        # Element types that Mosaic lacks are cast on the host: before windows, whose tiles depend on them.
        _make("legalise-element-types"),
        # Again: windows are what they will be, so their bytes are known; passes between have kept the plan.
        _make("verify-plan", chip=chip),
        # Windows, index maps, layouts and what the host pays are derived from the plan, once; picks are of windows.
        *named("bind-buffers", "pick-registers", "fuse-host-reductions"),
        # Buffers and semaphores of what stays in HBM: from here on the kernel is one that runs.
        _make("realise-dmas"),
        # An optimisation of that: copies overlap the steps of the axis that they name.
        _make("software-pipeline", chip=chip),
        # Copies are final, so bodies without any are known: branches in which loops have known trips.
        _make("version-cells"),
        # Copies are final, and where they begin.
        _make("elide-bounds-checks"),
        # Branches and loops are final: before memory is planned for what is alive across them.
        _make("rematerialise-loads"),
        # Scratch memory is final.
        _make("plan-vmem", chip=chip),
        # Mosaic compiles lost updates silently: the last look at kernels of one rank.
        _make("verify-accumulators"),
    ]


def _triton(target: Target, config: Config) -> list[ModulePass]:
    return [*_triton_kernels(target, config), *printable("triton")]


def _triton_kernels(target: Target, config: Config) -> list[ModulePass]:
    keys = ("num_warps", "num_stages", "persistent", "sm_programs", "group", "max_registers")
    given = {key: value for key in keys if (value := getattr(config, key)) is not None}
    return [
        _make("return-mutated-arguments"),
        _make("name-accesses"),
        # While loads are those of the source, which the configuration counts.
        _make("set-eviction-policies", policies=_policies(config)),
        *_simplify(),
        # Programs are what fills a GPU: before anything looks at what a program does.
        _make("distribute-loops", keep=_named_loops(config)),
        # Loads and stores of full vectors: while accesses are by the ranges of the source.
        _make("collapse-contiguous", keep=_named_loops(config)),
        # Shares of items while their loops are seen as such; one item's rows need fewer masks than several items'.
        _make("convert-jagged-to-tile", resize=False, programs=config.programs),
        # New arrays around grids: while blocks are still those of the source, which say how many updates meet.
        _make("widen-atomics", chip=target.gpu.name),
        # What single lanes are picked from is walked like all else that is too large.
        _make("take-from-memory"),
        # Dimensions of programs that are too large become blocks of one element.
        _make("split-planes"),
        # What is too large still is walked, while its dimensions are seen as whole; all else of a plan is of the loops.
        *walks(target.gpu.name),
        # What visits have in common, of walks too: while loops have the bounds of the source.
        _make("hoist-loads", operands=True),
        # Whole dimensions that are summed over, while they are seen as such: a program shares little memory.
        _make("split-dot-reduction", chip=target.gpu.name),
        # Loops are there, and cells are those that they will be.
        *_splits(target.gpu.name, config),
        # Blocks are final, which products take by their sizes: before reshapes and concatenations are looked at.
        _make("expand-scaling", chip=target.gpu.name),
        *_triton_values(target.gpu.name),
        _make("plan-accesses", chip=target.gpu.name, **given, **_pins(config)),
        _make("verify-plan", chip=target.gpu.name),
        _make("peel-loops"),
        _make("convert-tile-to-triton", chip=target.gpu.name),
        # Accesses are final, and what takes the bounds of loops.
        *named("insert-barriers", "narrow-bounds"),
        # What Triton does not check, and how it divides: said as ops, of which each is printed as it stands.
        _make("clamp-gathers"),
        _make("arith-unsigned-when-equivalent"),
    ]


def _triton_values(chip: str) -> list[ModulePass]:
    """What programs of a GPU compute: blocks of a power of two, masks, and the ops that Triton has."""
    return [
        # Blocks of one element are numbers: before sizes change, so that fewer dimensions need to. What gave values
        # such dimensions is undone with them.
        _make("drop-unit-dims"),
        _make("canonicalize"),
        # Blocks of a power of two: made before masks, which then cover the new lanes as any others.
        _make("split-odd-blocks"),
        # Tiles are cut and joined by memory where it can, else by gathers: while sizes are the true ones.
        _make("fold-into-accesses"),
        _make("convert-slices-to-gathers"),
        _make("pad-to-power-of-two"),
        _make("insert-masks", fold_loads=True),  # Triton's loads take a fill for free
        _make("cse"),
        _make("compare-terms"),
        # Differences may be dead then; what is alive counts for warps.
        _make("dce"),
        # What loops carry counts for warps; before products become sums of blocks that registers hold once.
        _make("sink-reductions"),
        # Products that no matrix unit takes are sums of larger blocks, which count for warps.
        _make("legalise-ops", chip=chip),
        # After masks, whose fills no factor changes, and powers that are exponents of their own.
        _make("convert-exp-to-exp2"),
        _make("approximate-functions"),  # values are those that are computed, and rounded
    ]


def _simplify() -> list[ModulePass]:
    """What the import leaves behind: constants, repeated loads, dead host values, fills and arrays that nothing reads.

    Blocks are known by their indices, which ``cse`` makes one. Each forwarded or masked store is one read less, each
    dropped copy too; what was computed for such arrays alone is left to ``dce``. In place: it serves every target.
    Bounds are constants by then, so what is empty is known; no pass after it meets a dimension of 0.
    """
    # Which lanes are valid is told by where they come from, so before anything is simplified away; but after stores of
    # what was just loaded are seen as such. Sizes are chosen; what the kernel computes of them are constants from here,
    # and masks that some other size would need go.
    valid = ("fold-block-sizes", "mask-rmw-scatter", "resolve-validity", "int-range-optimizations")
    dead = ("mask-rmw-scatter", "forward-stores", "drop-dead-initialization", "drop-dead-arrays")
    return [_make(name) for name in (*valid, "canonicalize", "cse", "drop-empty", *dead, "dce")]


def walks(chip: str) -> list[ModulePass]:
    """Whole dimensions that are too large become loops."""
    return [_make("plan-walks", chip=chip), _make("walk-dims")]


def _splits(chip: str, config: Config) -> list[ModulePass]:
    """Reductions of few cells are dealt out to more of them; parts that nobody asked for come in order."""
    if config.split_k == 1:
        return []
    planned = _make("plan-splits", chip=chip, split=config.split_k)
    split = _make("split-k", deterministic=config.split_k is None or config.deterministic, open_blocks=True)
    return [_make("dce"), planned, split, _make("dce"), _make("choose-block-sizes", chip=chip)]


def scheduling(config: Config) -> list[ModulePass]:
    """What the configuration asks for that is written as IR a kernel's author might have written."""
    if config.split_k in (None, 1):
        return []
    return [_make("split-k", factor=config.split_k, deterministic=config.deterministic), _make("dce")]


def _pins(config: Config) -> dict[str, Any]:
    """What the configuration decides of plans."""
    return pin_options(config.accesses, config.loops, config.order)


def _pins_of_values(config: Config) -> dict[str, Any]:
    """What it decides of accesses; `plan-values` takes what is of its kinds."""
    return pin_options(config.accesses, (), None)


def _pins_of_blocks(config: Config) -> dict[str, Any]:
    """What it decides of the rest."""
    kinds = {id: pin.kind for id, pin in config.pins.accesses.items()}
    accesses = [(id, words) for id, words in config.accesses if kinds[id] not in VALUES]
    return pin_options(accesses, config.loops, config.order)


def _named_loops(config: Config) -> tuple[str, ...]:
    """The axes that a configuration's plan speaks of."""
    pins = config.pins
    axes = (axis for pin in pins.accesses.values() for axis in pin.axes or ())
    return tuple(dict.fromkeys((*pins.loops, *(pins.order or ()), *axes)))


def _policies(config: Config) -> tuple[str, ...]:
    """What the configuration has caches told of loads."""
    given = config.load_eviction_policies or ()
    return tuple(policy or "none" for policy in ((given,) if isinstance(given, str) else given))


def named(*names: str) -> list[ModulePass]:
    """Passes by their names, without options."""
    return list(map(_make, names))


def _make(name: str, **options: Any) -> Any:
    return load(PASSES[name])(**options)
