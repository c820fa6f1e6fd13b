"""`kopt.helion.enabled`: what becomes of kernels of Helion's, of their configurations, and of what programs ask for."""

from __future__ import annotations

import hashlib
import inspect
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helion
import helion.language as hl
import pytest
import torch

import kopt
from kopt.errors import ArgumentError, ConfigError
from kopt.helion import __main__ as command
from kopt.helion import enabled, saved_configs
from kopt.helion.installation import _switched

X = torch.arange(96, dtype=torch.float32)


def doubled(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * factor
    return out


def sized(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * 0 + i.block_size
    return out


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of Helion's configurations."""
    monkeypatch.setenv("HELION_CACHE_DIR", str(tmp_path))
    saved_configs._by_source.cache_clear()
    yield tmp_path
    saved_configs._by_source.cache_clear()


def save(folder: Path, kernel: Any, args: tuple[Any, ...], **config: Any) -> None:
    """A file as Helion's autotuner writes it, on another machine."""
    spelled = str((*map(kernel._specialization_key, args), "cuda", (9, 0), False))
    source = hashlib.sha256(textwrap.dedent(inspect.getsource(kernel.fn)).encode()).hexdigest()
    fields = {"specialization_key": spelled, "kernel_source_hash": source, "hardware": "some GPU", "backend": "triton"}
    data = {"config": helion.Config(**config).to_json(), "key": {"type": "LooseAutotuneCacheKey", "fields": fields}}
    (folder / f"{len(list(folder.iterdir()))}.best_config").write_text(json.dumps(data))


def test_kernels_from_before_run_and_the_inner_target_holds() -> None:
    kernel = helion.kernel(config={"block_sizes": [32]})(doubled)
    with enabled("triton:interpret"):
        with enabled(target="pallas:interpret"):
            assert "pallas_call" in kernel.bind((X,)).to_code()
        assert "@triton.jit" in kernel.bind((X,)).to_triton_code()
    with enabled("reference"):
        torch.testing.assert_close(kernel(X), X * 2)
        torch.testing.assert_close(kernel(X, factor=3.0), X * 3)


def test_afterwards_methods_are_helions() -> None:
    method = _switched(lambda self, *args: ("Helion's", *args), lambda runs, session, *args: ("kopt's", *args))
    kernel = helion.kernel()(doubled)
    with enabled("reference"):
        assert method(kernel, 1) == ("kopt's", 1)
    assert method(kernel, 1) == ("Helion's", 1)


def test_settings_and_configurations_are_honoured() -> None:
    """Block sizes, and the precision of products where it is to be exact."""
    kernel = helion.kernel(config=helion.Config(block_sizes=[16]), dot_precision="ieee")(sized)
    with enabled("reference"):
        assert kernel(X).unique().tolist() == [16]
        bound = kernel.bind((X,))
        assert bound.compile_config({"block_sizes": [8]})(X).unique().tolist() == [8]
        assert kernel(X).unique().tolist() == [16]
        bound.set_config(helion.Config(block_sizes=[32]))
        assert kernel(X).unique().tolist() == [32]
        assert kernel(X[:64]).unique().tolist() == [16]
        kernel.reset()
        assert kernel(X).unique().tolist() == [16]
        assert bound.kernel is kernel and bound.settings is kernel.settings and bound.configs is kernel.configs


def test_what_has_no_meaning_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    configs = [helion.Config(block_sizes=[32], range_flattens=[True]), helion.Config(block_sizes=[8], num_warps=2)]
    kernel = helion.kernel(configs=configs)(sized)
    with enabled("reference"):
        for size in (96, 64, 96):
            assert kernel(X[:size]).unique().tolist() == [32]
        assert kernel.autotune((X,), force=True) == configs[0]
        assert kernel.autotune_multi([(X,), (X[:64],)]) == configs[0]
    said = [line.split("remark: ")[1] for line in capsys.readouterr().err.splitlines()]
    assert [line.split(":")[0] for line in said] == [
        "of 2 configs the first is taken",
        "Helion's config key 'range_flattens' has no effect",
        "autotune() times nothing",
    ]


def test_autotune_gives_what_kopt_chooses() -> None:
    kernel = helion.kernel()(sized)
    with enabled("reference"):
        (size,) = kernel(X).unique().tolist()
        found = kernel.autotune((X,))
        assert isinstance(found, helion.Config) and found.block_sizes == [size]
        assert found == kernel.bind((X,)).config_spec.default_config()


def test_helions_files_are_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For the same source and the same arguments; others have kopt's choice, or the kernel's own."""
    kernel = helion.kernel()(sized)
    save(folder, kernel, (X,), block_sizes=[4], num_warps=2)
    (folder / "broken.best_config").write_text("{")
    with enabled("reference"):
        assert kernel(X).unique().tolist() == [4]
        assert kernel(X[:64]).unique().tolist() != [4]
        assert kernel(X.double()).unique().tolist() != [4]
        assert helion.kernel(config={"block_sizes": [16]})(sized)(X).unique().tolist() == [16]
    assert "saved configuration is taken, found on some GPU: " in capsys.readouterr().err


def test_helions_files_are_skipped_where_helion_skips_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = helion.kernel()(sized)
    save(folder, kernel, (X,), block_sizes=[4])
    monkeypatch.setenv("HELION_SKIP_CACHE", "1")
    with enabled("reference"):
        assert kernel(X).unique().tolist() != [4]


def test_source_is_printed_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = helion.kernel(config={"block_sizes": [32]}, print_output_code=True)(doubled)
    with enabled("triton:interpret"):
        kernel(X)
        kernel(X)
    assert capsys.readouterr().err.count("@triton.jit") == 1


def test_no_gradient_is_recorded() -> None:
    """As in Helion: a kernel is for the inside of an autograd function."""
    kernel = helion.kernel(config={"block_sizes": [32]})(doubled)
    with enabled("reference"):
        assert not kernel(X.clone().requires_grad_()).requires_grad


class Doubled(torch.autograd.Function):
    """A kernel of Helion's with a gradient, as programs of Helion's write it."""

    @staticmethod
    def forward(ctx: Any, kernel: Any, x: Any) -> Any:
        ctx.kernel = kernel
        return kernel(x)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, ctx.kernel(grads[0])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("configs", [{"config": {"block_sizes": [32]}}, {}], ids=["config", "chosen"])
def test_torch_compile_keeps_its_graph_at_a_kernel(configs: dict[str, Any]) -> None:
    kernel = helion.kernel(**configs)(doubled)
    x = X.clone().requires_grad_()
    with enabled("reference"):
        compiled = torch.compile(lambda x: kernel(x + 1) - 1, backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(compiled(X), X * 2 + 1)
        learned = torch.compile(lambda x: Doubled.apply(kernel, x * 3).sum(), backend="aot_eager", fullgraph=True)
        learned(x).backward()
        torch.testing.assert_close(x.grad, torch.full_like(X, 6))
        if not torch.cuda.is_available():
            made = torch.compile(lambda x: torch.ones(3, device="cuda"), backend="eager", fullgraph=True)
            assert made(X).device.type == "cpu"


def test_torch_compile_ends_its_graph_where_arguments_have_their_configuration() -> None:
    kernel = helion.kernel()(sized)
    with enabled("reference"):
        kernel.bind((X,)).set_config(helion.Config(block_sizes=[8]))
        compiled = torch.compile(lambda x: kernel(x) + 1, backend="eager")
        assert compiled(X).unique().tolist() == [9]


@pytest.mark.skipif(torch.cuda.is_available(), reason="programs have their GPU")
def test_tensors_of_a_gpu_are_on_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    with enabled("reference"):
        made = torch.zeros(4, device="cuda:0")
        moved = made.to(torch.device("cuda"), torch.float64)
        for copy in (made.cuda(), made.to("cuda"), made.to(device="cuda"), made.cpu(), moved):
            assert copy.device.type == "cpu" and copy.data_ptr() != made.data_ptr()
        assert moved.dtype is torch.float64 and made.to(torch.int8).dtype is torch.int8
        with torch.device("cuda"):
            assert torch.empty(3).device.type == "cpu"
        assert torch.empty_like(made, device=torch.device("cuda", 0)).device.type == "cpu"
        torch.cuda.synchronize()
    assert capsys.readouterr().err.count("torch has no GPU here") == 1
    with pytest.raises((AssertionError, RuntimeError), match="CUDA"):
        torch.zeros(4, device="cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="programs have their GPU")
@pytest.mark.parametrize(
    ("target", "capability", "name"),
    [
        ("triton:interpret", (9, 0), "sm90"),
        ("triton:interpret@sm100", (10, 0), "sm100"),
        ("triton:interpret@gfx942", (9, 4), "gfx942"),
        ("reference", (9, 0), "sm90"),
    ],
)
def test_what_programs_ask_of_their_gpu(target: str, capability: tuple[int, int], name: str) -> None:
    """Its answers are those of the target's chip; Helion's device stays what programs assert that it is."""
    from helion import _testing

    with enabled(target):
        device = _testing.DEVICE
        assert device.type == "cuda" and torch.ones(3, device=device).device.type == "cpu"
        assert torch.cuda.get_device_capability(device) == capability
        found = torch.cuda.get_device_properties(device)
        assert (found.major, found.minor, found.name) == (*capability, name) and found.multi_processor_count > 0
        generator = torch.Generator(device=device).manual_seed(3)
        drawn = torch.rand(3, generator=generator, device=device)
        assert all(isinstance(each, torch.Generator) for each in (generator, torch.default_generator))
    torch.testing.assert_close(drawn, torch.rand(3, generator=torch.Generator().manual_seed(3)))
    with pytest.raises((AssertionError, RuntimeError), match="CUDA"):
        torch.cuda.get_device_capability()


def test_mistakes_are_diagnostics() -> None:
    kernel = helion.kernel()(doubled)
    with pytest.raises(ConfigError, match="no target 'nowhere'|nowhere"), enabled("nowhere"):
        pass
    with enabled("reference"):
        with pytest.raises(ArgumentError, match="missing a required argument: 'x'") as found:
            kernel()
        assert found.value.location is not None and found.value.location.file == __file__
        with pytest.raises(ArgumentError, match="too many"):
            kernel.bind((X, 1.0, 2.0))
        with pytest.raises(AttributeError, match="'doubled' runs through kopt, whose bound kernels have no 'env'"):
            _ = kernel.bind((X,)).env
        with pytest.raises(kopt.KoptError, match="block_sizes"):
            kernel.bind((X,)).compile_config({"block_sizes": [0]})


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["nothing.py"], "there is no file 'nothing.py'"),
        ([], "which program is to be run?"),
        (["--target", "nowhere", __file__], "nowhere"),
        (["--tarcet", "reference"], "--tarcet"),
    ],
    ids=str,
)
def test_mistakes_on_the_command_line(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(argv) == 1
    error = capsys.readouterr().err
    assert said in error and "<command line>:1:" in error


def test_a_program_has_its_own_arguments_exit_code_and_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys\nif sys.argv[1:] == ['--leave', '3']:\n    sys.exit(3)\n1 / 0\n")
    with pytest.raises(SystemExit) as left:
        command.main(["-t", "reference", str(program), "--leave", "3"])
    assert left.value.code == 3
    assert command.main([str(program)]) == 1
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].startswith("Traceback") and str(program) in shown[1] and shown[-1].startswith("ZeroDivisionError")
