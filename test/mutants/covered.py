"""How many lines and branches of kopt the tests of a record run.

``python test/mutants/covered.py [FOLDER]`` reads what `contexts.py` wrote, and adds what runs when modules are
imported. Lines that moved inside of their function since then count as not run.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from contexts import Contexts, functions_of
from coverage import Coverage, CoverageData
from turns import dotted

ROOT = Path(__file__).resolve().parents[2]
Arcs = dict[str, set[tuple[int, int]]]


def of_imports(path: Path) -> Arcs:
    """What runs when each module is imported; programs are none."""
    coverage = Coverage(data_file=str(path), branch=True, source=[str(ROOT / "kopt")], config_file=False)
    coverage.start()
    for file in sorted((ROOT / "kopt").rglob("*.py")):
        if not file.stem.endswith(("_worker", "__main__")):
            importlib.import_module(dotted(str(file.relative_to(ROOT))))
    coverage.stop()
    data = coverage.get_data()
    return {file: set(data.arcs(file) or ()) for file in data.measured_files()}


def of_tests(contexts: Contexts) -> Arcs:
    """The steps of a record, in the files as they are today."""
    found: Arcs = defaultdict(set)
    files = {step.file for step in contexts.steps if (ROOT / step.file).exists()}
    firsts = {file: dict(functions_of(str(ROOT / file)).values()) for file in files}
    for step in contexts.steps:
        first = firsts.get(step.file, {}).get(step.function)
        if first is not None:
            ends = (-first if line is None else first + line for line in (step.start, step.end))
            found[str(ROOT / step.file)].add(tuple(ends))  # pyright: ignore[reportArgumentType]
    return found


def main(folder: Path) -> None:
    """Prints the totals."""
    contexts = Contexts(folder)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "all"
        data = CoverageData(str(path))
        for arcs in (of_imports(Path(place) / "imports"), of_tests(contexts)):
            data.add_arcs(arcs)
        data.write()
        coverage = Coverage(data_file=str(path), branch=True, source=[str(ROOT / "kopt")], config_file=False)
        coverage.load()
        coverage.json_report(outfile=str(Path(place) / "report"))
        total = json.loads((Path(place) / "report").read_text())["totals"]
    lines, branches = total["num_statements"], total["num_branches"]
    print(f"{len(contexts.seconds)} tests ran {total['covered_lines']} of {lines} lines, and took", end=" ")
    print(f"{total['covered_branches']} of {branches} branches ({total['covered_branches'] / branches:.1%});", end=" ")
    print(f"{total['percent_covered']:.1f} % as coverage.py counts both")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "contexts")
