// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,spread-strides,canonicalize,cse)' | filecheck %s

// Every second lane is read with its neighbours, and written among them.
// CHECK-LABEL: @lanes
// CHECK: [[ROW:%.+]] = tile.load %{{.*}}[:] : memref<32xf32> -> !tile.tile<32 x f32>
// CHECK: [[V:%.+]] = tile.slice [[ROW]] [0] [16] [2] : !tile.tile<32 x f32> to !tile.tile<16 x f32>
// CHECK: tile.mod
// CHECK: tile.floordiv
// CHECK: tile.take_along
// CHECK: tile.store %{{.*}}, %{{.*}}[:] mask %{{.*}} : !tile.tile<32 x f32>, memref<32xf32>
func.func @lanes(%x: memref<32xf32>, %out: memref<32xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %v = tile.load %x[0:32:2] : memref<32xf32> -> !tile.tile<16 x f32>
    tile.store %v, %out[1:32:2] : !tile.tile<16 x f32>, memref<32xf32>
  }
  func.return
}

// One number is that in all lanes; rows of 32 bits are taken as they are.
// CHECK-LABEL: @rows
// CHECK: [[ONES:%.+]] = tile.full 1.0 : !tile.tile<8 x 64 x bf16>
// CHECK: tile.store [[ONES]], %{{.*}}[:, :] mask
// CHECK: tile.store %{{.*}}, %{{.*}}[0:8:2, :] : !tile.tile<4 x 64 x f32>
func.func @rows(%x: memref<8x64xbf16>, %y: memref<8x64xf32>) {
  tile.grid (%i: b1=1) in (1) {
    %v = tile.full 1.0 : !tile.tile<3 x 64 x bf16>
    tile.store %v, %x[1:8:3, :] : !tile.tile<3 x 64 x bf16>, memref<8x64xbf16>
    %w = tile.full 1.0 : !tile.tile<4 x 64 x f32>
    tile.store %w, %y[0:8:2, :] : !tile.tile<4 x 64 x f32>, memref<8x64xf32>
  }
  func.return
}

// A masked store to every other lane: the mask's lanes stand where the value's do; a constant is one of all lanes.
// CHECK-LABEL: func.func @masked_steps
// CHECK-NEXT: %out_1 = host.launch @masked_steps (%x_1 = %x, %out_2 = %out) writes [1] : (memref<16x8xf32>, memref<16x32xf32>) -> memref<16x32xf32> {
// CHECK-NEXT: tile.grid (%i: b0=8) in (16) {
// CHECK-NEXT: %v = tile.load %x_1[%i, :] : memref<16x8xf32> -> !tile.tile<b0=8 x 8 x f32>
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<b0=8 x 8 x f32>
// CHECK-NEXT: %m = tile.gt %v, %z : !tile.tile<b0=8 x 8 x f32>
// CHECK-NEXT: %0 = tile.arange 0, 1 : !tile.tile<32 x i32>
// CHECK-NEXT: %1 = tile.broadcast %0 dims [1] : !tile.tile<32 x i32> to !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %2 = tile.full 2 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %3 = tile.mod %1, %2 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %4 = tile.full 1 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %5 = tile.eq %3, %4 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %6 = tile.full 16 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %7 = tile.lt %1, %6 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %8 = tile.and %5, %7 : !tile.tile<b0=8 x 32 x i1>
// CHECK-NEXT: %9 = tile.cast %m : !tile.tile<b0=8 x 8 x i1> to !tile.tile<b0=8 x 8 x i32>
// CHECK-NEXT: %10 = tile.full 2 : !tile.tile<32 x i32>
// CHECK-NEXT: %11 = tile.floordiv %0, %10 : !tile.tile<32 x i32>
// CHECK-NEXT: %12 = tile.transpose %9 [1, 0] : !tile.tile<b0=8 x 8 x i32>
// CHECK-NEXT: %13 = tile.reshape %12 : !tile.tile<8 x b0=8 x i32> to !tile.tile<8 x 8 x i32>
// CHECK-NEXT: %14 = tile.broadcast %11 dims [0] : !tile.tile<32 x i32> to !tile.tile<32 x 8 x i32>
// CHECK-NEXT: %15 = tile.take_along %13, %14 dim 0 {tile.spare} : !tile.tile<8 x 8 x i32>, !tile.tile<32 x 8 x i32>
// CHECK-NEXT: %16 = tile.broadcast %15 dims [0, 1] : !tile.tile<32 x 8 x i32> to !tile.tile<32 x b0=8 x i32>
// CHECK-NEXT: %17 = tile.transpose %16 [1, 0] : !tile.tile<32 x b0=8 x i32>
// CHECK-NEXT: %18 = tile.full 0 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %19 = tile.ne %17, %18 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %kept = tile.and %8, %19 : !tile.tile<b0=8 x 32 x i1>
// CHECK-NEXT: %20 = tile.transpose %v [1, 0] : !tile.tile<b0=8 x 8 x f32>
// CHECK-NEXT: %21 = tile.reshape %20 : !tile.tile<8 x b0=8 x f32> to !tile.tile<8 x 8 x f32>
// CHECK-NEXT: %22 = tile.take_along %21, %14 dim 0 {tile.spare} : !tile.tile<8 x 8 x f32>, !tile.tile<32 x 8 x i32>
// CHECK-NEXT: %23 = tile.broadcast %22 dims [0, 1] : !tile.tile<32 x 8 x f32> to !tile.tile<32 x b0=8 x f32>
// CHECK-NEXT: %v_1 = tile.transpose %23 [1, 0] : !tile.tile<32 x b0=8 x f32>
// CHECK-NEXT: tile.store %v_1, %out_2[%i, :] mask %kept : !tile.tile<b0=8 x 32 x f32>, memref<16x32xf32>
// CHECK-NEXT: %24 = tile.full 3 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %25 = tile.mod %1, %24 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %26 = tile.eq %25, %2 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %27 = tile.full 24 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %28 = tile.lt %1, %27 : !tile.tile<b0=8 x 32 x i32>
// CHECK-NEXT: %kept_1 = tile.and %26, %28 : !tile.tile<b0=8 x 32 x i1>
// CHECK-NEXT: %z_1 = tile.full 0.0 : !tile.tile<b0=8 x 32 x f32>
// CHECK-NEXT: tile.store %z_1, %out_2[%i, :] mask %kept_1 : !tile.tile<b0=8 x 32 x f32>, memref<16x32xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1 : memref<16x32xf32>
func.func @masked_steps(%x: memref<16x8xf32>, %out: memref<16x32xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x8xf32> -> !tile.tile<b0=8 x 8 x f32>
    %z = tile.full 0.0 : !tile.tile<b0=8 x 8 x f32>
    %m = tile.gt %v, %z : !tile.tile<b0=8 x 8 x f32>
    tile.store %v, %out[%i, 1:16:2] mask %m : !tile.tile<b0=8 x 8 x f32>, memref<16x32xf32>
    tile.store %z, %out[%i, 2:24:3] : !tile.tile<b0=8 x 8 x f32>, memref<16x32xf32>
  }
  func.return
}

// Two slices with a step each: lanes that both name.
// CHECK-LABEL: func.func @two_steps
// CHECK-NEXT: %out_1 = host.launch @two_steps (%out_2 = %out) writes [0] : (memref<16x32xbf16>) -> memref<16x32xbf16> {
// CHECK-NEXT: tile.grid (%i: b0=1) in (1) {
// CHECK-NEXT: %0 = tile.arange 0, 1 : !tile.tile<16 x i32>
// CHECK-NEXT: %1 = tile.broadcast %0 dims [0] : !tile.tile<16 x i32> to !tile.tile<16 x 32 x i32>
// CHECK-NEXT: %2 = tile.full 2 : !tile.tile<16 x 32 x i32>
// CHECK-NEXT: %3 = tile.mod %1, %2 : !tile.tile<16 x 32 x i32>
// CHECK-NEXT: %4 = tile.full 0 : !tile.tile<16 x 32 x i32>
// CHECK-NEXT: %5 = tile.eq %3, %4 : !tile.tile<16 x 32 x i32>
// CHECK-NEXT: %6 = tile.arange 0, 1 : !tile.tile<32 x i32>
// CHECK-NEXT: %7 = tile.broadcast %6 dims [1] : !tile.tile<32 x i32> to !tile.tile<16 x 32 x i32>
// CHECK-NEXT: %8 = tile.mod %7, %2 : !tile.tile<16 x 32 x i32>
// CHECK-NEXT: %9 = tile.eq %8, %4 : !tile.tile<16 x 32 x i32>
// CHECK-NEXT: %kept = tile.and %5, %9 : !tile.tile<16 x 32 x i1>
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<16 x 32 x bf16>
// CHECK-NEXT: tile.store %z, %out_2[:, :] mask %kept : !tile.tile<16 x 32 x bf16>, memref<16x32xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1 : memref<16x32xbf16>
func.func @two_steps(%out: memref<16x32xbf16>) {
  tile.grid (%i: b0=1) in (1) {
    %z = tile.full 0.0 : !tile.tile<8 x 16 x bf16>
    tile.store %z, %out[0:16:2, 0:32:2] : !tile.tile<8 x 16 x bf16>, memref<16x32xbf16>
  }
  func.return
}
