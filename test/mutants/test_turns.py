"""Which tests run with a mutant, and in which order."""

from __future__ import annotations

from .operators import statement
from .turns import Place, Step, Turns, imports

TESTS = {"test/a/test_whole.py::test_all": 1.0, "test/a/test_part.py::test_it[1]": 0.1, "test/b/test_narrow.py::f": 0.1}
SUMS = "kopt/a/sums.py"
STEPS = {
    Step(SUMS, "add", None, 1): [0, 1, 2],
    Step(SUMS, "add", 1, 2): [0, 1],
    Step(SUMS, "add", 1, None): [0, 1, 2],
    Step(SUMS, "sub", None, 1): [1],
    Step("kopt/a/other.py", "g", None, 1): [0, 1],
}
TEXT = """class A:
    def f(self, a):
        if (
            a
        ):
            return 1
        for each in a:
            with each:
                pass
        return (
            a +
            1
        )
b = 1
"""


def turns(*more: str) -> Turns:
    return Turns(TESTS, STEPS, [*TESTS, *more])


def in_turn(place: Place, *more: str) -> list[str]:
    return [name.rpartition("::")[2] for name in turns(*more).tests_of(place)]


def add(*lines: int) -> Place:
    return Place(SUMS, "add", range(lines[0], lines[-1] + 1))


def test_those_that_take_few_steps_come_first() -> None:
    assert in_turn(add(1, 2)) == ["f", "test_it[1]", "test_all"]


def test_only_those_that_run_the_statement() -> None:
    assert in_turn(add(2)) == ["test_it[1]", "test_all"]


def test_those_that_leave_as_few_do_come_before_them() -> None:
    step = Step(SUMS, "add", 1, 3)
    found = Turns(TESTS, STEPS | {step: [0]}, [*TESTS]).tests_of(add(1))
    assert [name.rpartition("::")[2] for name in found] == ["f", "test_it[1]", "test_all"]
    many = {f"test/b/test_many.py::t{number}": 0.1 for number in range(90)}
    common = {each: [*numbers, *range(3, 93)] for each, numbers in STEPS.items() if each.start == 1}
    found = Turns(TESTS | many, common | {step: [0]}, [*TESTS, *many]).tests_of(add(1))
    assert [*found][0] == "test/a/test_whole.py::test_all" and len(found) == 93


def test_files_that_are_named_after_a_module_come_before_them() -> None:
    found = in_turn(add(1), "test/a/test_sums.py::new")
    assert found[0] == "new" and len(found) == 4


def test_cases_do_what_recorded_ones_do() -> None:
    assert in_turn(Place(SUMS, "sub", range(1, 2)), "test/a/test_part.py::test_it[2]") == ["test_it[1]", "test_it[2]"]


def test_functions_and_lines_that_no_test_runs_have_those_around_them() -> None:
    assert in_turn(Place("kopt/a/other.py", "h", range(1, 2))) == ["test_it[1]", "test_all"]
    assert len(in_turn(add(7))) == 3


def test_lines_of_statements() -> None:
    at = {
        text: statement(TEXT, TEXT.index(text))
        for text in ("a\n", "1\n", "each in", "with each", "1\n        )", "b =")
    }
    assert [*at.values()] == [range(1, 4), range(4, 5), range(5, 6), range(6, 7), range(8, 12), range(0)]


def test_newer_tests_that_import_a_module_run_with_its_mutants() -> None:
    test, module = "test/interpreter/test_partial_results.py::new", "kopt/passes/splitting/partial_results.py"
    others = ("kopt/passes/splitting/combining.py", "kopt/analysis/splits.py")
    assert (
        imports(test, module)
        and imports(test, "kopt/analysis/reduction_loops.py")
        and imports(test, "kopt/__init__.py")
    )
    assert not any(imports(test, other) for other in others) and not imports("test/mutants/gone.py::new", module)
    assert in_turn(Place("kopt/analysis/reduction_loops.py", "g", range(1)), test) == ["new"]
    assert not any("new" in in_turn(Place(other, "g", range(1)), test) for other in others)
