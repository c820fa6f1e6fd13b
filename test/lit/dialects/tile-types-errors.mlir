// Types that cannot be.
// RUN: kopt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'f1' is not a usable tag: take a lower-case name that is no type, such as b0}}
func.func private @tag(!tile.tile<f1=4 x f32>)

// -----

// expected-error @+1 {{'Block' is not a usable tag}}
func.func private @tag(!tile.tile<Block=4 x f32>)

// -----

// expected-error @+1 {{a range needs a tag, such as !tile.range<b0=128>}}
func.func private @range(!tile.range<128>)

// -----

// expected-error @+1 {{a range needs at least one lane}}
func.func private @range(!tile.range<b0=0>)

// -----

// expected-error @+1 {{unknown memory space 'dram': one of vmem, smem, hbm, any, semaphore}}
func.func private @space(!tile.ref<8 x f32, dram>)

// -----

// expected-error @+1 {{Unexpected dynamic dimension!}}
func.func private @dynamic(!tile.tile<? x f32>)

// -----

// expected-error @+1 {{buffers hold integers or floats, found index}}
func.func private @ref_of_index(!tile.ref<8 x index, vmem>)

// -----

// expected-error @+1 {{arrays hold integers or floats, found index}}
func.func @array_of_index(%x: memref<8xindex>) {
  func.return
}

// -----

func.func @array_of_tiles() {
  // expected-error @+1 {{arrays hold integers or floats, found !tile.tile<f32>}}
  %x = host.alloc : memref<8x!tile.tile<f32>>
  func.return
}

// -----

func.func @no_tile() {
  // expected-error @+1 {{expected a !tile.tile type, found i32}}
  %y = tile.full 1.0 : i32
  func.return
}
