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
  // expected-error @+1 {{the cells of a launch are shared by at least 1 persistent program}}
  triton.launch @k (%a = %x) grid (8) persistent 0 num_warps 4 num_stages 2 {
    %pid = triton.program_id
  }
  func.return
}

// -----

func.func @f(%x: memref<8xf32>) {
  // expected-error @+1 {{a thread has 1 to 255 registers, found 256}}
  triton.launch @k (%a = %x) grid (8) num_warps 4 num_stages 2 max_registers 256 {
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
    %v = tile.load %a[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %a[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  func.return
}

// -----

func.func @inline() {
  // expected-error @+1 {{triton.inline has no text of 'f'}}
  triton.inline "f"() functions = {g = "():\n    tl.debug_barrier()"} : () -> ()
  func.return
}

// -----

func.func @numbers(%x: memref<1000xf32>) {
  triton.launch @numbers_0 (%a = %x) grid (8) num_warps 4 num_stages 2 {
    %v = tile.full 1.0 : !tile.tile<8 x f32>
    // expected-error @+1 {{triton.bounded takes lane numbers, found !tile.tile<8 x f32>}}
    %n = triton.bounded %v below 8 : !tile.tile<8 x f32>
  }
  func.return
}

// -----

func.func @no_lanes(%x: memref<1000xf32>) {
  triton.launch @no_lanes_0 (%a = %x) grid (8) num_warps 4 num_stages 2 {
    %v = tile.full 1 : !tile.tile<8 x i32>
    // expected-error @+1 {{triton.bounded needs a lane to stay at, found the limit 0}}
    %n = triton.bounded %v below 0 : !tile.tile<8 x i32>
  }
  func.return
}

// -----

func.func @no_python(%x: memref<128xf32>) {
  // expected-error @+1 {{the text of 'f' is no Python: invalid syntax}}
  triton.inline "f"() functions = {f = "(x):\n    return in + 1"} : () -> ()
  func.return
}

// -----

func.func @two_limits(%x: memref<1000xf32>) {
  triton.launch @two_limits_0 (%a = %x) grid (8) num_warps 4 num_stages 2 {
    %pid = triton.program_id
    // expected-error @+1 {{triton.range has one limit, a number or a value}}
    %i = triton.range %pid in (0, 8 to %pid) : !tile.range<b0=16>
  }
  func.return
}

// -----

func.func @no_block(%x: memref<?xf32>) {
  %m = tile.dim %x 0 : memref<?xf32>
  // expected-error @+1 {{triton.launch has the size of a block for each extent}}
  triton.launch @no_block_0 (%a = %x) grid (8 per %m / 0) num_warps 4 num_stages 2 {
  }
  func.return
}

// -----

func.func @other_types(%v: !tile.tile<8 x f32>, %w: !tile.tile<4 x f32>) {
  // expected-error @+1 {{triton.join takes two blocks of one type, found !tile.tile<8 x f32>, !tile.tile<4 x f32>}}
  "triton.join"(%v, %w) : (!tile.tile<8 x f32>, !tile.tile<4 x f32>) -> !tile.tile<8 x 2 x f32>
  func.return
}

// -----

func.func @f(%x: memref<8xf32>) {
  // expected-error @+1 {{num_stages is at least 1, found 0}}
  triton.launch @k (%a = %x) grid (8) num_warps 4 num_stages 0 {
    %pid = triton.program_id
  }
  func.return
}
