// RUN: kopt %s --split-input-file --verify-diagnostics -p 'functionalise-host,normalise-accesses,plan-values'

func.func @after(%x: memref<300x200xf32>, %ids: memref<300xi32>, %out: memref<300x200xf32>) {
  tile.grid (%i: b0=16) in (300) {
    %n = tile.load %ids[%i] : memref<300xi32> -> !tile.tile<b0=16 x i32>
    %w = tile.full 1.0 : !tile.tile<b0=16 x 200 x f32>
    tile.store %w, %x[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
    // expected-error @+1 {{an array is read by computed numbers after the same loop writes it}}
    %v = tile.load %x[%n, :] : memref<300x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
  }
  func.return
}

// -----

// So it is where an update comes before the load.
func.func @after_an_update(%x: memref<300x200xf32>, %ids: memref<300xi32>, %out: memref<300x200xf32>) {
  tile.grid (%i: b0=16) in (300) {
    %n = tile.load %ids[%i] : memref<300xi32> -> !tile.tile<b0=16 x i32>
    %w = tile.full 1.0 : !tile.tile<b0=16 x 200 x f32>
    atomic.rmw add %w, %x[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
    // expected-error @+1 {{an array is read by computed numbers after the same loop writes it}}
    %v = tile.load %x[%n, :] : memref<300x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
  }
  func.return
}
