// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(convert-jagged-to-tile)' | filecheck %s
// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(convert-jagged-to-tile{resize=false})' | filecheck %s --check-prefix=KEEP

// An item's rows are a slice and its loop is an ordinary one. What nobody reads any more is gone.
// CHECK-LABEL: func.func @rows
// CHECK: tile.grid (%i: b0=1) in (100) {
// CHECK-NOT: jagged
// CHECK: tile.for %k: b1=16 in (0, %{{.+}}) iter(%a = %z) -> (!tile.tile<64 x f32>) {
// CHECK-NEXT: [[R:%.+]] = tile.shift %k by %{{.+}} : !tile.range<b1=16>
// CHECK-NEXT: tile.load %x[[[R]], :] : memref<999x64xf32> -> !tile.tile<b1=16 x 64 x f32>
// KEEP-LABEL: func.func @rows
// KEEP: tile.grid (%i: b0=8) in (100) {
// KEEP-NOT: jagged
// KEEP: tile.for %k: b1=16 in (0, %{{.+}}) iter(%a = %z) -> (!tile.tile<b0=8 x 64 x f32>) {
// KEEP: tile.load %x[{{.+}}] mask
func.func @rows(%x: memref<999x64xf32>, %lens: memref<100xi64>, %starts: memref<100xi64>, %sums: memref<100x64xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %lens[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    %s = tile.load %starts[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    %z = tile.full 0.0 : !tile.tile<b0=8 x 64 x f32>
    %r = jagged.for %k: b1=16 in %n iter(%a = %z) -> (!tile.tile<b0=8 x 64 x f32>) {
      %rows = jagged.rows %k from %s : !tile.range<b1=16>, !tile.tile<b0=8 x i64>
      %v = tile.load %x[%rows, :] : memref<999x64xf32> -> !tile.tile<b0=8 x b1=16 x 64 x f32>
      %t = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=16 x 64 x f32>
      %b = tile.add %a, %t : !tile.tile<b0=8 x 64 x f32>
      tile.yield %b : !tile.tile<b0=8 x 64 x f32>
    }
    tile.store %r, %sums[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>
  }
  func.return
}

// -----

// Nothing here can be rows of items, so the module stays as it is: the sum of 0 too.
// CHECK-LABEL: func.func @plain
// CHECK: arith.addi %n, %zero : index
// KEEP-LABEL: func.func @plain
// KEEP: arith.addi %n, %zero : index
func.func @plain(%x: memref<64xf32>, %n: index) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    %zero = arith.constant 0 : index
    %same = arith.addi %n, %zero : index
    tile.store %v, %x[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}
