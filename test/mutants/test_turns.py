"""Which tests run with a mutant, and in which order."""

from __future__ import annotations

from .turns import Turns, imports

TESTS = {"test/a/test_whole.py::test_all": 1.0, "test/a/test_part.py::test_it[1]": 0.1, "test/b/test_narrow.py::f": 0.1}
FUNCTIONS = {
    "kopt/a/sums.py:add": [0, 1, 2],
    "kopt/a/sums.py:add.<locals>.inner": [0],
    "kopt/a/sums.py:sub": [1],
    "kopt/a/other.py:g": [0, 1],
}


def turns(*more: str) -> Turns:
    return Turns(TESTS, FUNCTIONS, [*TESTS, *more])


def short(found) -> list[str]:
    return [name.rpartition("::")[2] for name in found]


def test_those_that_enter_few_functions_come_first() -> None:
    assert short(turns().tests_of("kopt/a/sums.py", "add")) == ["f", "test_it[1]", "test_all"]


def test_files_that_are_named_after_a_module_come_before_them() -> None:
    found = turns("test/a/test_sums.py::new").tests_of("kopt/a/sums.py", "add")
    assert short(found)[0] == "new" and len(found) == 4


def test_cases_do_what_recorded_ones_do() -> None:
    assert short(turns("test/a/test_part.py::test_it[2]").tests_of("kopt/a/sums.py", "sub")) == [
        "test_it[1]",
        "test_it[2]",
    ]


def test_functions_that_no_test_enters_have_those_of_their_file() -> None:
    assert len(turns().tests_of("kopt/a/other.py", "h")) == 2


def test_newer_tests_that_import_a_module_run_with_its_mutants() -> None:
    test, module = "test/interpreter/test_partial_results.py::new", "kopt/passes/splitting/partial_results.py"
    others = ("kopt/passes/splitting/combining.py", "kopt/analysis/splits.py")
    assert (
        imports(test, module)
        and imports(test, "kopt/analysis/reduction_loops.py")
        and imports(test, "kopt/__init__.py")
    )
    assert not any(imports(test, other) for other in others) and not imports("test/mutants/gone.py::new", module)
    assert short(turns(test).tests_of("kopt/analysis/reduction_loops.py", "g")) == ["new"]
    assert not any("new" in short(turns(test).tests_of(other, "g")) for other in others)
