// Ops that combine lanes, and masks.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @reductions(%x: memref<100x64xf32>, %n: memref<100x64xi32>, %t: memref<100x64xi1>) {
  tile.grid (%i: b0=16) in (100) {
    %v = tile.load %x[%i, :] : memref<100x64xf32> -> !tile.tile<b0=16 x 64 x f32>
    %k = tile.load %n[%i, :] : memref<100x64xi32> -> !tile.tile<b0=16 x 64 x i32>
    %b = tile.load %t[%i, :] : memref<100x64xi1> -> !tile.tile<b0=16 x 64 x i1>
    // CHECK: tile.reduce add %v [1] : !tile.tile<b0=16 x 64 x f32>
    %r0 = tile.reduce add %v [1] : !tile.tile<b0=16 x 64 x f32>
    // CHECK-NEXT: tile.reduce max %v [0, 1] {note = "kept"} : !tile.tile<b0=16 x 64 x f32>
    %r1 = tile.reduce max %v [0, 1] {note = "kept"} : !tile.tile<b0=16 x 64 x f32>
    // CHECK-NEXT: tile.reduce min %k [0] : !tile.tile<b0=16 x 64 x i32>
    %r2 = tile.reduce min %k [0] : !tile.tile<b0=16 x 64 x i32>
    // CHECK-NEXT: tile.reduce mul %v [1] : !tile.tile<b0=16 x 64 x f32>
    %r3 = tile.reduce mul %v [1] : !tile.tile<b0=16 x 64 x f32>
    // CHECK-NEXT: tile.reduce and %b [1] : !tile.tile<b0=16 x 64 x i1>
    %r4 = tile.reduce and %b [1] : !tile.tile<b0=16 x 64 x i1>
    // CHECK-NEXT: tile.reduce or %b [1] : !tile.tile<b0=16 x 64 x i1>
    %r5 = tile.reduce or %b [1] : !tile.tile<b0=16 x 64 x i1>
    // CHECK-NEXT: tile.reduce xor %k [1] : !tile.tile<b0=16 x 64 x i32>
    %r6 = tile.reduce xor %k [1] : !tile.tile<b0=16 x 64 x i32>
    // CHECK-NEXT: tile.argreduce max %v dim 1 : !tile.tile<b0=16 x 64 x f32>
    %a0 = tile.argreduce max %v dim 1 : !tile.tile<b0=16 x 64 x f32>
    // CHECK-NEXT: tile.argreduce min %k dim 0 {note = "kept"} : !tile.tile<b0=16 x 64 x i32>
    %a1 = tile.argreduce min %k dim 0 {note = "kept"} : !tile.tile<b0=16 x 64 x i32>
    // CHECK-NEXT: tile.scan add %v dim 1 : !tile.tile<b0=16 x 64 x f32>
    %s0 = tile.scan add %v dim 1 : !tile.tile<b0=16 x 64 x f32>
    // CHECK-NEXT: tile.scan mul %k dim 0 {note = "kept"} : !tile.tile<b0=16 x 64 x i32>
    %s1 = tile.scan mul %k dim 0 {note = "kept"} : !tile.tile<b0=16 x 64 x i32>
    // CHECK-NEXT: tile.mask %v in (%i, _) else 0.0 : !tile.tile<b0=16 x 64 x f32>{{$}}
    %m0 = tile.mask %v in (%i, _) else 0.0 : !tile.tile<b0=16 x 64 x f32>
    // CHECK-NEXT: tile.mask %v in (%i, _) else -inf {note = "kept"} : !tile.tile<b0=16 x 64 x f32> to !tile.tile<16 x 64 x f32>
    %m1 = tile.mask %v in (%i, _) else -inf {note = "kept"} : !tile.tile<b0=16 x 64 x f32> to !tile.tile<16 x 64 x f32>
    // CHECK-NEXT: tile.mask %k in (_, _) else 7 : !tile.tile<b0=16 x 64 x i32>
    %m2 = tile.mask %k in (_, _) else 7 : !tile.tile<b0=16 x 64 x i32>
  }
  func.return
}

func.func @dots(%a: !tile.tile<4 x 8 x bf16>, %b: !tile.tile<8 x 2 x bf16>, %c: !tile.tile<4 x 2 x f32>,
                %d: !tile.tile<3 x 4 x 8 x i8>, %e: !tile.tile<3 x 8 x 2 x i8>) {
  // CHECK: tile.dot %a, %b : !tile.tile<4 x 8 x bf16>, !tile.tile<8 x 2 x bf16> -> !tile.tile<4 x 2 x f32>
  %x = tile.dot %a, %b : !tile.tile<4 x 8 x bf16>, !tile.tile<8 x 2 x bf16> -> !tile.tile<4 x 2 x f32>
  // CHECK-NEXT: tile.dot %a, %b, %c : !tile.tile<4 x 8 x bf16>, !tile.tile<8 x 2 x bf16> -> !tile.tile<4 x 2 x f32>
  %y = tile.dot %a, %b, %c : !tile.tile<4 x 8 x bf16>, !tile.tile<8 x 2 x bf16> -> !tile.tile<4 x 2 x f32>
  // CHECK-NEXT: tile.dot %a, %b, %c precision tf32 {note = "kept"} : !tile.tile<4 x 8 x bf16>, !tile.tile<8 x 2 x bf16> -> !tile.tile<4 x 2 x f32>
  %z = tile.dot %a, %b, %c precision tf32 {note = "kept"} : !tile.tile<4 x 8 x bf16>, !tile.tile<8 x 2 x bf16> -> !tile.tile<4 x 2 x f32>
  // CHECK-NEXT: tile.dot %d, %e : !tile.tile<3 x 4 x 8 x i8>, !tile.tile<3 x 8 x 2 x i8> -> !tile.tile<3 x 4 x 2 x i32>
  %w = tile.dot %d, %e : !tile.tile<3 x 4 x 8 x i8>, !tile.tile<3 x 8 x 2 x i8> -> !tile.tile<3 x 4 x 2 x i32>
  func.return
}
