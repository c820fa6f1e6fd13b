// RUN: kopt %s --split-input-file --verify-each -p collapse-contiguous | filecheck %s

// Rows of an odd number of elements: all of an array is one row, with the blocks' lanes.
// CHECK-LABEL: func.func @odd
// CHECK: [[X:%.+]] = host.reshape %x : memref<4096x2501xbf16> to memref<10244096xbf16>
// CHECK: [[OUT:%.+]] = host.reshape %out
// CHECK: tile.grid (%i: b2=2048) in (10244096) {
// CHECK-NEXT: %v = tile.load [[X]][%i] : memref<10244096xbf16> -> !tile.tile<b2=2048 x bf16>
// CHECK-NEXT: %e = tile.cast %v : !tile.tile<b2=2048 x bf16> to !tile.tile<b2=2048 x f32>
// CHECK-NEXT: tile.store %e, [[OUT]][%i]
func.func @odd(%x: memref<4096x2501xbf16>, %out: memref<4096x2501xf32>) {
  tile.grid (%i: b0=4, %j: b1=512) in (4096, 2501) {
    %v = tile.load %x[%i, %j] : memref<4096x2501xbf16> -> !tile.tile<b0=4 x b1=512 x bf16>
    %e = tile.cast %v : !tile.tile<b0=4 x b1=512 x bf16> to !tile.tile<b0=4 x b1=512 x f32>
    tile.store %e, %out[%i, %j] : !tile.tile<b0=4 x b1=512 x f32>, memref<4096x2501xf32>
  }
  func.return
}

// -----

// Rows of whole blocks too: a place is one sum.
// CHECK-LABEL: func.func @even
// CHECK: tile.grid (%i: b2=2048) in (65536) {
func.func @even(%x: memref<64x1024xbf16>, %out: memref<64x1024xf32>) {
  tile.grid (%i: b0=4, %j: b1=512) in (64, 1024) {
    %v = tile.load %x[%i, %j] : memref<64x1024xbf16> -> !tile.tile<b0=4 x b1=512 x bf16>
    %e = tile.cast %v : !tile.tile<b0=4 x b1=512 x bf16> to !tile.tile<b0=4 x b1=512 x f32>
    tile.store %e, %out[%i, %j] : !tile.tile<b0=4 x b1=512 x f32>, memref<64x1024xf32>
  }
  func.return
}

// -----

// What is not lane by lane stays, and so does what is not all of an array.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: tile.grid (%{{.+}}: b{{.}}=4, %{{.+}}: b{{.}}=512)
func.func @kept(%y: memref<64x999xbf16>, %row: memref<999xbf16>, %z: memref<64x2000xbf16>) {
  tile.grid (%a: b2=4, %b: b3=512) in (64, 999) {
    %r = tile.load %row[%b] : memref<999xbf16> -> !tile.tile<b3=512 x bf16>
    %w = tile.broadcast %r dims [1] : !tile.tile<b3=512 x bf16> to !tile.tile<b2=4 x b3=512 x bf16>
    tile.store %w, %y[%a, %b] : !tile.tile<b2=4 x b3=512 x bf16>, memref<64x999xbf16>
  }
  tile.grid (%c: b4=4, %d: b5=512) in (64, 999) {
    %v = tile.load %z[%c, %d] : memref<64x2000xbf16> -> !tile.tile<b4=4 x b5=512 x bf16>
    tile.store %v, %y[%c, %d] : !tile.tile<b4=4 x b5=512 x bf16>, memref<64x999xbf16>
  }
  func.return
}
