// RUN: kopt %s | filecheck %s
// RUN: kopt %s | kopt - | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

// CHECK-LABEL: func.func @launch
// CHECK-NEXT: triton.launch @launch_0 (%a = %x, %b = %out writeonly) grid (8) num_warps 4 num_stages 2 {
// CHECK-NEXT:   %pid = triton.program_id
// CHECK-NEXT:   %i = triton.range %pid in (3, 1000) : !tile.range<b0=128>
// CHECK-NEXT:   %m = tile.full 1 : !tile.tile<b0=128 x 64 x i1>
// CHECK-NEXT:   %v = tile.load %a[%i, :] mask %m other 0.0 : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
// CHECK-NEXT:   %w = tile.load %a[%i, 0:64] : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
// CHECK-NEXT:   %t = tile.whole 60 : !tile.range<w0=64>
// CHECK-NEXT:   %r = triton.retag %w : !tile.tile<b0=128 x 64 x f32> to !tile.tile<b0=128 x w0=64 x f32>
// CHECK-NEXT:   tile.store %v, %b[%i, :] mask %m : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32>
// CHECK-NEXT:   atomic.rmw add %v, %a[%i, :] mask %m ordering release {note = "kept"} : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32>
// CHECK-NEXT:   %old = atomic.rmw max %v, %a[%i, :] : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
// CHECK-NEXT:   %was = atomic.cas %v, %w, %a[%i, :] mask %m ordering acq_rel {note = "kept"} : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32>
// CHECK-NEXT:   %n = tile.full 9 : !tile.tile<4 x i32>
// CHECK-NEXT:   %picks = triton.bounded %n below 8 {note = "kept"} : !tile.tile<4 x i32>
// CHECK-NEXT:   %pairs = triton.join %n, %picks {note = "kept"} : !tile.tile<4 x i32>
// CHECK-NEXT:   %s, %d = triton.inline "both"(%v, %w) functions = {two = " = tl.constexpr(2)", both = "(x, y):\0A    return x + y, x - two"} : (!tile.tile<b0=128 x 64 x f32>, !tile.tile<b0=128 x 64 x f32>) -> (!tile.tile<b0=128 x 64 x f32>, !tile.tile<b0=128 x 64 x f32>)
// CHECK-NEXT:   triton.inline "wait"() functions = {wait = "():\0A    tl.debug_barrier()"} {note = "kept"} : () -> ()
// CHECK-NEXT: }
func.func @launch(%x: memref<1000x64xf32>, %out: memref<1000x64xf32>) {
  triton.launch @launch_0 (%a = %x, %b = %out writeonly) grid (8) num_warps 4 num_stages 2 {
    %pid = triton.program_id
    %i = triton.range %pid in (3, 1000) : !tile.range<b0=128>
    %m = tile.full 1 : !tile.tile<b0=128 x 64 x i1>
    %v = tile.load %a[%i, :] mask %m other 0.0 : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
    %w = tile.load %a[%i, 0:64] : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
    %t = tile.whole 60 : !tile.range<w0=64>
    %r = triton.retag %w : !tile.tile<b0=128 x 64 x f32> to !tile.tile<b0=128 x w0=64 x f32>
    tile.store %v, %b[%i, :] mask %m : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32>
    atomic.rmw add %v, %a[%i, :] mask %m ordering release {note = "kept"} : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32>
    %old = atomic.rmw max %v, %a[%i, :] : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
    %was = atomic.cas %v, %w, %a[%i, :] mask %m ordering acq_rel {note = "kept"} : !tile.tile<b0=128 x 64 x f32>, memref<1000x64xf32>
    %n = tile.full 9 : !tile.tile<4 x i32>
    %picks = triton.bounded %n below 8 {note = "kept"} : !tile.tile<4 x i32>
    %pairs = triton.join %n, %picks {note = "kept"} : !tile.tile<4 x i32>
    %s, %d = triton.inline "both"(%v, %w) functions = {two = " = tl.constexpr(2)", both = "(x, y):\n    return x + y, x - two"} : (!tile.tile<b0=128 x 64 x f32>, !tile.tile<b0=128 x 64 x f32>) -> (!tile.tile<b0=128 x 64 x f32>, !tile.tile<b0=128 x 64 x f32>)
    triton.inline "wait"() functions = {wait = "():\n    tl.debug_barrier()"} {note = "kept"} : () -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @persistent
// CHECK-NEXT: triton.launch @persistent_0 (%a = %x) grid (8) persistent 4 num_warps 4 num_stages 2 {
// CHECK: triton.launch @persistent_1 (%a = %x) grid (8) persistent 4 blocked num_warps 4 num_stages 2 max_registers 64 {
func.func @persistent(%x: memref<1000xf32>) {
  triton.launch @persistent_0 (%a = %x) grid (8) persistent 4 num_warps 4 num_stages 2 {
    %pid = triton.program_id
  }
  triton.launch @persistent_1 (%a = %x) grid (8) persistent 4 blocked num_warps 4 num_stages 2 max_registers 64 {
    %pid = triton.program_id
  }
  func.return
}

// CHECK-LABEL: func.func @extents
// CHECK: triton.launch @extents_0 (%a = %x) grid (2 per %m / 64 per %n / 32) num_warps 4 num_stages 2 {
// CHECK-NEXT: %k = tile.dim %a 0 : memref<?x?xf32>
// CHECK-NEXT: %pid = triton.program_id
// CHECK-NEXT: %i = triton.range %pid in (0 to %k) {note = "kept"} : !tile.range<b0=64>
func.func @extents(%x: memref<?x?xf32>) {
  %m = tile.dim %x 0 : memref<?x?xf32>
  %n = tile.dim %x 1 : memref<?x?xf32>
  triton.launch @extents_0 (%a = %x) grid (2 per %m / 64 per %n / 32) num_warps 4 num_stages 2 {
    %k = tile.dim %a 0 : memref<?x?xf32>
    %pid = triton.program_id
    %i = triton.range %pid in (0 to %k) {note = "kept"} : !tile.range<b0=64>
  }
  func.return
}
