// RUN: kopt %s -p 'pad-to-power-of-two,insert-masks{fold-loads=true},convert-tile-to-triton' -t triton-py --entry wide | filecheck %s
// RUN: kopt %s -p 'pad-to-power-of-two,insert-masks{fold-loads=true},convert-tile-to-triton' -t triton-py --entry host | filecheck %s --check-prefix=HOST
// RUN: kopt %s -p 'pad-to-power-of-two,insert-masks{fold-loads=true},convert-tile-to-triton' -t triton-py --entry cells | filecheck %s --check-prefix=CELLS

// Offsets beyond 2^31 are computed in 64 bits, in the dimensions that need them.
// CHECK-LABEL: def wide_0_kernel(x, t, BLOCK_0: tl.constexpr, BLOCK_1: tl.constexpr):
// CHECK:      v = tl.load(x + i[:, None].to(tl.int64) * 65536 + j[None, :])
// CHECK:      n = tl.load(t + i)
// CHECK:      tl.store(x + n[:, None] * 65536 + j[None, :], v)
func.func @wide(%x: memref<65536x65536xf32>, %t: memref<65536xi64>) {
  tile.grid (%i: b0=16, %j: b1=128) in (65536, 65536) {
    %v = tile.load %x[%i, %j] : memref<65536x65536xf32> -> !tile.tile<b0=16 x b1=128 x f32>
    %n = tile.load %t[%i] : memref<65536xi64> -> !tile.tile<b0=16 x i64>
    tile.store %v, %x[%n, %j] : !tile.tile<b0=16 x b1=128 x f32>, memref<65536x65536xf32>
  }
  func.return
}

// The number of a program is a tensor, and widened as one; what is computed of constants alone is Python's own.
// CELLS:      def cells_0_kernel(x):
// CELLS:      row = 0 % 3
// CELLS:      tl.store(x + row * 6 + all_2
// CELLS:      def cells_1_kernel(x):
// CELLS:      row = pid % 3
// CELLS:      tl.store(x + row.to(tl.int64) * 6 + all_2
func.func @cells(%x: memref<8x6xf32>) {
  %three = arith.constant 3 : index
  tile.grid (%i: b0=1) in (1) {
    %all = tile.whole 6 : !tile.range<b1=6>
    %n = tile.begin %i : !tile.range<b0=1>
    %row = arith.remsi %n, %three : index
    %v = tile.full 1.0 : !tile.tile<b1=6 x f32>
    tile.store %v, %x[%row, %all] : !tile.tile<b1=6 x f32>, memref<8x6xf32>
  }
  tile.grid (%i: b2=1) in (8) {
    %all = tile.whole 6 : !tile.range<b3=6>
    %n = tile.begin %i : !tile.range<b2=1>
    %row = arith.remsi %n, %three : index
    %v = tile.full 1.0 : !tile.tile<b3=6 x f32>
    tile.store %v, %x[%row, %all] : !tile.tile<b3=6 x f32>, memref<8x6xf32>
  }
  func.return
}

// HOST-LABEL: def host(x):
// HOST:      turned = x.permute((1, 0))
// HOST:      rows = x[2:9, 0:5:2]
// HOST:      flat = x.view((60,))
// HOST:      wide = x.expand((3, 10, 6))
// HOST:      sums = torch.ops.aten.sum.dim_IntList(x, [1], False)
// HOST:      filled = torch.full((10,), float("-inf"), dtype=torch.float32, device=x.device)
// HOST:      filled.copy_(sums)
// HOST:      return turned, rows, flat, wide, filled
func.func @host(%x: memref<10x6xf32>) -> (memref<6x10xf32, strided<[1, 6]>>, memref<7x3xf32, strided<[6, 2], offset: 12>>, memref<60xf32>, memref<3x10x6xf32, strided<[0, 6, 1]>>, memref<10xf32>) {
  %turned = host.permute %x [1, 0] : memref<10x6xf32> to memref<6x10xf32, strided<[1, 6]>>
  %rows = host.slice %x [2, 0] [7, 3] [1, 2] : memref<10x6xf32> to memref<7x3xf32, strided<[6, 2], offset: 12>>
  %flat = host.reshape %x : memref<10x6xf32> to memref<60xf32>
  %wide = host.expand %x : memref<10x6xf32> to memref<3x10x6xf32, strided<[0, 6, 1]>>
  %sums = host.call "aten.sum.dim_IntList"(%x) args [unit, [1 : i64], false] : (memref<10x6xf32>) -> (memref<10xf32>)
  %filled = host.alloc fill -inf : memref<10xf32>
  host.copy %sums to %filled : memref<10xf32>, memref<10xf32>
  func.return %turned, %rows, %flat, %wide, %filled : memref<6x10xf32, strided<[1, 6]>>, memref<7x3xf32, strided<[6, 2], offset: 12>>, memref<60xf32>, memref<3x10x6xf32, strided<[0, 6, 1]>>, memref<10xf32>
}
