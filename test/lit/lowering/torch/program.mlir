// Host programs as torch code.
// RUN: kopt %s -t torch-py --entry planned | filecheck %s --check-prefix=PLANNED
// RUN: kopt %s -t torch-py --entry library | filecheck %s --check-prefix=LIBRARY
// RUN: kopt %s -t torch-py --entry ranks | filecheck %s --check-prefix=RANKS
// RUN: kopt %s -p convert-tile-to-triton -t torch-py --entry kernel | filecheck %s --check-prefix=KERNEL

// Symmetric arrays have their group and a number that no other program has; freed memory loses all of its names.
// PLANNED: import torch
// PLANNED-NEXT: from torch.distributed import _symmetric_memory as symm_mem
// PLANNED-EMPTY:
// PLANNED-EMPTY:
// PLANNED-NEXT: def planned(x, *, tp):
// PLANNED: h = symm_mem._SymmetricMemory.empty_strided_p2p(
// PLANNED-NEXT: (2, 8), (8, 1), torch.float32, x.device, tp.group_name, {{[0-9]+}}
// PLANNED-NEXT: )
// PLANNED: torch.ops.aten.exp.out(x, out=h)
// PLANNED: a = torch.empty((2, 8), dtype=torch.float32, device=x.device)
// PLANNED: torch.ops.symm_mem.one_shot_all_reduce_out(h, "sum", tp.group_name, out=a)
// PLANNED: g = h
// PLANNED: g.fill_(1.0)
// PLANNED: torch.ops.symm_mem.two_shot_all_reduce_out(g, "sum", tp.group_name, output=a)
// PLANNED: symm_mem.get_symm_mem_workspace(tp.group_name, min_size=1).barrier()
// PLANNED: r = torch.ops.symm_mem.multimem_one_shot_all_reduce(g, "sum", tp.group_name)
// PLANNED: v = a.view((16,))
// PLANNED: b = a
// PLANNED: b.copy_(x)
// PLANNED: del b, a, v
// PLANNED: return r
func.func @planned(%x: memref<2x8xf32>) -> memref<2x8xf32> {
  %h = host.alloc persistent "f.0" : memref<2x8xf32, #symm.space<"tp">>
  host.call_out "aten.exp.default"(%x) args [unit] to %h : (memref<2x8xf32>) to memref<2x8xf32, #symm.space<"tp">>
  %a = host.alloc : memref<2x8xf32>
  symm.all_reduce_out add %h to %a group "tp" by one_shot : memref<2x8xf32, #symm.space<"tp">> to memref<2x8xf32>
  %g = host.reuse %h fill 1.0 : memref<2x8xf32, #symm.space<"tp">>
  symm.all_reduce_out add %g to %a group "tp" by two_shot : memref<2x8xf32, #symm.space<"tp">> to memref<2x8xf32>
  symm.barrier group "tp"
  %r = symm.all_reduce add %g group "tp" by multimem : memref<2x8xf32, #symm.space<"tp">> to memref<2x8xf32>
  %v = host.reshape %a : memref<2x8xf32> to memref<16xf32>
  %b = host.reuse %a : memref<2x8xf32>
  host.copy %x to %b : memref<2x8xf32>, memref<2x8xf32>
  host.free %b : memref<2x8xf32>
  func.return %r : memref<2x8xf32>
}

// Without an algorithm, torch.distributed moves the data; captured runs are functions of what they use.
// LIBRARY: import torch
// LIBRARY-NEXT: import torch.distributed as dist
// LIBRARY-EMPTY:
// LIBRARY: class Captured:
// LIBRARY: def run_library_0(x, tp, dp):
// LIBRARY: c = x.permute((1, 0))
// LIBRARY: dist.all_to_all_single(d, c.contiguous(), group=dp)
// LIBRARY: return e
// LIBRARY: library_0 = Captured(run_library_0)
// LIBRARY: def library(x, y, *, tp, dp):
// LIBRARY: a = torch.empty((2, 8), dtype=torch.float32, device=x.device)
// LIBRARY-NEXT: a.copy_(x)
// LIBRARY-NEXT: dist.all_reduce(a, dist.ReduceOp.MAX, group=tp)
// LIBRARY: dist.all_reduce(a, dist.ReduceOp.SUM, group=dp)
// LIBRARY: dist.all_gather_into_tensor(g, y, group=tp)
// LIBRARY: dist.reduce_scatter_tensor(y, g, group=tp)
// LIBRARY: t = torch.empty((8, 8), dtype=torch.float32, device=x.device)
// LIBRARY-NEXT: dist.all_to_all_single(t, g, group=dp)
// LIBRARY: p = library_0((), (x,), (tp, dp))
// LIBRARY: q.copy_(p)
// LIBRARY: return q
func.func @library(%x: memref<2x8xf32>, %y: memref<4x8xf32>) -> memref<8x2xf32> {
  %a = symm.all_reduce max %x group "tp" : memref<2x8xf32> to memref<2x8xf32>
  symm.all_reduce_out add %x to %a group "dp" : memref<2x8xf32> to memref<2x8xf32>
  %g = host.alloc : memref<8x8xf32>
  symm.all_gather_out %y to %g group "tp" : memref<4x8xf32> to memref<8x8xf32>
  symm.reduce_scatter_out %g to %y group "tp" : memref<8x8xf32> to memref<4x8xf32>
  %t = symm.all_to_all %g group "dp" : memref<8x8xf32> to memref<8x8xf32>
  %p = host.partition capture -> memref<8x2xf32> {
    %c = host.permute %x [1, 0] : memref<2x8xf32> to memref<8x2xf32, strided<[1, 8]>>
    %d = host.alloc : memref<8x2xf32>
    symm.all_to_all_out %c to %d group "dp" : memref<8x2xf32, strided<[1, 8]>> to memref<8x2xf32>
    %e = host.reuse %d fill 0.0 : memref<8x2xf32>
    host.yield %e : memref<8x2xf32>
  }
  %q = host.alloc : memref<8x2xf32>
  host.copy %p to %q : memref<8x2xf32>, memref<8x2xf32>
  func.return %q : memref<8x2xf32>
}

// RANKS: def ranks(h, rank, *, tp):
// RANKS: symm_mem.rendezvous(h, tp.group_name).put_signal(rank, 2)
// RANKS: symm_mem.rendezvous(h, tp.group_name).wait_signal(1, 2)
func.func @ranks(%h: memref<8xf32, #symm.space<"tp">>, %rank: i32) {
  %one = arith.constant 1 : i32
  symm.signal %h to %rank channel 2 : i32 : memref<8xf32, #symm.space<"tp">>, i32
  symm.wait %h from %one channel 2 : i32 : memref<8xf32, #symm.space<"tp">>, i32
  func.return
}

// Kernels stand before the program that launches them.
// KERNEL: import triton
// KERNEL: @triton.jit
// KERNEL-NEXT: def kernel_0_kernel(
// KERNEL: def kernel(x, *, tp):
// KERNEL: empty_strided_p2p(
// KERNEL: kernel_0_kernel[(4,)](x, h, BLOCK_0=16, num_warps={{[0-9]+}}, num_stages={{[0-9]+}})
func.func @kernel(%x: memref<64xf32>) -> memref<64xf32> {
  %h = host.alloc persistent "f.0" : memref<64xf32, #symm.space<"tp">>
  tile.grid (%i: b0=16) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    tile.store %v, %h[%i] : !tile.tile<b0=16 x f32>, memref<64xf32, #symm.space<"tp">>
  }
  %s = symm.all_reduce add %h group "tp" by one_shot : memref<64xf32, #symm.space<"tp">> to memref<64xf32>
  func.return %s : memref<64xf32>
}
