// RUN: kopt %s -p 'insert-masks{fold-loads=true},convert-tile-to-triton' -t triton-py --entry matmul | filecheck %s
// RUN: kopt %s -p 'insert-masks{fold-loads=true},convert-tile-to-triton' -t triton-py --entry branches | filecheck %s --check-prefix=BRANCH

// Rows of blocks are grouped, of which the last group has one; a carried value is assigned in place; two that depend
// on each other at once.
// Block sizes are parameters, and the numbers of blocks have names.
// CHECK-LABEL: def matmul_0_kernel(x, y, out, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr, BLOCK_2: tl.constexpr):
// CHECK-NEXT: # only written: out
// CHECK:      pid = tl.program_id(0)
// CHECK-NEXT: GROUP_M: tl.constexpr = 8
// CHECK-NEXT: j_blocks: tl.constexpr = 3
// CHECK-NEXT: group_cells = GROUP_M * j_blocks
// CHECK-NEXT: first = pid // group_cells * GROUP_M
// CHECK-NEXT: i_blocks: tl.constexpr = 17
// CHECK-NEXT: group = min(i_blocks - first, GROUP_M)
// CHECK-NEXT: inside = pid % group_cells
// CHECK-NEXT: i_block = first + inside % group
// CHECK-NEXT: j_block = inside // group
// CHECK:      acc = tl.zeros([BLOCK_0, BLOCK_1], tl.float32)
// CHECK-NEXT: # loops.mlir:{{.*}} tile.for
// CHECK-NEXT: for k_begin in range(0, 600, BLOCK_2):
// CHECK-NEXT:     k = k_begin + tl.arange(0, BLOCK_2)
// CHECK-NEXT:     k_mask = k < 600
// CHECK:          acc = tl.dot(l, r, acc, input_precision="ieee")
// CHECK:      tl.store(out + (i[:, None] * 96 + j[None, :]), acc.to(tl.bfloat16))
// CHECK:      matmul_0_kernel[(51,)](x, y, out, BLOCK_0=32, BLOCK_1=32, BLOCK_2=64, num_warps={{[0-9]+}}, num_stages={{[0-9]+}})
func.func @matmul(%x: memref<544x600xf32>, %y: memref<600x96xf32>) -> memref<544x96xbf16> {
  %out = host.alloc : memref<544x96xbf16>
  tile.grid (%i: b0=32, %j: b1=32) in (544, 96) {
    %z = tile.full 0.0 : !tile.tile<b0=32 x b1=32 x f32>
    %acc = tile.for %k: b2=64 in (0, 600) iter(%a = %z) -> (!tile.tile<b0=32 x b1=32 x f32>) {
      %l = tile.load %x[%i, %k] : memref<544x600xf32> -> !tile.tile<b0=32 x b2=64 x f32>
      %r = tile.load %y[%k, %j] : memref<600x96xf32> -> !tile.tile<b2=64 x b1=32 x f32>
      %d = tile.dot %l, %r, %a : !tile.tile<b0=32 x b2=64 x f32>, !tile.tile<b2=64 x b1=32 x f32> -> !tile.tile<b0=32 x b1=32 x f32>
      tile.yield %d : !tile.tile<b0=32 x b1=32 x f32>
    }
    %0 = tile.cast %acc : !tile.tile<b0=32 x b1=32 x f32> to !tile.tile<b0=32 x b1=32 x bf16>
    tile.store %0, %out[%i, %j] : !tile.tile<b0=32 x b1=32 x bf16>, memref<544x96xbf16>
  }
  func.return %out : memref<544x96xbf16>
}

// BRANCH-LABEL: def branches_0_kernel(x, n):
// BRANCH:      n_block = tl.load(n + pid)
// BRANCH-NEXT: # loops.mlir:{{.*}} %zero = tile.full
// BRANCH-NEXT: a = tl.full([], 0.0, tl.float32)
// BRANCH-NEXT: # loops.mlir:{{.*}} %one = tile.full
// BRANCH-NEXT: b = tl.full([], 1.0, tl.float32)
// BRANCH-NEXT: # loops.mlir:{{.*}} tile.for
// BRANCH-NEXT: for j in range(n_block):
// BRANCH-NEXT:     # loops.mlir
// BRANCH-NEXT:     a, b = b, a + b
// BRANCH-NEXT: # loops.mlir
// BRANCH-NEXT: if n_block > 5:
// BRANCH-NEXT:     # loops.mlir
// BRANCH-NEXT:     r = a * 2.0
// BRANCH-NEXT: else:
// BRANCH-NEXT:     # loops.mlir
// BRANCH-NEXT:     r = b
// BRANCH-NEXT: # loops.mlir
// BRANCH-NEXT: tl.store(x + pid, r)
func.func @branches(%x: memref<8xf32>, %n: memref<8xi32>) {
  tile.grid (%i: b0=1) in (8) {
    %begin = tile.begin %i : !tile.range<b0=1>
    %0 = tile.load %n[%begin] : memref<8xi32> -> !tile.tile<i32>
    %end = tile.extract %0 : !tile.tile<i32> to index
    %zero = tile.full 0.0 : !tile.tile<f32>
    %one = tile.full 1.0 : !tile.tile<f32>
    %a, %b = tile.for %j: b1=1 in (0, %end) iter(%p = %zero, %q = %one) -> (!tile.tile<f32>, !tile.tile<f32>) {
      %sum = tile.add %p, %q : !tile.tile<f32>
      tile.yield %q, %sum : !tile.tile<f32>, !tile.tile<f32>
    }
    %five = tile.full 5 : !tile.tile<i32>
    %1 = tile.gt %0, %five : !tile.tile<i32>
    %many = tile.extract %1 : !tile.tile<i1> to i1
    %r = scf.if %many -> (!tile.tile<f32>) {
      %two = tile.full 2.0 : !tile.tile<f32>
      %3 = tile.mul %a, %two : !tile.tile<f32>
      scf.yield %3 : !tile.tile<f32>
    } else {
      scf.yield %b : !tile.tile<f32>
    }
    tile.store %r, %x[%begin] : !tile.tile<f32>, memref<8xf32>
  }
  func.return
}
