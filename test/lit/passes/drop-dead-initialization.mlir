// RUN: kopt %s --split-input-file -p drop-dead-initialization,drop-dead-arrays --remarks 2>&1 | filecheck %s

// Every element is written before it is read: no fill, no copy, no call, and the constant that was copied is gone too.
// CHECK: remark: nothing is copied into 'c': every element is written before it is read
// CHECK: remark: 'b' is not computed: every element is written before it is read
// CHECK: remark: 'a' is not filled: every element is written before it is read
// CHECK: remark: 'sum' is filled first: the rmw at line {{[0-9]+}} reads it
// CHECK: remark: 'part' is filled first: the store at line {{[0-9]+}} leaves out element [90]
// CHECK-LABEL: func.func @whole
// CHECK-NEXT: %a = host.alloc : memref<100xf32>
// CHECK-NEXT: %b = host.alloc : memref<100xf32>
// CHECK-NEXT: %rows = host.reshape %b
// CHECK-NEXT: %c = host.alloc : memref<100xf32>
// CHECK-NEXT: tile.grid
func.func @whole(%x: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>, memref<100xf32>) {
  %a = host.alloc fill 0.0 : memref<100xf32>
  %b = host.call "aten.sin.default"(%x) args [unit] : (memref<100xf32>) -> (memref<100xf32>)
  %rows = host.reshape %b : memref<100xf32> to memref<10x10xf32>
  %c = host.alloc : memref<100xf32>
  %one = host.alloc fill 1.0 : memref<100xf32>
  host.copy %one to %c : memref<100xf32>, memref<100xf32>
  tile.grid (%i: b0=64) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=64 x f32>
    tile.store %v, %a[%i] : !tile.tile<b0=64 x f32>, memref<100xf32>
    %w = tile.load %a[%i] : memref<100xf32> -> !tile.tile<b0=64 x f32>
    tile.store %w, %c[%i] : !tile.tile<b0=64 x f32>, memref<100xf32>
  }
  tile.grid (%j: b1=4) in (10) {
    %v = tile.load %x[0:10] : memref<100xf32> -> !tile.tile<10 x f32>
    %r = tile.broadcast %v dims [1] : !tile.tile<10 x f32> to !tile.tile<b1=4 x 10 x f32>
    tile.store %r, %rows[%j, :] : !tile.tile<b1=4 x 10 x f32>, memref<10x10xf32>
  }
  func.return %a, %b, %c : memref<100xf32>, memref<100xf32>, memref<100xf32>
}

// -----

// Two launches write a half each; nothing is read between.
// CHECK-LABEL: func.func @halves
// CHECK-NEXT: %a = host.alloc : memref<100xf32>
func.func @halves(%x: memref<100xf32>) -> memref<100xf32> {
  %a = host.alloc fill 0.0 : memref<100xf32>
  tile.grid (%i: b0=10) in (50) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=10 x f32>
    tile.store %v, %a[%i] : !tile.tile<b0=10 x f32>, memref<100xf32>
  }
  tile.grid (%j: b1=10) in (50 to 100) {
    %v = tile.load %x[%j] : memref<100xf32> -> !tile.tile<b1=10 x f32>
    tile.store %v, %a[%j] : !tile.tile<b1=10 x f32>, memref<100xf32>
  }
  func.return %a : memref<100xf32>
}

// -----

// Left out elements, masks, atomic updates and reads before keep what was there first, and say so (at the top).
// CHECK-LABEL: func.func @kept
// CHECK: %part = host.alloc fill 0.0
// CHECK: %masked = host.call "aten.clone.default"
// CHECK: %sum = host.alloc fill 0.0
// CHECK: host.copy %x to %old
func.func @kept(%x: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>, memref<1xf32>, memref<100xf32>) {
  %part = host.alloc fill 0.0 : memref<100xf32>
  %masked = host.call "aten.clone.default"(%x) args [unit] : (memref<100xf32>) -> (memref<100xf32>)
  %sum = host.alloc fill 0.0 : memref<1xf32>
  %old = host.alloc : memref<100xf32>
  host.copy %x to %old : memref<100xf32>, memref<100xf32>
  tile.grid (%i: b0=10) in (90) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=10 x f32>
    tile.store %v, %part[%i] : !tile.tile<b0=10 x f32>, memref<100xf32>
  }
  tile.grid (%j: b1=64) in (100) {
    %v = tile.load %x[%j] : memref<100xf32> -> !tile.tile<b1=64 x f32>
    %w = tile.load %old[%j] : memref<100xf32> -> !tile.tile<b1=64 x f32>
    %m = tile.lt %v, %w : !tile.tile<b1=64 x f32>
    tile.store %v, %masked[%j] mask %m : !tile.tile<b1=64 x f32>, memref<100xf32>
    tile.store %v, %old[%j] : !tile.tile<b1=64 x f32>, memref<100xf32>
    %s = tile.reduce add %v [0] : !tile.tile<b1=64 x f32>
    atomic.rmw add %s, %sum[0] : !tile.tile<f32>, memref<1xf32>
  }
  func.return %part, %masked, %sum, %old : memref<100xf32>, memref<100xf32>, memref<1xf32>, memref<100xf32>
}
