"""The benchmark of a GPU, on none: sides that are right or fail, a clock that is made up, and the whole script."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import gpu  # noqa: E402
from device import library, sides, timing, work  # noqa: E402
from device.sides import Subject  # noqa: E402
from torch.nn.attention.flex_attention import flex_attention  # noqa: E402

from examples.example import Inputs, Size  # noqa: E402
from examples.registry import BY_NAME, EXAMPLES, Example  # noqa: E402


class FakeCuda:
    """What the benchmark asks of `torch.cuda`; events and graphs go by a clock that only calls move."""

    def __init__(self, name: str = "sm90", multiprocessors: int = 132, **driver: int):
        self.now = 0.0
        self._capability = divmod(int(name[2:]), 10)
        self._properties = SimpleNamespace(name=name, multi_processor_count=multiprocessors, **driver)

    def is_available(self) -> bool:
        return True

    def get_device_properties(self, device: int) -> Any:
        return self._properties

    def get_device_capability(self) -> tuple[int, int]:
        return self._capability

    def synchronize(self) -> None:
        """Nothing is under way."""

    def Event(self, enable_timing: bool) -> Any:
        assert enable_timing
        event = SimpleNamespace(at=0.0)
        event.record = lambda: setattr(event, "at", self.now)
        event.elapsed_time = lambda end: (end.at - event.at) / 1e3
        return event

    def CUDAGraph(self) -> Any:
        graph = SimpleNamespace(took=0.0)
        graph.replay = lambda: self.take(graph.took)
        return graph

    @contextmanager
    def graph(self, graph: Any) -> Iterator[None]:
        before = self.now
        yield
        graph.took = self.now - before

    def take(self, microseconds: float) -> None:
        self.now += microseconds


class RunningCuda(FakeCuda):
    """The clock goes on by itself."""

    @property
    def now(self) -> float:
        return perf_counter() * 1e6

    @now.setter
    def now(self, value: float) -> None:
        """No call moves it."""


class Cache:
    """Bytes whose writing takes time too."""

    def __init__(self, cuda: FakeCuda):
        self.cuda = cuda

    def zero_(self) -> None:
        self.cuda.take(1000)


@pytest.fixture
def cuda() -> FakeCuda:
    return FakeCuda()


def test_a_call_is_timed_without_what_is_around_it(cuda: FakeCuda) -> None:
    """The writes of the cache do not count, a graph's calls do one by one, and the host's clock is another."""
    ticks = iter(range(100))
    watch = timing.Stopwatch(cuda, Cache(cuda), lambda: next(ticks) * timing.ROW * 7e-6)

    def call() -> None:
        cuda.take(3)

    graph, reason = watch.prepared(call)
    times = timing.in_turns(watch, {"one": (call, graph)})["one"]
    assert reason is None and times.medians() == pytest.approx({"cold_us": 3, "graph_us": 3, "host_us": 7})
    assert len(times.cold) == timing.TURNS * timing.COLD_CALLS and len(times.graph) == timing.TURNS


def test_a_call_that_cannot_be_captured_has_no_time_of_a_graph(cuda: FakeCuda) -> None:
    calls = iter(range(1000))

    def call() -> None:
        if next(calls) == timing.WARM_UP:
            raise RuntimeError("operation not permitted when stream is capturing\nand more")

    watch = timing.Stopwatch(cuda, Cache(cuda))
    graph, reason = watch.prepared(call)
    assert graph is None and reason == "no CUDA graph: operation not permitted when stream is capturing"
    assert timing.in_turns(watch, {"one": (call, graph)})["one"].medians()["graph_us"] is None


def test_sides_take_turns_and_fail_alone(cuda: FakeCuda) -> None:
    order: list[str] = []

    def failing() -> None:
        raise RuntimeError("launch failed")

    calls = {"a": (lambda: order.append("a"), None), "b": (failing, None), "c": (lambda: order.append("c"), None)}
    found = timing.in_turns(timing.Stopwatch(cuda, Cache(cuda)), calls, turns=2)
    turns = [name for number, name in enumerate(order) if number == 0 or order[number - 1] != name]
    assert turns == ["a", "c", "a", "c"] and isinstance(found["b"], RuntimeError)


def by_name(rows: list[gpu.Row]) -> dict[str, gpu.Row]:
    return {row["side"]: row for row in rows}


def test_right_before_timed(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong side and one that is refused have a reason and no time; kopt's time is compared with the others'."""

    def taking(microseconds: float, off: float = 0.0) -> Any:
        def made(subject: Subject, args: Any) -> Any:
            def call() -> Any:
                cuda.take(microseconds)
                return torch.exp(args[0]) + off

            return call

        return made

    def refused(subject: Subject, args: Any) -> Any:
        raise ImportError("No module named 'helion'\n")

    made = {"kopt": taking(10), "torch": taking(5), "hand exp": taking(1, off=1.0), "helion": refused}
    monkeypatch.setattr(gpu, "sides", lambda subject: made)
    monkeypatch.setattr(gpu, "CACHE_BYTES", 1)
    rows = by_name(gpu.measure(Subject(BY_NAME["exp"], "tiny", torch.float32, "cpu"), cuda))
    kopt, library, wrong, absent = rows.values()
    assert (kopt["correct"], library["correct"], wrong["correct"], absent["correct"]) == (True, True, False, None)
    assert (kopt["cold_us"], library["graph_us"], library["over"], library["over_graph"]) == (10, 5, 2, 2)
    assert "elements differ" in wrong["reason"] and "cold_us" not in wrong and wrong["over"] is None
    assert absent["reason"] == "ImportError: No module named 'helion'"
    least = 2 * 19 * 140 * 4
    assert kopt["bandwidth"] == pytest.approx(least / 10e-6 / 3.35e12) and kopt["tflops"] is None


def test_each_side_gets_fresh_arguments() -> None:
    """A kernel that writes its arguments changes nobody else's, and not those of the truth."""
    subject = Subject(BY_NAME["scatter_add"], "tiny", torch.float32, "cpu")
    made = sides.sides(subject)["torch"]
    for _ in range(2):
        args = subject.args()
        found = made(subject, args)()
        assert sides.wrong(subject, "torch", args, found, subject.truth()) == []
        assert not torch.equal(args[0], subject.args()[0])


def test_a_reference_that_fails_is_a_row(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(subject: Subject) -> Any:
        raise MemoryError("no room")

    monkeypatch.setattr(Subject, "truth", failing)
    monkeypatch.setattr(gpu, "CACHE_BYTES", 1)
    (row,) = gpu.measure(Subject(BY_NAME["exp"], "tiny", torch.float32, "cpu"), cuda)
    assert (row["side"], row["reason"]) == ("reference", "MemoryError: no room")


def test_the_whole_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """kopt in the interpreter, torch on the CPU, its compiler stubbed; nobody has Triton or Helion for a CPU."""
    cuda = RunningCuda()
    monkeypatch.setenv("KOPT_TARGET", "triton:interpret")
    monkeypatch.setitem(sys.modules, "helion", None)
    monkeypatch.setattr(torch, "compile", lambda call, **options: call)
    for name in ("TURNS", "COLD_CALLS", "ROW", "WARM_UP"):
        monkeypatch.setattr(timing, name, 1)
    monkeypatch.setattr(gpu, "CACHE_BYTES", 1)

    def here(name: str, options: argparse.Namespace) -> list[gpu.Row]:
        into = tmp_path / "rows.json"
        gpu.main([name, "--size", options.size, "--dtype", options.dtype, "--into", str(into)], cuda, "cpu")
        return json.loads(into.read_text())

    monkeypatch.setattr(gpu, "in_a_process", here)
    arguments = ["exp", "matmul", "matmul_4096", "--size", "tiny", "--dtype", "f32"]
    assert gpu.main([*arguments, "--json"], cuda, "cpu") == 0
    found = json.loads(capsys.readouterr().out)
    sides_of = [(row["example"], row["side"], row["correct"]) for row in found["rows"]]
    assert sides_of == [
        ("exp", "kopt", True),
        ("exp", "torch", True),
        ("exp", "torch.compile", True),
        ("exp", "hand exp", None),
        ("exp", "helion", None),
        ("exp", "helion seeds", None),
        ("matmul", "kopt", True),
        ("matmul", "torch", True),
        ("matmul", "torch.compile", True),
        ("matmul", "hand matmul_grouped", None),
        ("matmul", "hand matmul_descriptors", None),
        ("matmul", "helion", None),
        ("matmul", "helion seeds", None),
    ]
    assert all(row["host_us"] > 0 for row in found["rows"] if row["correct"])
    assert found["gpu"] == "sm90" and found["bytes_per_second"] == 3.35e12 and len(found["problems"]) == 7
    made = sides.sides(Subject(BY_NAME["exp"], "tiny", torch.float32, "cpu"))
    monkeypatch.setattr(
        gpu, "sides", lambda subject: made | {"kopt": lambda subject, args: lambda: torch.exp(args[0]) + 1}
    )
    assert gpu.main(["exp", "--size", "tiny", "--dtype", "f32"], cuda, "cpu") == 1
    assert "exp      torch.compile" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ({"kopt": True, "torch": True, "helion": None}, False),
        ({"kopt": True, "torch": False}, False),
        ({"kopt": False, "torch": True}, True),
        ({"kopt": None, "torch": True}, True),
        ({"reference": None}, True),
        ({"all": None}, True),
    ],
    ids=str,
)
def test_the_exit_status_is_of_kopt(rows: dict[str, bool | None], status: bool) -> None:
    """One example that is right does not hide another that is not."""
    found = [{"example": "exp", "side": side, "correct": correct} for side, correct in rows.items()]
    assert gpu.failed([{"example": "add", "side": "kopt", "correct": True}, *found]) is status


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main(["exp"], SimpleNamespace(is_available=lambda: False)) == 0
    assert "nothing was measured" in capsys.readouterr().out


def test_a_process_that_ends_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the process itself: without a GPU it writes no rows."""
    monkeypatch.setattr(sys, "executable", "false")
    options = gpu.options_of(["exp"])
    (row,) = gpu.in_a_process("exp", options)
    assert (row["side"], row["reason"]) == ("all", "its process ended with 1")


def test_summary_is_of_sides_that_have_a_time() -> None:
    rows = [
        {"side": "kopt", "over": 1.0},
        *({"side": "torch", "over": over} for over in (0.5, 0.7, None)),
        {"side": "reference"},
    ]
    assert gpu.summary(rows) == {
        "torch": {"median_over": pytest.approx(0.6), "examples": 2},
        "reference": {"median_over": None, "examples": 0},
    }


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("name", [one.name for one in EXAMPLES if one.name not in library.NEEDS_A_GPU])
def test_library_calls_are_the_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch is timed with computes what the kernel does."""
    monkeypatch.setattr(library, "_compiled_flex", lambda: flex_attention)
    agrees(BY_NAME[name], torch.bfloat16 if name in _BY_BF16 else torch.float32)


#: Products of 16-bit floats alone, whose rows begin at multiples of 16 bytes, as at the size of a model.
_BY_BF16 = {"grouped_matmul": (5, 75, 128, 64)}


def agrees(example: Example, dtype: Any) -> None:
    if example.name in _BY_BF16:
        example = replace(example, sizes={"ragged": Size(_BY_BF16[example.name])})
    subject = Subject(example, "ragged", dtype, "cpu")
    args = subject.args()
    found = sides.sides(subject)["torch"](subject, args)()
    assert sides.wrong(subject, "torch", args, found, subject.truth()) == []


@pytest.mark.parametrize(("name", "off"), [("dropout", 2.0), ("topk", 1.0), ("delta_states", 1.0), ("exp", 0.01)])
def test_wrong_results_of_a_library_are_found(name: str, off: float) -> None:
    """Also where its values may be other ones than the kernel's."""
    subject = Subject(BY_NAME[name], "ragged", torch.float32, "cpu")
    args = subject.args()
    found = sides.sides(subject)["torch"](subject, args)()
    changed = (found[0] + off, *found[1:]) if isinstance(found, tuple) else found + off
    assert sides.wrong(subject, "torch", args, changed, subject.truth())


def test_a_narrow_result_is_judged_by_its_dtype() -> None:
    """A library's loss has the dtype of its logits, kopt's must have f32."""
    subject = Subject(BY_NAME["cross_entropy"], "ragged", torch.bfloat16, "cpu")
    args, truth = subject.args(), subject.truth()
    found = sides.sides(subject)["torch"](subject, args)()
    assert found.dtype == torch.bfloat16 and truth.dtype == torch.float32
    assert sides.wrong(subject, "torch", args, found, truth) == []
    assert "dtype" in sides.wrong(subject, "kopt", args, found, truth)[0]


@pytest.mark.parametrize(
    ("name", "dims", "wanted"),
    [
        ("matmul", (4, 5, 6), 2 * 4 * 5 * 6),
        ("bmm", (3, 4, 5, 6), 2 * 3 * 4 * 5 * 6),
        ("matmul_backward", (4, 5, 6), 2 * 2 * 4 * 5 * 6),
        ("int4_matmul", (4, 8, 6), 2 * 4 * 8 * 6),
        ("swiglu_matmul", (4, 5, 6), 2 * 2 * 4 * 5 * 6),
        ("attention", (2, 3, 4, 5), 2 * 3 * 2 * 2 * 4 * 4 * 5),
        ("causal_attention", (2, 3, 4, 5), 2 * 3 * 2 * 2 * (1 + 2 + 3 + 4) * 5),
        ("window_attention", (1, 1, 8, 5), 2 * 2 * (1 + 2 * 7) * 5),
        ("packed_attention", (1, 4, 3, 5), 3 * 2 * 2 * (1 + 2 + 3 + 4) * 5),
        ("squeeze_excite", (4, 5, 6), 2 * 2 * 4 * 5 * 6),
        ("softmax", (4, 5), None),
    ],
)
def test_operations_of_products(name: str, dims: tuple[int, ...], wanted: int | None) -> None:
    assert work.flops(name, BY_NAME[name].args(Inputs(torch.float32), *dims)) == wanted


def test_bytes_that_must_move() -> None:
    """Arrays once; of a table the rows that are named."""
    x = torch.zeros(4, 8)
    assert work.least_bytes("softmax", (x,), (x,)) == 2 * 128
    ids, table = torch.tensor([[1, 1], [3, 1]], dtype=torch.int32), torch.zeros(100, 8)
    assert work.least_bytes("embedding", (ids, table), (torch.zeros(2, 2, 8),)) == 16 + 2 * 32 + 128
    back = torch.tensor([-1, 99], dtype=torch.int32)
    assert work.least_bytes("gather_rows", (table, back, torch.zeros(2)), ()) == 32 + 8 + 8
    rows = torch.tensor([5, 5], dtype=torch.int32)
    assert work.least_bytes("scatter_add", (table, rows, torch.zeros(2, 8)), (table,)) == 32 + 8 + 64 + 32


def test_defaults_have_names_while_helion_compiles() -> None:
    with sides._named(BY_NAME["matmul"].kernel.fn.__defaults__):
        assert eval("no_epilogue").__name__ == "no_epilogue"
    with pytest.raises(NameError):
        eval("no_epilogue")


@pytest.mark.parametrize(
    ("cuda", "wanted"),
    [
        (FakeCuda("sm90"), 3.35e12),
        (FakeCuda("sm90", 114), None),  # a smaller part than the table's
        (FakeCuda("sm71", 132), None),  # no such chip there
        (FakeCuda("sm90", 132, memory_clock_rate=3_201_000, memory_bus_width=6144), 2 * 3.201e9 * 6144 / 8),
    ],
)
def test_bandwidth_is_of_the_part_that_is_here(cuda: FakeCuda, wanted: float | None) -> None:
    assert work.bytes_per_second(cuda) == wanted
