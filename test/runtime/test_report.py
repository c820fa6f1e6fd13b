"""Reports by the real compilers, with no hardware."""

import json
import re
from importlib.util import find_spec

import pytest

from examples.registry import BY_NAME, DTYPES
from kopt.errors import CompileError, ConfigError
from kopt.runtime import hlo
from kopt.runtime.gpu_code import amd_facts, nvidia_facts
from kopt.runtime.reasons import clean
from kopt.runtime.report import GPU_KEYS, TPU_KEYS, report
from kopt.specs import parse_spec

from .support import source

tpu = pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu is not installed")
gpu = pytest.mark.skipif(find_spec("triton") is None or find_spec("torch") is None, reason="triton is not installed")


def of(module, entry, target, *specs, **options):
    return report(source(module), entry, [parse_spec(spec) for spec in specs], target, **options)


@tpu
@pytest.mark.parametrize("chip", ["v5e", "v6e", pytest.param("tpu7x", marks=pytest.mark.slow)])
def test_matmul_on_tpus(chip):
    facts = of("matmul_pallas", "matmul", f"pallas:{chip}", "bf16[1024,1024]", "bf16[1024,1024]", profile=True)
    assert tuple(facts) == TPU_KEYS and facts["target"] == f"pallas:{chip}"
    assert facts["legal"] is True and facts["reason"] is None
    assert facts["arg_bytes"] == 2 * 2 * 1024**2 and facts["out_bytes"] == 2 * 1024**2
    assert facts["vmem_bytes"] >= 2**20 // 2 and facts["bundles"] > 100
    assert 5_000 < facts["libtpu_cycles"] < 500_000
    assert facts["cycles"] is None and "not known here" in facts["cycles_reason"]  # of a text alone
    json.dumps(facts)


@tpu
@pytest.mark.parametrize("chip", ["v5p", "v4"])
def test_other_tpus(chip):
    facts = of("exp_pallas", "exp", f"pallas:{chip}", "f32[1000,256]", profile=True)
    assert facts["legal"] and facts["bundles"] and facts["vmem_bytes"] == 4 * 128 * 256 * 4
    assert (facts["libtpu_cycles"] is None) == (chip == "v4")


@tpu
def test_the_profile_is_asked_for():
    """Without it there are bundles, and none of libtpu's cycles."""
    facts = of("exp_pallas", "exp", "pallas:v6e", "f32[1000,256]")
    assert facts["legal"] and facts["bundles"] and facts["libtpu_cycles"] is None


@tpu
def test_rows_that_are_taken_one_by_one_cost_latency():
    """That of loops that no line of the source says, over the rows of each scatter."""
    example = BY_NAME["counting_sort"]
    facts = example.kernel.lower(*example.make_args("real", DTYPES["f32"]), target="pallas:v6e").report()
    assert facts["libtpu_cycles"] is None
    assert [one["predicted_bound"] for one in facts["launches"]] == ["latency", "latency"]


@tpu
def test_an_interpreter_reports_on_the_chip_it_stands_for():
    assert of("exp_pallas", "exp", "pallas:strict@v5e", "f32[1000,256]")["target"] == "pallas:v5e"


@tpu
def test_several_launches_and_the_operations_around_them():
    facts = of("illegal_pallas", "two", "pallas:v5e", "f32[640,100]")
    first, second = facts["launches"]
    assert facts["bundles"] == first["bundles"] + second["bundles"]
    assert facts["vmem_bytes"] == max(first["vmem_bytes"], second["vmem_bytes"])
    assert any("pad" in name for name in facts["hlo_ops"])


@tpu
def test_donated_arguments_are_aliased():
    facts = of("exp_pallas", "exp", "pallas:v5e", "f32[1024,256]", donate=(0,))
    assert facts["alias_bytes"] == facts["arg_bytes"]


@tpu
@pytest.mark.parametrize(
    "entry, spec, reason",
    [
        ("odd_blocks", "f32[96,128]", "divisible by 8 and 128.*array shape"),
        ("sort", "f32[640,128]", r"^sort.py:12: Unimplemented primitive.*sort\. \(emitted line \d+: .*jnp.sort"),
        ("copy", "f16[640,128]", r"^copy.py:7: Invalid vector type for load \(emitted line"),
        ("copy", "f32[640,65536]", r"^kernel copy_0: Scoped allocation with size 64.00M.*name=\"copy_0\""),
        ("copy", "f32[640,262144]", "^kernel copy_0: Ran out of memory in memory space vmem. Used 256.00M of 12"),
        ("copy", "f64[640,128]", "64-bit elements"),
        ("missing", "f32[640,128]", "has no attribute 'missing'"),
    ],
)
def test_reasons_of_mosaic(entry, spec, reason):
    facts = of("illegal_pallas", entry, "pallas:v5e", spec)
    assert facts["legal"] is False and facts["bundles"] is None
    assert re.search(reason, facts["reason"])


@gpu
@pytest.mark.parametrize("chip", ["sm80", "sm90", "sm100", "gfx942"])
def test_matmul_on_gpus(chip):
    facts = of("softmax_triton", "matmul", f"triton:{chip}", "bf16[100,70]", "bf16[70,50]")
    assert tuple(facts) == GPU_KEYS and facts["target"] == f"triton:{chip}"
    assert facts["legal"] is True and facts["spill_bytes"] == 0
    assert 8 < facts["registers"] <= 255 and facts["instructions"] > 50
    assert 0 < facts["shared_bytes"] < 64 * 1024
    json.dumps(facts)


@gpu
def test_reasons_of_triton():
    facts = of("illegal_triton", "odd", "triton:sm90", "f32[1000]")
    assert facts["legal"] is False
    assert facts["reason"].startswith("odd.py:4: arange's range must be a power of 2 (emitted line 10: ")


@gpu
@pytest.mark.slow
def test_too_much_shared_memory_is_not_legal():
    facts = of("illegal_triton", "large", "triton:gfx942", "f32[256,256]", "f32[256,256]")
    large, small = facts["launches"]
    assert facts["legal"] is False and "bytes of shared memory, gfx942 has 65536" in facts["reason"]
    assert large["legal"] is False and small["legal"] is True


def test_targets_without_a_compiler(monkeypatch):
    with pytest.raises(ConfigError, match="'reference' has no compiler"):
        of("exp_pallas", "exp", "reference", "f32[8,8]")
    monkeypatch.setattr("kopt.runtime.extras.find_spec", lambda name: None)
    with pytest.raises(CompileError, match=r"needs jax and libtpu(.|\n)*kopt-compiler\[tpu\]"):
        of("exp_pallas", "exp", "pallas:v5e", "f32[8,8]")


@tpu
def test_a_time_limit_is_not_a_verdict(monkeypatch):
    monkeypatch.setenv("KOPT_TIME_LIMIT", "0.001")
    facts = of("exp_pallas", "exp", "pallas:v4", "f32[1000,256]")
    assert facts["legal"] is None and "no answer within 0.001 s" in facts["reason"]


HLO = """
%fused (p: f32[8]) -> f32[8] {
  ROOT %add.9 = f32[8]{0} add(%p, %p)
}

ENTRY %main.1 (x.1: f32[8]) -> f32[8] {
  %x.1 = f32[8]{0:T(1024)} parameter(0)
  %pad_add_fusion.2 = f32[8]{0} fusion(%x.1), kind=kLoop, calls=%fused
  %copy-start = (f32[8]{0}, f32[8]{0:S(1)}, u32[]{:S(2)}) copy-start(%pad_add_fusion.2)
  %copy-done = f32[8]{0:S(1)} copy-done(%copy-start)
  ROOT %k.1 = f32[8]{0} custom-call(%copy-done), custom_call_target="tpu_custom_call", backend_config={\
"used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"524288"},{"memory_space":"2","size":"64"}]}
}
"""


def test_reading_hlo():
    assert hlo.extra_ops(HLO) == ["pad_add_fusion", "copy-start"]
    assert hlo.uncounted_ops(HLO) == []
    split = '  %s = u32[8]{0} custom-call(%x.1), custom_call_target="X64SplitLow"\n'
    sort = '  %t = u32[8]{0} custom-call(%x.1), custom_call_target="Sort"\n'
    assert hlo.uncounted_ops(HLO.replace("  %copy-start", f"{split}{sort}  %copy-start")) == ["custom-call"]
    assert hlo.kernel_calls(HLO) == [hlo.KernelCall("k.1", 524288)]


def test_reading_dumps(tmp_path):
    (tmp_path / "k.1_static_llo_profile.textproto").write_text("hlo_op_estimate {\n  estimated_cycles: 7526\n}")
    assert (hlo.cycles_of(tmp_path, "k.1"), hlo.cycles_of(tmp_path, "k.2")) == (7526, None)


BUNDLES = """= control target key end
     0   :  { %7 = vsyncpa [#allocation5], 0 }
   0x1 LB: > { %s4 = sadd.s32 4294967295, %s6 /* comment
that goes on { */ }
   0x2   :  {}
   0x3 LB: >> { %s1 = sadd.s32 1, %s2 }
   0x4   : >> { %s1 = sadd.s32 1, %s2 }
   0x5 PF: > { %v3 = vlaneseq }
   0x6 LB: >> { %s200_s6 = sadd.s32 32, %s2  ;;  %v1 %p7_p0 = scmp.ge.s32.totalorder %s200_s6, 512 /* loop exit test */
  ;;  %9 = sbr.rel (!%p7_p0) target = $region9 }
   0x7   :  { %8 = vsyncpa [#allocation5], 1 }
"""


def test_reading_loops(tmp_path):
    (tmp_path / f"12-k.1-63-schedule-analysis_{hlo.SCHEDULE}.txt").write_text("x\n total scheduled bundles:    8\n")
    (tmp_path / f"12-k.1-64-{hlo.SCHEDULE}.txt").write_text(BUNDLES)
    assert hlo.loops_of(tmp_path, "k.1") == [hlo.Loop(0, 2), hlo.Loop(1, 3), hlo.Loop(2, 2), hlo.Loop(2, 1, 16)]
    assert hlo.loops_of(tmp_path, "k.2") is None


def test_what_is_moved_into_a_loop_does_not_end_it(tmp_path):
    """libtpu marks such bundles for the loops around alone, and the rest of the loop begins no loop again."""
    moved = BUNDLES.replace(
        "   0x4   : >> {", "  0x31   : > { %v9 = vlaneseq }\n  0x32   :  { %v8 = vlaneseq }\n   0x4   : >> {"
    )
    (tmp_path / f"12-k.1-64-{hlo.SCHEDULE}.txt").write_text(moved)
    assert hlo.loops_of(tmp_path, "k.1") == [hlo.Loop(0, 2), hlo.Loop(1, 3), hlo.Loop(2, 4), hlo.Loop(2, 1, 16)]


def test_what_branches_skip_counts_apart(tmp_path):
    """Innermost branches, of many bundles: one around both, and one that skips a copy's start, are libtpu's own."""
    branches = {1: 230, 3: 13, 20: 100, 110: 200}
    lines = []
    for number in range(240):
        target = branches.get(number)
        jump = (
            f"  ;;  %9 = sbr.rel (%p{number}_p0) target bundleno = {target} (0x{target:x}), region = 1"
            if target
            else ""
        )
        label = "LB" if number == 0 else "  "
        lines.append(f"  0x{number:x} {label}: > {{ %v3 = vlaneseq{jump} }}")
    (tmp_path / f"12-k.1-64-{hlo.SCHEDULE}.txt").write_text("\n".join(lines))
    assert hlo.loops_of(tmp_path, "k.1") == [hlo.Loop(0, 0), hlo.Loop(1, 240, None, (79, 89))]


def test_reading_listings():
    sass = " REG:32 STACK:16 SHARED:0 \n        /*0000*/   LDC R1, c[0x0][0x28] ;\n        /*0010*/   NOP ;\n"
    assert nvidia_facts(sass) == {"registers": 32, "spill_bytes": 16, "instructions": 1}
    assert nvidia_facts("") == {"registers": None, "spill_bytes": None, "instructions": None}
    code = "k:\n\ts_load_dword s0, s[0:1], 0x0\n\ts_endpgm\n"
    amd = f"{code}\t.section x\n  .private_segment_fixed_size: 8\n    .vgpr_count: 20\n"
    assert amd_facts(amd) == {"registers": 20, "spill_bytes": 8, "instructions": 2}


@pytest.mark.parametrize(
    "message, essence",
    [
        ("INTERNAL: Mosaic failed to compile TPU kernel: Bad\n\nThe MLIR operation involved:\n  x", "Bad"),
        ("No such thing: q. Please file an issue at https://x.y/z.", "No such thing: q."),
        ("a\n  b", "a b"),
        ("x" * 500, "x" * 400 + "…"),
    ],
)
def test_clean(message, essence):
    assert clean(message) == essence
