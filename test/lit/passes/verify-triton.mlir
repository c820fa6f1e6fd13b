// RUN: kopt %s --split-input-file --verify-diagnostics -p verify-triton | filecheck %s

// What Triton has stays as it is.
// CHECK-LABEL: func.func @fine
// CHECK: triton.launch @fine_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
// CHECK: tile.store %v, %y[%i, :]
func.func @fine(%x: memref<16x8xf32, strided<[16, 2], offset: 3>>) {
  triton.launch @fine_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 16) : !tile.range<b0=8>
    %v = tile.load %y[%i, :] : memref<16x8xf32, strided<[16, 2], offset: 3>> -> !tile.tile<b0=8 x 8 x f32>
    tile.store %v, %y[%i, :] : !tile.tile<b0=8 x 8 x f32>, memref<16x8xf32, strided<[16, 2], offset: 3>>
  }
  func.return
}

// -----

func.func @scalars(%x: memref<16xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    // expected-error @+1 {{'arith.shli' has no Triton form}}
    %n = arith.shli %pid, %pid : index
  }
  func.return
}

// -----

func.func @comparison(%x: memref<16xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %a = arith.constant 1.0 : f32
    // expected-error @+1 {{'arith.cmpf' has no Triton form with predicate 7}}
    %n = arith.cmpf ord, %a, %a : f32
  }
  func.return
}

// -----

func.func @slice(%x: memref<16xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %v = tile.load %y[:] : memref<16xf32> -> !tile.tile<16 x f32>
    // expected-error @+1 {{'tile.slice' has no Triton form: run convert-slices-to-gathers first}}
    %s = tile.slice %v [0] [8] [1] : !tile.tile<16 x f32> to !tile.tile<8 x f32>
  }
  func.return
}

// -----

func.func @concat(%x: memref<16xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %v = tile.load %y[:] : memref<16xf32> -> !tile.tile<16 x f32>
    // expected-error @+1 {{'tile.concat' has no Triton form: run convert-slices-to-gathers first}}
    %s = tile.concat %v, %v dim 0 : !tile.tile<16 x f32>, !tile.tile<16 x f32> to !tile.tile<32 x f32>
  }
  func.return
}

// -----

func.func @when(%x: memref<16xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 16) : !tile.range<b0=8>
    // expected-error @+1 {{Triton programs run in no order: 'tile.when' has no meaning}}
    tile.when first(%i) {
    }
  }
  func.return
}

// -----

func.func @element(%x: memref<16xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %v = tile.load %y[:] : memref<16xf32> -> !tile.tile<16 x f32>
    // expected-error @+1 {{Triton has no element type i7}}
    %n = tile.cast %v : !tile.tile<16 x f32> to !tile.tile<16 x i7>
  }
  func.return
}

// -----

func.func @unknown_strides(%x: memref<16xf32, strided<[?]>>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    // expected-error @+1 {{memref<16xf32, strided<[?]>> has strides that are not known}}
    %v = tile.load %y[:] : memref<16xf32, strided<[?]>> -> !tile.tile<16 x f32>
  }
  func.return
}

// -----

func.func @no_strides(%x: memref<16xf32, affine_map<(d0) -> (d0)>>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    // expected-error @+1 {{memref<16xf32, affine_map<(d0) -> (d0)>> has no strides}}
    %v = tile.load %y[:] : memref<16xf32, affine_map<(d0) -> (d0)>> -> !tile.tile<16 x f32>
  }
  func.return
}

// -----

func.func @whole(%x: memref<12xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    // expected-error @+1 {{Triton blocks are powers of two, found a dimension of 12}}
    %v = tile.load %y[:] : memref<12xf32> -> !tile.tile<12 x f32>
  }
  func.return
}

// -----

func.func @part(%x: memref<12xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %one = tile.full 1.0 : !tile.tile<3 x f32>
    // expected-error @+1 {{Triton blocks are powers of two, found a dimension of 3}}
    atomic.rmw add %one, %y[0:6:2] : !tile.tile<3 x f32>, memref<12xf32>
  }
  func.return
}

// -----

func.func @batches(%x: memref<2x2x16x16xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %v = tile.load %y[:, :, :, :] : memref<2x2x16x16xf32> -> !tile.tile<2 x 2 x 16 x 16 x f32>
    // expected-error @+1 {{Triton's dot takes one batch dimension, found !tile.tile<2 x 2 x 16 x 16 x f32>}}
    %p = tile.dot %v, %v : !tile.tile<2 x 2 x 16 x 16 x f32>, !tile.tile<2 x 2 x 16 x 16 x f32> -> !tile.tile<2 x 2 x 16 x 16 x f32>
  }
  func.return
}

// -----

func.func @fills(%x: memref<16xf32>) {
  triton.launch @f_0 (%y = %x) grid (2) num_warps 4 num_stages 1 {
    %m = tile.full 1 : !tile.tile<16 x i1>
    // expected-error @+1 {{a load of Triton has one fill, found a mask and 'pad'}}
    %v = tile.load %y[:] mask %m other 1.0 pad 2.0 : memref<16xf32> -> !tile.tile<16 x f32>
  }
  func.return
}

// -----

// Bytes stand for numbers that the chip lacks: they are moved, and converted.
func.func @bytes(%x: memref<64xf8E4M3FN>, %o: memref<64xf8E4M3FN>) {
  triton.launch @f_0 (%x_1 = %x, %o_1 = %o) grid (1) num_warps 4 num_stages 1 attributes {e4m3_bytes} {
    %v = tile.load %x_1[:] : memref<64xf8E4M3FN> -> !tile.tile<64 x f8E4M3FN>
    %z = tile.full 0.0 : !tile.tile<64 x f8E4M3FN>
    // expected-error @+1 {{the chip lacks float8_e4m3fn, and 'tile.reduce' computes with it}}
    %n = tile.reduce max %v [0] : !tile.tile<64 x f8E4M3FN>
    tile.store %v, %o_1[:] : !tile.tile<64 x f8E4M3FN>, memref<64xf8E4M3FN>
  }
  func.return
}

// -----

func.func @literal_of_bytes(%o: memref<64xf8E4M3FN>) {
  triton.launch @f_0 (%o_1 = %o) grid (1) num_warps 4 num_stages 1 attributes {e4m3_bytes} {
    // expected-error @+1 {{the chip lacks float8_e4m3fn, and 'tile.full' computes with it}}
    %l = tile.full 1.0 : !tile.tile<64 x f8E4M3FN>
    tile.store %l, %o_1[:] : !tile.tile<64 x f8E4M3FN>, memref<64xf8E4M3FN>
  }
  func.return
}

// -----

func.func @scaled(%x: memref<16x64xf8E5M2>, %s: memref<16x2xui8>, %out: memref<16x64xbf16>) {
  triton.launch @f_0 (%y = %x, %t = %s, %o = %out) grid (1) num_warps 4 num_stages 1 {
    %v = tile.load %y[:, :] : memref<16x64xf8E5M2> -> !tile.tile<16 x 64 x f8E5M2>
    %n = tile.load %t[:, :] : memref<16x2xui8> -> !tile.tile<16 x 2 x ui8>
    // expected-error @+1 {{'tile.scaling_extf' is an operand of a product of two such operands}}
    %a = tile.scaling_extf e5m2 %v, %n dim 1 : !tile.tile<16 x 64 x f8E5M2>, !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 64 x bf16>
    tile.store %a, %o[:, :] : !tile.tile<16 x 64 x bf16>, memref<16x64xbf16>
  }
  func.return
}
