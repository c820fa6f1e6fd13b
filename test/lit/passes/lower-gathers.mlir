// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,lower-gathers,cse,dce)' | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,lower-gathers{strategy=dma},cse,dce)' | filecheck %s --check-prefix=DMA

// A small table is loaded whole and its rows taken by a product; or each row comes by a DMA, from an operand of its own.
// CHECK-LABEL: func.func @rows
// CHECK: [[T:%.+]] = tile.load %x_1[:, :] : memref<30x200xf32> -> !tile.tile<30 x 200 x f32>
// CHECK-NEXT: [[W:%.+]] = tile.broadcast {{%.+}} dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 200 x i32>
// CHECK-NEXT: tile.take_along [[T]], [[W]] dim 0
// DMA-LABEL: func.func @rows
// DMA: host.launch @rows ({{.*}}%x_2 = %x)
// DMA: [[H:%.+]] = tile.minimum %n, {{%.+}} : !tile.tile<b0=16 x i32>
// DMA: [[C:%.+]] = tile.maximum [[H]], {{%.+}} : !tile.tile<b0=16 x i32>
// DMA-NEXT: tile.load %x_2{{\[}}[[C]], :] : memref<30x200xf32> -> !tile.tile<b0=16 x 200 x f32>
func.func @rows(%x: memref<30x200xf32>, %ids: memref<40xi32>) -> memref<40x200xf32> {
  %out = host.alloc : memref<40x200xf32>
  tile.grid (%i: b0=16) in (40) {
    %n = tile.load %ids[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, :] : memref<30x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<40x200xf32>
  }
  func.return %out : memref<40x200xf32>
}

// -----

// Rows of 16 bits come in groups of 8, from an array that the host pads to whole groups; elements from rows.
// CHECK-LABEL: func.func @halves
// CHECK: [[P:%.+]] = host.call "aten.constant_pad_nd.default"(%x) {{.*}} -> (memref<32x200xbf16>)
// CHECK: [[G:%.+]] = host.reshape [[P]] : memref<32x200xbf16> to memref<4x8x200xbf16>
// CHECK: [[R:%.+]] = tile.load %x_2{{\[%.+}}, :, :] : memref<4x8x200xbf16> -> !tile.tile<b0=16 x 8 x 200 x bf16>
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 2
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 1
func.func @halves(%x: memref<30x200xbf16>, %ids: memref<40xi32>) -> memref<40xbf16> {
  %out = host.alloc : memref<40xbf16>
  tile.grid (%i: b0=16) in (40) {
    %n = tile.load %ids[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, %n] : memref<30x200xbf16> -> !tile.tile<b0=16 x bf16>
    tile.store %v, %out[%i] : !tile.tile<b0=16 x bf16>, memref<40xbf16>
  }
  func.return %out : memref<40xbf16>
}

// -----

// A range's own lane numbers are that range.
// CHECK-LABEL: func.func @lanes
// CHECK: tile.load %x_1[%i, :] :
func.func @lanes(%x: memref<40x200xf32>) -> memref<40x200xf32> {
  %out = host.alloc : memref<40x200xf32>
  tile.grid (%i: b0=16) in (40) {
    %n = tile.index %i : !tile.range<b0=16>
    %v = tile.load %x[%n, :] : memref<40x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<40x200xf32>
  }
  func.return %out : memref<40x200xf32>
}

// -----

// What a cell gathers before it writes is gathered from the array as it was before the launch.
// CHECK-LABEL: func.func @before
// CHECK: host.launch @before ({{.*}}[[NEW:%x_.]] = %x, [[OLD:%x_.]] = %x) writes
// CHECK: tile.load [[OLD]][
// CHECK: tile.store %v, [[NEW]][
func.func @before(%x: memref<300x200xf32>, %ids: memref<300xi32>) -> memref<300x200xf32> {
  tile.grid (%i: b0=16) in (300) {
    %n = tile.load %ids[%i] : memref<300xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, :] : memref<300x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %x[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
  }
  func.return %x : memref<300x200xf32>
}

// -----

func.func @after(%x: memref<300x200xf32>, %ids: memref<300xi32>, %out: memref<300x200xf32>) {
  tile.grid (%i: b0=16) in (300) {
    %n = tile.load %ids[%i] : memref<300xi32> -> !tile.tile<b0=16 x i32>
    %w = tile.full 1.0 : !tile.tile<b0=16 x 200 x f32>
    tile.store %w, %x[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
    // expected-error @+1 {{a gather from an array that the same loop writes}}
    %v = tile.load %x[%n, :] : memref<300x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
  }
  func.return
}
