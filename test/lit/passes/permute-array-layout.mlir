// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(functionalise-host,permute-array-layout)' --remarks 2>&1 | filecheck %s

// One head of each row: rows of one head stand together on the chip, and the result is put back.
// CHECK-DAG: remark: 'x' is transposed to [1, 0, 2]
// CHECK-DAG: remark: 'out' is transposed to [1, 0, 2]
// CHECK-LABEL: @heads
// CHECK-DAG: [[X:%.+]] = host.permute %x [1, 0, 2]
// CHECK-DAG: [[OUT:%.+]] = host.permute %out [1, 0, 2]
// CHECK: [[NEW:%.+]] = host.launch
// CHECK: tile.load %{{.*}}[%h, %k, :] : memref<4x64x128xf32>
// CHECK: tile.store %v, %{{.*}}[%h, %k, :]
// CHECK: host.permute [[NEW]] [1, 0, 2]
func.func @heads(%x: memref<64x4x128xf32>, %bounds: memref<1xi32>, %out: memref<64x4x128xf32>) -> memref<64x4x128xf32> {
  tile.grid (%g: b9=1) in (4) {
    %h = tile.id %g : !tile.range<b9=1>
    %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    tile.for %k: b0=8 in (%n, 64) {
      %v = tile.load %x[%k, %h, :] : memref<64x4x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      tile.store %v, %out[%k, %h, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x4x128xf32>
    }
  }
  func.return %out : memref<64x4x128xf32>
}

// -----

// Blocks at multiples of 8 rows, and an array whose rows stand together: as they are.
// CHECK-LABEL: @stay
// CHECK-NOT: host.permute
func.func @stay(%x: memref<64x4x128xf32>, %y: memref<4x64x128xf32>, %bounds: memref<1xi32>, %out: memref<64x128xf32>) {
  tile.grid (%g: b9=1) in (4) {
    %h = tile.id %g : !tile.range<b9=1>
    %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    tile.for %k: b0=8 in (0, 64) {
      %v = tile.load %x[%k, %h, :] : memref<64x4x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      tile.store %v, %out[%k, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x128xf32>
    }
    tile.for %k: b1=8 in (%n, 64) {
      %v = tile.load %y[%h, %k, :] : memref<4x64x128xf32> -> !tile.tile<b1=8 x 128 x f32>
      tile.store %v, %out[%k, :] : !tile.tile<b1=8 x 128 x f32>, memref<64x128xf32>
    }
  }
  func.return
}
