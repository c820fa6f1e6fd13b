// RUN: kopt %s --split-input-file --verify-diagnostics -p 'realise-values,cse,dce' | filecheck %s

// By DMA: each row from an operand of its own, clamped; of 16 bits in groups of 8, from an array padded to such.
// CHECK-LABEL: func.func @rows
// CHECK: host.launch @rows ({{.*}}%x_2 = %x)
// CHECK: [[H:%.+]] = tile.minimum %n, {{%.+}} : !tile.tile<b0=16 x i32>
// CHECK: [[C:%.+]] = tile.maximum [[H]], {{%.+}} : !tile.tile<b0=16 x i32>
// CHECK-NEXT: tile.load %x_2{{\[}}[[C]], :] : memref<30x200xf32> -> !tile.tile<b0=16 x 200 x f32>
func.func @rows(%x: memref<30x200xf32>, %ids: memref<40xi32>) -> memref<40x200xf32> {
  %out = host.alloc : memref<40x200xf32>
  %out_1 = host.launch @rows (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<40xi32>, memref<30x200xf32>, memref<40x200xf32>) -> memref<40x200xf32> {
    tile.grid (%i: b0=16) in (40) plan {order [i] parallel [i]
        @x = %x_1 rows} {
      %n = tile.load %ids_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x_1[%n, :] via @x : memref<30x200xf32> -> !tile.tile<b0=16 x 200 x f32>
      tile.store %v, %out_2[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<40x200xf32>
    }
  }
  func.return %out_1 : memref<40x200xf32>
}

// -----

// CHECK-LABEL: func.func @halves
// CHECK: [[P:%.+]] = host.call "aten.constant_pad_nd.default"(%x) {{.*}} -> (memref<32x200xbf16>)
// CHECK: [[G:%.+]] = host.reshape [[P]] : memref<32x200xbf16> to memref<4x8x200xbf16>
// CHECK: [[R:%.+]] = tile.load %x_2{{\[%.+}}, :, :] : memref<4x8x200xbf16> -> !tile.tile<b0=16 x 8 x 200 x bf16>
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 2
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 1
func.func @halves(%x: memref<30x200xbf16>, %ids: memref<40xi32>) -> memref<40xbf16> {
  %out = host.alloc : memref<40xbf16>
  %out_1 = host.launch @halves (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<40xi32>, memref<30x200xbf16>, memref<40xbf16>) -> memref<40xbf16> {
    tile.grid (%i: b0=16) in (40) plan {order [i] parallel [i]
        @x = %x_1 rows} {
      %n = tile.load %ids_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x_1[%n, %n] via @x : memref<30x200xbf16> -> !tile.tile<b0=16 x bf16>
      tile.store %v, %out_2[%i] : !tile.tile<b0=16 x bf16>, memref<40xbf16>
    }
  }
  func.return %out_1 : memref<40xbf16>
}

// -----

// CHECK-LABEL: @backwards_from
// CHECK: tile.load %{{.+}}[%{{.+}}, :] : memref<3907x128xf32> -> !tile.tile<b0=16 x b1=64 x 128 x f32>
func.func @backwards_from(%x: memref<500000xf32>, %ids: memref<64xi32>, %out: memref<64x64xf32>) -> memref<64x64xf32> {
  %out_1 = host.launch @backwards_from (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<64xi32>, memref<500000xf32>, memref<64x64xf32>) -> memref<64x64xf32> {
    tile.grid (%i: b0=16, %j: b1=64) in (64, 64) plan {order [i, j] parallel [i, j]
        @x = %x_1 rows} {
      %n = tile.load %ids_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %c = tile.index %j : !tile.range<b1=64>
      %w = tile.full 64 : !tile.tile<b0=16 x i32>
      %p = tile.mul %n, %w : !tile.tile<b0=16 x i32>
      %l = tile.full 300 : !tile.tile<b1=64 x i32>
      %q = tile.sub %l, %c : !tile.tile<b1=64 x i32>
      %a = tile.broadcast %p dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %b = tile.broadcast %q dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %at = tile.add %a, %b : !tile.tile<b0=16 x b1=64 x i32>
      %v = tile.load %x_1[%at] via @x : memref<500000xf32> -> !tile.tile<b0=16 x b1=64 x f32>
      tile.store %v, %out_2[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
    }
  }
  func.return %out_1 : memref<64x64xf32>
}

// -----

// A buffer that is realised goes; what else the plan says stays.
// CHECK-LABEL: func.func @rest_of_plan
// CHECK-NEXT: %r = host.launch @rest_of_plan (%k = %n, %t = %x, %o = %out) writes [2] : (memref<64xi32>, memref<300x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
// CHECK-NEXT: tile.grid (%i: b0=16) in (64) plan {order [i] parallel [i] assume [%k in 0 to 299]
// CHECK-NEXT: @o = %o resident} {
// CHECK-NEXT: %rows = tile.load %k[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
// CHECK-NEXT: %0 = tile.full 299 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %1 = tile.minimum %rows, %0 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %2 = tile.full 0 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %3 = tile.maximum %1, %2 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %4 = tile.load %t[:, :] : memref<300x256xf32> -> !tile.tile<300 x 256 x f32>
// CHECK-NEXT: %5 = tile.broadcast %3 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 256 x i32>
// CHECK-NEXT: %v = tile.take_along %4, %5 dim 0 : !tile.tile<300 x 256 x f32>, !tile.tile<b0=16 x 256 x i32>
// CHECK-NEXT: tile.store %v, %o[%i, :] via @o : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r : memref<64x256xf32>
func.func @rest_of_plan(%n: memref<64xi32>, %x: memref<300x256xf32>, %out: memref<64x256xf32>) -> memref<64x256xf32> {
  %r = host.launch @rest_of_plan (%k = %n, %t = %x, %o = %out) writes [2] : (memref<64xi32>, memref<300x256xf32>, memref<64x256xf32>) -> memref<64x256xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] parallel [i] assume [%k in 0 to 299]
        @t = %t one_hot
        @o = %o resident} {
      %rows = tile.load %k[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %t[%rows, :] via @t : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
      tile.store %v, %o[%i, :] via @o : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r : memref<64x256xf32>
}
