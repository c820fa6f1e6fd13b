// Loads and stores of memrefs, and of refs on the chip, by every kind of index.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @loads(%x: memref<100x64x3xf32>, %ids: memref<100xi32>, %n: index) {
  tile.grid (%i: b0=16, %j: b1=32) in (100, 64) {
    // CHECK: tile.load %x[%i, %j, 2] : memref<100x64x3xf32> -> !tile.tile<b0=16 x b1=32 x f32>
    %a = tile.load %x[%i, %j, 2] : memref<100x64x3xf32> -> !tile.tile<b0=16 x b1=32 x f32>
    // CHECK-NEXT: tile.load %x[%n, :, 0:2] : memref<100x64x3xf32> -> !tile.tile<64 x 2 x f32>
    %b = tile.load %x[%n, :, 0:2] : memref<100x64x3xf32> -> !tile.tile<64 x 2 x f32>
    // CHECK-NEXT: tile.load %x[1:60:2, %j, 0:3:2] : memref<100x64x3xf32> -> !tile.tile<30 x b1=32 x 2 x f32>
    %c = tile.load %x[1:60:2, %j, 0:3:2] : memref<100x64x3xf32> -> !tile.tile<30 x b1=32 x 2 x f32>
    // CHECK-NEXT: %rows = tile.load %ids[%i] : memref<100xi32> -> !tile.tile<b0=16 x i32>
    %rows = tile.load %ids[%i] : memref<100xi32> -> !tile.tile<b0=16 x i32>
    // CHECK-NEXT: tile.load %x[%rows, :, %rows] : memref<100x64x3xf32> -> !tile.tile<b0=16 x 64 x f32>
    %d = tile.load %x[%rows, :, %rows] : memref<100x64x3xf32> -> !tile.tile<b0=16 x 64 x f32>
    %m = tile.full 1 : !tile.tile<b0=16 x b1=32 x i1>
    // CHECK: tile.load %x[%i, %j, 0] mask %m : memref<100x64x3xf32> -> !tile.tile<b0=16 x b1=32 x f32>
    %e = tile.load %x[%i, %j, 0] mask %m : memref<100x64x3xf32> -> !tile.tile<b0=16 x b1=32 x f32>
    // CHECK-NEXT: tile.load %x[%i, %j, 0] mask %m other -1.0 pad -inf {note = "kept"} : memref<100x64x3xf32> -> !tile.tile<b0=16 x b1=32 x f32>
    %f = tile.load %x[%i, %j, 0] mask %m other -1.0 pad -inf {note = "kept"} : memref<100x64x3xf32> -> !tile.tile<b0=16 x b1=32 x f32>
    // CHECK-NEXT: tile.load %ids[%i] pad 7 : memref<100xi32> -> !tile.tile<b0=16 x i32>
    %g = tile.load %ids[%i] pad 7 : memref<100xi32> -> !tile.tile<b0=16 x i32>
    // CHECK-NEXT: tile.store %e, %x[%i, %j, 1] : !tile.tile<b0=16 x b1=32 x f32>, memref<100x64x3xf32>
    tile.store %e, %x[%i, %j, 1] : !tile.tile<b0=16 x b1=32 x f32>, memref<100x64x3xf32>
    // CHECK-NEXT: tile.store %e, %x[%i, %j, 1] mask %m {note = "kept"} : !tile.tile<b0=16 x b1=32 x f32>, memref<100x64x3xf32>
    tile.store %e, %x[%i, %j, 1] mask %m {note = "kept"} : !tile.tile<b0=16 x b1=32 x f32>, memref<100x64x3xf32>
    // CHECK-NEXT: tile.store %d, %x[%rows, :, 0] : !tile.tile<b0=16 x 64 x f32>, memref<100x64x3xf32>
    tile.store %d, %x[%rows, :, 0] : !tile.tile<b0=16 x 64 x f32>, memref<100x64x3xf32>
  }
  func.return
}

func.func @rank_zero(%s: memref<f32>) {
  // CHECK: tile.load %s[] : memref<f32> -> !tile.tile<f32>
  %v = tile.load %s[] : memref<f32> -> !tile.tile<f32>
  // CHECK-NEXT: tile.store %v, %s[] : !tile.tile<f32>, memref<f32>
  tile.store %v, %s[] : !tile.tile<f32>, memref<f32>
  func.return
}

func.func @strided(%x: memref<10x20xf32, strided<[40, 2], offset: 3>>) {
  // CHECK: tile.load %x[0, :] : memref<10x20xf32, strided<[40, 2], offset: 3>> -> !tile.tile<20 x f32>
  %v = tile.load %x[0, :] : memref<10x20xf32, strided<[40, 2], offset: 3>> -> !tile.tile<20 x f32>
  func.return
}

func.func @refs(%r: !tile.ref<16 x 64 x f32, vmem>, %n: index) {
  // CHECK: tile.get %r[:, 0:8] {note = "kept"} : !tile.ref<16 x 64 x f32, vmem> -> !tile.tile<16 x 8 x f32>
  %a = tile.get %r[:, 0:8] {note = "kept"} : !tile.ref<16 x 64 x f32, vmem> -> !tile.tile<16 x 8 x f32>
  // CHECK-NEXT: tile.put %{{.*}}, %r[:, 8:16] {note = "kept"} : !tile.tile<16 x 8 x f32>, !tile.ref<16 x 64 x f32, vmem>
  tile.put %a, %r[:, 8:16] {note = "kept"} : !tile.tile<16 x 8 x f32>, !tile.ref<16 x 64 x f32, vmem>
  // CHECK-NEXT: tile.get %r[3, %n] : !tile.ref<16 x 64 x f32, vmem> -> !tile.tile<f32>
  %b = tile.get %r[3, %n] : !tile.ref<16 x 64 x f32, vmem> -> !tile.tile<f32>
  func.return
}
