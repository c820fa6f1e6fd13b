// RUN: kopt %s --split-input-file --verify-diagnostics -p bind-buffers

// Windows have elements.
func.func @columns(%x: memref<64x0xf32>, %out: memref<64x0xf32>) -> memref<64x0xf32> {
  %r = host.launch @columns (%a = %x, %o = %out) writes [1] : (memref<64x0xf32>, memref<64x0xf32>) -> memref<64x0xf32> {
    tile.grid (%i: b0=256) in (64) {
      // expected-note @+2 {{'drop-empty' leaves no such accesses: run it before 'bind-buffers'}}
      // expected-error @+1 {{'tile.load' of 'a', which has no elements}}
      %v = tile.load %a[%i, :] : memref<64x0xf32> -> !tile.tile<b0=256 x 0 x f32>
      tile.store %v, %o[%i, :] : !tile.tile<b0=256 x 0 x f32>, memref<64x0xf32>
    }
  }
  func.return %r : memref<64x0xf32>
}

// -----

func.func @written(%out: memref<0x64xf32>) -> memref<0x64xf32> {
  %r = host.launch @written (%o = %out) writes [0] : (memref<0x64xf32>) -> memref<0x64xf32> {
    tile.grid (%i: b0=8) in (64) {
      %v = tile.full 1.0 : !tile.tile<0 x b0=8 x f32>
      // expected-note @+2 {{'drop-empty' leaves no such accesses}}
      // expected-error @+1 {{'tile.store' of 'o', which has no elements}}
      tile.store %v, %o[:, %i] : !tile.tile<0 x b0=8 x f32>, memref<0x64xf32>
    }
  }
  func.return %r : memref<0x64xf32>
}

// -----

// Updates are made loads and stores of before.
func.func @updated(%x: memref<8x128xf32>, %out: memref<8x128xf32>) -> memref<8x128xf32> {
  %r = host.launch @updated (%a = %x, %o = %out) writes [1] : (memref<8x128xf32>, memref<8x128xf32>) -> memref<8x128xf32> {
    tile.grid (%i: b0=8) in (8) {
      %v = tile.load %a[%i, :] : memref<8x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      // expected-note @+2 {{'realise-values' makes loads and stores of such accesses: run it before 'bind-buffers'}}
      // expected-error @+1 {{'atomic.rmw' of 'o' has no window and no copy}}
      atomic.rmw add %v, %o[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<8x128xf32>
    }
  }
  func.return %r : memref<8x128xf32>
}
