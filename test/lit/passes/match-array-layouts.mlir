// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(functionalise-host,match-array-layouts)' --remarks 2>&1 | filecheck %s

// Of 64 columns XLA makes rows: blocks of 256 rows are whole tiles of these, and transposed where they are used.
// CHECK-DAG: remark: 'x' is taken by columns, as XLA lays it out
// CHECK-DAG: remark: 'out' is taken by columns, as XLA lays it out
// CHECK-DAG: remark: 'y' is taken in the order [1, 0, 2] of its dimensions, as XLA lays it out
// CHECK-LABEL: @columns
// CHECK-DAG: [[X:%.+]] = host.permute %x [1, 0] : memref<4096x64xf32> to memref<64x4096xf32>
// CHECK-DAG: [[OUT:%.+]] = host.permute %out [1, 0] : memref<4096x64xf32> to memref<64x4096xf32>
// CHECK: [[NEW:%.+]] = host.launch @columns
// CHECK: %[[V:.+]] = tile.load %{{.+}}[:, %i] : memref<64x4096xf32> -> !tile.tile<64 x b0=256 x f32>
// CHECK-NEXT: %v = tile.transpose %[[V]] [1, 0] : !tile.tile<64 x b0=256 x f32>
// CHECK: %[[W:.+]] = tile.transpose %w [1, 0] : !tile.tile<b0=256 x 64 x f32>
// CHECK-NEXT: tile.store %[[W]], %{{.+}}[:, %i] : !tile.tile<64 x b0=256 x f32>, memref<64x4096xf32>
// CHECK: host.permute [[NEW]] [1, 0] : memref<64x4096xf32> to memref<4096x64xf32>
func.func @columns(%x: memref<4096x64xf32>, %out: memref<4096x64xf32>) -> memref<4096x64xf32> {
  tile.grid (%i: b0=256) in (4096) {
    %v = tile.load %x[%i, :] : memref<4096x64xf32> -> !tile.tile<b0=256 x 64 x f32>
    %w = tile.exp %v : !tile.tile<b0=256 x 64 x f32>
    tile.store %w, %out[%i, :] : !tile.tile<b0=256 x 64 x f32>, memref<4096x64xf32>
  }
  func.return %out : memref<4096x64xf32>
}

// -----

// What a kernel transposes itself is there already.
// CHECK-LABEL: @transposed
// CHECK: [[X:%.+]] = host.permute %x [0, 2, 1] : memref<3x4096x64xf32> to memref<3x64x4096xf32>
// CHECK: %[[T:.+]] = tile.load %{{.+}}[%b, :, %i] : memref<3x64x4096xf32> -> !tile.tile<64 x b0=256 x f32>
// CHECK: tile.store %[[T]]
func.func @transposed(%x: memref<3x4096x64xf32>, %out: memref<3x64x4096xf32>) -> memref<3x64x4096xf32> {
  tile.grid (%n: b1=1, %i: b0=256) in (3, 4096) {
    %b = tile.id %n : !tile.range<b1=1>
    %v = tile.load %x[%b, %i, :] : memref<3x4096x64xf32> -> !tile.tile<b0=256 x 64 x f32>
    %t = tile.transpose %v [1, 0] : !tile.tile<b0=256 x 64 x f32>
    tile.store %t, %out[%b, :, %i] : !tile.tile<64 x b0=256 x f32>, memref<3x64x4096xf32>
  }
  func.return %out : memref<3x64x4096xf32>
}

// -----

// Rows along lanes already; blocks of 64 rows, which are no whole tile of the transposed array; a row by its number.
// CHECK-LABEL: @stay
// CHECK-NOT: host.permute
func.func @stay(%x: memref<4096x128xf32>, %y: memref<4096x64xf32>, %z: memref<4096x64xf32>, %out: memref<4096x128xf32>) -> memref<4096x128xf32> {
  tile.grid (%i: b0=64) in (4096) {
    %v = tile.load %x[%i, :] : memref<4096x128xf32> -> !tile.tile<b0=64 x 128 x f32>
    %w = tile.load %y[%i, :] : memref<4096x64xf32> -> !tile.tile<b0=64 x 64 x f32>
    %z0 = tile.load %z[0, :] : memref<4096x64xf32> -> !tile.tile<64 x f32>
    %r = tile.broadcast %z0 dims [1] : !tile.tile<64 x f32> to !tile.tile<b0=64 x 64 x f32>
    %s = tile.add %w, %r : !tile.tile<b0=64 x 64 x f32>
    %m = tile.reduce max %s [1] : !tile.tile<b0=64 x 64 x f32>
    %n = tile.broadcast %m dims [0] : !tile.tile<b0=64 x f32> to !tile.tile<b0=64 x 128 x f32>
    %o = tile.add %v, %n : !tile.tile<b0=64 x 128 x f32>
    tile.store %o, %out[%i, :] : !tile.tile<b0=64 x 128 x f32>, memref<4096x128xf32>
  }
  func.return %out : memref<4096x128xf32>
}

// -----

// What a launch gives to another is swapped in neither where one takes it by blocks of 64 rows.
// CHECK-LABEL: @between
// CHECK: host.permute %x [1, 0]
// CHECK: [[Y:%.+]] = host.launch @between_0
// CHECK-NOT: host.permute
// CHECK: host.launch @between_1 (%y_2 = [[Y]]
func.func @between(%x: memref<4096x64xf32>, %y: memref<4096x64xf32>, %out: memref<4096xf32>) -> memref<4096xf32> {
  tile.grid (%i: b0=256) in (4096) {
    %v = tile.load %x[%i, :] : memref<4096x64xf32> -> !tile.tile<b0=256 x 64 x f32>
    tile.store %v, %y[%i, :] : !tile.tile<b0=256 x 64 x f32>, memref<4096x64xf32>
  }
  tile.grid (%j: b1=64) in (4096) {
    %w = tile.load %y[%j, :] : memref<4096x64xf32> -> !tile.tile<b1=64 x 64 x f32>
    %s = tile.reduce add %w [1] : !tile.tile<b1=64 x 64 x f32>
    tile.store %s, %out[%j] : !tile.tile<b1=64 x f32>, memref<4096xf32>
  }
  func.return %out : memref<4096xf32>
}

// -----

// Of 513 rows XLA makes no rows of tiles, but of the 4 items: these are whole in each block.
// CHECK-LABEL: @items
// CHECK: host.permute %y [1, 0, 2] : memref<4x513x256xbf16> to memref<513x4x256xbf16>
// CHECK: %[[V:.+]] = tile.load %{{.+}}[%i, :, :] : memref<513x4x256xbf16> -> !tile.tile<b0=128 x 4 x 256 x bf16>
// CHECK-NEXT: %v = tile.transpose %[[V]] [1, 0, 2] : !tile.tile<b0=128 x 4 x 256 x bf16>
func.func @items(%y: memref<4x513x256xbf16>, %out: memref<4x512x256xbf16>) -> memref<4x512x256xbf16> {
  tile.grid (%i: b0=128) in (512) {
    %v = tile.load %y[:, %i, :] : memref<4x513x256xbf16> -> !tile.tile<4 x b0=128 x 256 x bf16>
    tile.store %v, %out[:, %i, :] : !tile.tile<4 x b0=128 x 256 x bf16>, memref<4x512x256xbf16>
  }
  func.return %out : memref<4x512x256xbf16>
}

// -----

// Scalar memory, which single elements are loaded from, has no tiles: no block is transposed.
// CHECK-LABEL: @pages
// CHECK: host.permute %table [1, 0] : memref<32x16xi32> to memref<16x32xi32>
// CHECK: %page = tile.load %{{.+}}[%five, %s] : memref<16x32xi32> -> !tile.tile<i32>
func.func @pages(%table: memref<32x16xi32>, %out: memref<32xi32>) -> memref<32xi32> {
  tile.grid (%i: b0=1) in (32) {
    %s = tile.begin %i : !tile.range<b0=1>
    %five = arith.constant 5 : index
    %page = tile.load %table[%s, %five] : memref<32x16xi32> -> !tile.tile<i32>
    tile.store %page, %out[%s] : !tile.tile<i32>, memref<32xi32>
  }
  func.return %out : memref<32xi32>
}
