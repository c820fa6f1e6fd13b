// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @f(%x: memref<8xf32>) {
  // expected-error @+1 {{num_warps is a power of two, found 3}}
  triton.launch @k (%a = %x) grid (8) num_warps 3 num_stages 2 {
    %pid = triton.program_id
  }
  func.return
}

// -----

func.func @f(%x: memref<8xf32>) {
  // expected-error @+1 {{triton.launch runs 1 to 2147483647 programs, found 0}}
  triton.launch @k (%a = %x) grid (0) num_warps 4 num_stages 2 {
    %pid = triton.program_id
  }
  func.return
}

// -----

func.func @f(%x: memref<8xf32>) {
  triton.launch @k (%a = %x) grid (1) num_warps 4 num_stages 2 {
    %pid = triton.program_id
    // expected-error @+1 {{triton.range cannot walk from 9 to 8}}
    %i = triton.range %pid in (9, 8) : !tile.range<b0=8>
  }
  func.return
}

// -----

func.func @f(%x: memref<8x16xf32>) {
  triton.launch @k (%a = %x) grid (1) num_warps 4 num_stages 2 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 8) : !tile.range<b0=8>
    // expected-error @+1 {{needs one range or '_' for each dimension of !tile.tile<b0=8 x 16 x f32>}}
    %v = triton.load %a[%i, :] in (%i) : memref<8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
  }
  func.return
}

// -----

func.func @f(%x: memref<8x16xf32>) {
  triton.launch @k (%a = %x) grid (1) num_warps 4 num_stages 2 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 8) : !tile.range<b0=8>
    // expected-error @+1 {{!tile.range<b0=8> cannot limit dimension 16}}
    %v = triton.load %a[%i, :] in (%i, %i) : memref<8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
  }
  func.return
}

// -----

func.func @f(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{triton.retag keeps sizes and element type}}
  %r = triton.retag %v : !tile.tile<8 x f32> to !tile.tile<16 x f32>
  func.return
}

// -----

func.func @f(%x: memref<8xf32>) {
  // expected-error @+1 {{'a' is writeonly, and the kernel reads it}}
  triton.launch @k (%a = %x writeonly) grid (1) num_warps 4 num_stages 2 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 8) : !tile.range<b0=8>
    %v = triton.load %a[%i] in (%i) : memref<8xf32> -> !tile.tile<b0=8 x f32>
    triton.store %v, %a[%i] in (%i) : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  func.return
}

// -----

func.func @update(%x: memref<1000xf32>) {
  triton.launch @update_0 (%a = %x) grid (8) num_warps 4 num_stages 2 {
    %v = tile.full 1.0 : !tile.tile<8 x f32>
    // expected-error @+1 {{triton.atomic_rmw xor needs integers, found f32}}
    triton.atomic_rmw xor %v, %a[0:8] in (_) : !tile.tile<8 x f32>, memref<1000xf32>
  }
  func.return
}

// -----

func.func @limits(%x: memref<1000xf32>) {
  triton.launch @limits_0 (%a = %x) grid (8) num_warps 4 num_stages 2 {
    %v = tile.full 1.0 : !tile.tile<8 x f32>
    // expected-error @+1 {{triton.atomic_cas needs one range or '_' for each dimension of !tile.tile<8 x f32>}}
    %old = triton.atomic_cas %v, %v, %a[0:8] in (_, _) : !tile.tile<8 x f32>, memref<1000xf32>
  }
  func.return
}

// -----

func.func @inline() {
  // expected-error @+1 {{triton.inline has no text of 'f'}}
  triton.inline "f"() functions = {g = "():\n    tl.debug_barrier()"} : () -> ()
  func.return
}
