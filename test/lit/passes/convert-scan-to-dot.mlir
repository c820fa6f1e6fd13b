// RUN: kopt %s --split-input-file --verify-each -p 'convert-scan-to-dot{chip=v6e}' | filecheck %s
// RUN: kopt %s --split-input-file --verify-each -p 'convert-scan-to-dot{chip=v5e}' | filecheck %s --check-prefix=V5E

// Of bf16: one product of the numbers, and one that counts what is not finite; a chip without bf16 vectors compares f32.
// CHECK-LABEL: @narrow
// CHECK: %[[N:.*]] = tile.cast %v : !tile.tile<b0=8 x b1=64 x f32> to !tile.tile<b0=8 x b1=64 x bf16>
// CHECK: %[[IS:.*]] = tile.eq %[[N]], %[[N]] : !tile.tile<b0=8 x b1=64 x bf16>
// CHECK: %[[BEYOND:.*]] = tile.sub %[[N]], %[[CLAMPED:.*]] : !tile.tile<b0=8 x b1=64 x bf16>
// CHECK: %finite = tile.select %[[IS]], %[[CLAMPED]], %{{.*}}
// CHECK: %flags = tile.select %[[IS]], %{{.*}}, %{{.*}}
// CHECK: %[[ADDS:.*]] = tile.le %{{.*}} : !tile.tile<b1=64 x b1=64 x i32>
// CHECK: %ones = tile.cast
// CHECK: %sums = tile.dot %finite, %ones : !tile.tile<b0=8 x b1=64 x bf16>, !tile.tile<b1=64 x b1=64 x bf16>
// CHECK: %counts = tile.dot %flags, %ones
// CHECK-NOT: tile.dot
// CHECK: tile.floor %counts
// CHECK: tile.lt %counts
// V5E-LABEL: @narrow
// V5E: tile.eq %v, %v : !tile.tile<b0=8 x b1=64 x f32>
// V5E-COUNT-2: tile.dot %{{.*}}, %ones : !tile.tile<b0=8 x b1=64 x bf16>
// V5E-NOT: tile.dot
func.func @narrow(%x: memref<8x64xbf16>, %o: memref<8x64xf32>) {
  tile.grid (%i: b0=8, %j: b1=64) in (8, 64) {
    %n = tile.load %x[%i, %j] : memref<8x64xbf16> -> !tile.tile<b0=8 x b1=64 x bf16>
    %v = tile.cast %n : !tile.tile<b0=8 x b1=64 x bf16> to !tile.tile<b0=8 x b1=64 x f32>
    %s = tile.scan add %v dim 1 : !tile.tile<b0=8 x b1=64 x f32>
    tile.store %s, %o[%i, %j] : !tile.tile<b0=8 x b1=64 x f32>, memref<8x64xf32>
  }
  func.return
}

// -----

// f32 is three parts, which one product adds where they are whole registers. From behind, blocks of lanes are taken from the last on, and rows add to the lanes before them.
// CHECK-LABEL: @wide
// V5E-LABEL: @wide
// CHECK: tile.slice %v [0, 256] [8, 44]
// CHECK: tile.bitcast
// CHECK: tile.ge
// CHECK-COUNT-4: tile.dot %{{.*}} : !tile.tile<b0=8 x 44 x bf16>, !tile.tile<44 x 44 x bf16>
// CHECK-NOT: tile.dot
// CHECK: tile.slice %v [0, 0] [8, 256]
// CHECK: tile.dot %{{.*}} : !tile.tile<b0=8 x 768 x bf16>, !tile.tile<768 x 256 x bf16>
// CHECK: tile.dot %{{.*}} : !tile.tile<b0=8 x 256 x bf16>, !tile.tile<256 x 256 x bf16>
// CHECK-NOT: tile.dot
// CHECK: tile.slice %{{.*}} [0, 0] [8, 1] [1, 1] : !tile.tile<b0=8 x 44 x f32>
// CHECK: %s = tile.concat
func.func @wide(%x: memref<8x300xf32>, %o: memref<8x300xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i, :] : memref<8x300xf32> -> !tile.tile<b0=8 x 300 x f32>
    %s = tile.scan add %v dim 1 reverse : !tile.tile<b0=8 x 300 x f32>
    tile.store %s, %o[%i, :] : !tile.tile<b0=8 x 300 x f32>, memref<8x300xf32>
  }
  func.return
}

// -----

// The sum of what is scanned is the last lane, wherever it stands; with a dimension of one lane it has that.
// CHECK-LABEL: @total
// CHECK-NOT: tile.reduce add %v [1]
// CHECK: %[[LAST:.*]] = tile.slice %{{.*}} [0, 63] [8, 1] [1, 1] : !tile.tile<b0=8 x 64 x f32>
// CHECK: %[[WHOLE:.*]] = tile.reshape %[[LAST]] : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x f32>
// CHECK-NOT: tile.reduce add %v [1]
// CHECK: %m = tile.reduce max %v [1]
// CHECK: tile.store %[[WHOLE]], %t
// CHECK: tile.store %[[LAST]], %k
func.func @total(%x: memref<8x64xf32>, %o: memref<8x64xf32>, %t: memref<8xf32>, %u: memref<8xf32>, %k: memref<8x1xf32>) {
  tile.grid (%i: b0=8, %j: b1=64) in (8, 64) {
    %v = tile.load %x[%i, %j] : memref<8x64xf32> -> !tile.tile<b0=8 x b1=64 x f32>
    %a = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=64 x f32>
    %s = tile.scan add %v dim 1 : !tile.tile<b0=8 x b1=64 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=64 x f32>
    %c = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=64 x f32>
    %d = tile.reshape %c : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1 x f32>
    tile.store %s, %o[%i, %j] : !tile.tile<b0=8 x b1=64 x f32>, memref<8x64xf32>
    tile.store %a, %t[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
    tile.store %m, %u[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
    tile.store %d, %k[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<8x1xf32>
  }
  func.return
}

// -----

// What stays: other kinds, other dimensions, integers, and few lanes.
// CHECK-LABEL: @stay
// CHECK-NOT: tile.dot
func.func @stay(%x: memref<64x64xf32>, %k: memref<64x64xi32>, %o: memref<64x64xf32>, %c: memref<64x64xi32>, %y: memref<64x8xf32>) {
  tile.grid (%i: b0=64) in (64) {
    %v = tile.load %x[%i, :] : memref<64x64xf32> -> !tile.tile<b0=64 x 64 x f32>
    %n = tile.load %k[%i, :] : memref<64x64xi32> -> !tile.tile<b0=64 x 64 x i32>
    %w = tile.load %y[%i, :] : memref<64x8xf32> -> !tile.tile<b0=64 x 8 x f32>
    %a = tile.scan max %v dim 1 : !tile.tile<b0=64 x 64 x f32>
    %b = tile.scan add %a dim 0 : !tile.tile<b0=64 x 64 x f32>
    %d = tile.scan add %n dim 1 : !tile.tile<b0=64 x 64 x i32>
    %e = tile.scan add %w dim 1 : !tile.tile<b0=64 x 8 x f32>
    tile.store %b, %o[%i, :] : !tile.tile<b0=64 x 64 x f32>, memref<64x64xf32>
    tile.store %d, %c[%i, :] : !tile.tile<b0=64 x 64 x i32>, memref<64x64xi32>
    tile.store %e, %y[%i, :] : !tile.tile<b0=64 x 8 x f32>, memref<64x8xf32>
  }
  func.return
}
