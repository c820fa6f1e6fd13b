// RUN: kopt %s --verify-each -p plan-walks | filecheck %s
// RUN: kopt %s --verify-each --remarks -p plan-walks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: kopt %s --verify-each -p 'plan-walks{chip=v6e}' | filecheck %s --check-prefix=TPU

// Rows that registers do not hold are walked by as many lanes as a tile should have; VMEM holds these.
// CHECK-LABEL: func.func @softmax
// CHECK: tile.grid (%i: b0=1) in (1024) plan {order [i] parallel [i] walk(dim 1 of %x: b1=8192, online)} {
// TPU-LABEL: func.func @softmax
// TPU: tile.grid (%i: b0=1) in (1024) {
func.func @softmax(%x: memref<1024x131072xf32>, %out: memref<1024x131072xf32>) {
  tile.grid (%i: b0=1) in (1024) {
    %v = tile.load %x[%i, :] : memref<1024x131072xf32> -> !tile.tile<b0=1 x 131072 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=1 x 131072 x f32>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=1 x f32> to !tile.tile<b0=1 x 131072 x f32>
    %d = tile.sub %v, %b : !tile.tile<b0=1 x 131072 x f32>
    %e = tile.exp %d : !tile.tile<b0=1 x 131072 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=1 x 131072 x f32>
    %c = tile.broadcast %s dims [0] : !tile.tile<b0=1 x f32> to !tile.tile<b0=1 x 131072 x f32>
    %r = tile.div %e, %c : !tile.tile<b0=1 x 131072 x f32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=1 x 131072 x f32>, memref<1024x131072xf32>
  }
  func.return
}

// Rows of millions are too long for VMEM as well. No sum is rescaled here. Rows beside one another share the lanes.
// CHECK-LABEL: func.func @sums
// CHECK: plan {order [i] parallel [i] walk(dim 1 of %x: b1=1024, passes)} {
// TPU-LABEL: func.func @sums
// TPU: plan {order [i] parallel [i] walk(dim 1 of %x: b1=32768, passes)} {
func.func @sums(%x: memref<64x4000000xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :] : memref<64x4000000xf32> -> !tile.tile<b0=8 x 4000000 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 4000000 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// REMARK: [[#]]:10: remark: dimension 1 of 'y' is not walked: tile.scan takes it in one piece
// REMARK-NOT: remark

// What is held, what is taken in one piece, and what combines no lanes stays whole. A plan that is there is kept.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: walk(
// TPU-LABEL: func.func @whole
// TPU-NOT: walk(
func.func @whole(%x: memref<64x32768xf32>, %y: memref<64x65536xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=1) in (64) {
    %v = tile.load %x[%i, :] : memref<64x32768xf32> -> !tile.tile<b0=1 x 32768 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=1 x 32768 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=1 x f32>, memref<64xf32>
  }
  tile.grid (%i: b1=1) in (64) {
    %v = tile.load %y[%i, :] : memref<64x65536xf32> -> !tile.tile<b1=1 x 65536 x f32>
    %t = tile.scan add %v dim 1 : !tile.tile<b1=1 x 65536 x f32>
    %s = tile.reduce max %t [1] : !tile.tile<b1=1 x 65536 x f32>
    tile.store %s, %out[%i] : !tile.tile<b1=1 x f32>, memref<64xf32>
  }
  tile.grid (%i: b2=1) in (64) {
    %v = tile.load %y[%i, :] : memref<64x65536xf32> -> !tile.tile<b2=1 x 65536 x f32>
    %t = tile.exp %v : !tile.tile<b2=1 x 65536 x f32>
    tile.store %t, %y[%i, :] : !tile.tile<b2=1 x 65536 x f32>, memref<64x65536xf32>
  }
  tile.grid (%i: b3=1) in (64) plan {order [i] warps 16} {
    %v = tile.load %y[%i, :] : memref<64x65536xf32> -> !tile.tile<b3=1 x 65536 x f32>
    %s = tile.reduce max %v [1] : !tile.tile<b3=1 x 65536 x f32>
    tile.store %s, %out[%i] : !tile.tile<b3=1 x f32>, memref<64xf32>
  }
  func.return
}
