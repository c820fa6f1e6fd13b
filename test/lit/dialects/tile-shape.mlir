// Ops that make tiles and rearrange their lanes.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @literals() {
  // CHECK: tile.full 0.0 : !tile.tile<8 x f32>
  %a = tile.full 0.0 : !tile.tile<8 x f32>
  // CHECK-NEXT: tile.full -0.0 : !tile.tile<8 x f32>
  %b = tile.full -0.0 : !tile.tile<8 x f32>
  // CHECK-NEXT: tile.full inf : !tile.tile<8 x f32>
  %c = tile.full inf : !tile.tile<8 x f32>
  // CHECK-NEXT: tile.full -inf : !tile.tile<8 x bf16>
  %d = tile.full -inf : !tile.tile<8 x bf16>
  // CHECK-NEXT: tile.full nan : !tile.tile<8 x f64>
  %e = tile.full nan : !tile.tile<8 x f64>
  // CHECK-NEXT: tile.full -1.0e+30 : !tile.tile<f32>
  %f = tile.full -1.0e+30 : !tile.tile<f32>
  // CHECK-NEXT: tile.full 1.0e-07 : !tile.tile<f32>
  %g = tile.full 1.0e-07 : !tile.tile<f32>
  // CHECK-NEXT: tile.full 3.0 : !tile.tile<f32>
  %h = tile.full 3 : !tile.tile<f32>
  // CHECK-NEXT: tile.full -7 : !tile.tile<i32>
  %i = tile.full -7 : !tile.tile<i32>
  // CHECK-NEXT: tile.full 1 : !tile.tile<i1>
  %j = tile.full true : !tile.tile<i1>
  // CHECK-NEXT: tile.full 0 : !tile.tile<i1>
  %k = tile.full 0 : !tile.tile<i1>
  // CHECK-NEXT: tile.full 255 : !tile.tile<ui8>
  %l = tile.full 255 : !tile.tile<ui8>
  // CHECK-NEXT: tile.full 9223372036854775807 : !tile.tile<i64>
  %m = tile.full 9223372036854775807 : !tile.tile<i64>
  // CHECK-NEXT: tile.full 1 {note = "kept"} : !tile.tile<i64>
  %n = tile.full 1 {note = "kept"} : !tile.tile<i64>
  func.return
}

func.func @scalars(%n: index, %s: f32) {
  // CHECK: tile.splat %n : index to !tile.tile<8 x i32>
  %a = tile.splat %n : index to !tile.tile<8 x i32>
  // CHECK-NEXT: %[[B:.*]] = tile.splat %s {note = "kept"} : f32 to !tile.tile<f32>
  %b = tile.splat %s {note = "kept"} : f32 to !tile.tile<f32>
  // CHECK-NEXT: tile.extract %[[B]] {note = "kept"} : !tile.tile<f32> to f32
  %c = tile.extract %b {note = "kept"} : !tile.tile<f32> to f32
  %d = tile.full 1 : !tile.tile<i32>
  // CHECK: tile.extract %{{.*}} : !tile.tile<i32> to index
  %e = tile.extract %d : !tile.tile<i32> to index
  // CHECK-NEXT: tile.arange 3, -2 {note = "kept"} : !tile.tile<64 x i32>
  %f = tile.arange 3, -2 {note = "kept"} : !tile.tile<64 x i32>
  func.return
}

func.func @dynamic_slice(%x: memref<24x64xf32>, %n: index) {
  tile.grid (%i: b1=16) in (16) {
    %v = tile.load %x[:, :] : memref<24x64xf32> -> !tile.tile<24 x 64 x f32>
    // CHECK: tile.dynamic_slice %v from %n dim 0 {note = "kept"} : !tile.tile<24 x 64 x f32> to !tile.tile<b1=16 x 64 x f32>
    %s = tile.dynamic_slice %v from %n dim 0 {note = "kept"} : !tile.tile<24 x 64 x f32> to !tile.tile<b1=16 x 64 x f32>
  }
  func.return
}

func.func @rearrange(%x: memref<8x64xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i, :] : memref<8x64xf32> -> !tile.tile<b0=8 x 64 x f32>
    // CHECK: tile.broadcast %v dims [0, 2] {note = "kept"} : !tile.tile<b0=8 x 64 x f32> to !tile.tile<b0=8 x 3 x 64 x f32>
    %a = tile.broadcast %v dims [0, 2] {note = "kept"} : !tile.tile<b0=8 x 64 x f32> to !tile.tile<b0=8 x 3 x 64 x f32>
    %s = tile.full 1.0 : !tile.tile<f32>
    // CHECK: tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<b0=8 x f32>
    %b = tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<b0=8 x f32>
    // CHECK-NEXT: tile.reshape %v {note = "kept"} : !tile.tile<b0=8 x 64 x f32> to !tile.tile<b0=8 x 1 x 8 x 8 x f32>
    %c = tile.reshape %v {note = "kept"} : !tile.tile<b0=8 x 64 x f32> to !tile.tile<b0=8 x 1 x 8 x 8 x f32>
    // CHECK-NEXT: tile.reshape %v : !tile.tile<b0=8 x 64 x f32> to !tile.tile<512 x f32>
    %d = tile.reshape %v : !tile.tile<b0=8 x 64 x f32> to !tile.tile<512 x f32>
    // CHECK-NEXT: tile.transpose %v [1, 0] {note = "kept"} : !tile.tile<b0=8 x 64 x f32>
    %e = tile.transpose %v [1, 0] {note = "kept"} : !tile.tile<b0=8 x 64 x f32>
    // CHECK-NEXT: %[[F:.*]] = tile.slice %v [0, 1] [8, 16] [1, 3] {note = "kept"} : !tile.tile<b0=8 x 64 x f32> to !tile.tile<b0=8 x 16 x f32>
    %f = tile.slice %v [0, 1] [8, 16] [1, 3] {note = "kept"} : !tile.tile<b0=8 x 64 x f32> to !tile.tile<b0=8 x 16 x f32>
    // CHECK-NEXT: tile.concat %v, %[[F]] dim 1 {note = "kept"} : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 16 x f32> to !tile.tile<b0=8 x 80 x f32>
    %g = tile.concat %v, %f dim 1 {note = "kept"} : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 16 x f32> to !tile.tile<b0=8 x 80 x f32>
    // CHECK-NEXT: tile.concat %v, %v dim 0 : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 64 x f32> to !tile.tile<16 x 64 x f32>
    %h = tile.concat %v, %v dim 0 : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 64 x f32> to !tile.tile<16 x 64 x f32>
    %n = tile.full 3 : !tile.tile<b0=8 x 4 x i64>
    // CHECK: tile.take_along %v, %n dim 1 {note = "kept"} : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 4 x i64>
    %k = tile.take_along %v, %n dim 1 {note = "kept"} : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 4 x i64>
  }
  func.return
}

func.func @valid_lanes(%v: !tile.tile<24 x f32>) {
  // CHECK-LABEL: func.func @valid_lanes
  // CHECK: tile.valid_lanes %v : !tile.tile<24 x f32> to !tile.tile<24 x i1>
  %k = tile.valid_lanes %v : !tile.tile<24 x f32> to !tile.tile<24 x i1>
  func.return
}
