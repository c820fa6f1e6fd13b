// What loops refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @extents() {
  // expected-error @+1 {{tile.grid binds 2 ranges in 1 extents}}
  tile.grid (%i: b0=16, %j: b1=8) in (100) {
  }
  func.return
}

// -----

func.func @backwards() {
  // expected-error @+1 {{tile.grid cannot walk from 8 to 4}}
  tile.grid (%i: b0=16) in (8 to 4) {
  }
  func.return
}

// -----

func.func @reduce() {
  // expected-error @+1 {{reduce and ordered list dimensions of the grid}}
  tile.grid (%i: b0=16) in (100) reduce [1] {
  }
  func.return
}

// -----

func.func @untagged() {
  // expected-error @+1 {{a range needs a tag}}
  tile.grid (%i: 16) in (100) {
  }
  func.return
}

// -----

func.func @one_bound() {
  tile.grid (%i: b0=16) in (100) {
    // expected-error @+1 {{tile.for walks from one bound to another: (lower, upper)}}
    tile.for %k: b1=8 in (64) {
    }
  }
  func.return
}

// -----

func.func @carries() {
  tile.grid (%i: b0=16) in (100) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    // expected-error @+1 {{tile.for carries (!tile.tile<b0=16 x f32>) but yields (!tile.tile<16 x f32>)}}
    %r = tile.for %k: b1=8 in (0, 64) iter(%a = %z) -> (!tile.tile<b0=16 x f32>) {
      %y = tile.full 0.0 : !tile.tile<16 x f32>
      tile.yield %y : !tile.tile<16 x f32>
    }
  }
  func.return
}

// -----

func.func @carries_nothing() {
  tile.grid (%i: b0=16) in (100) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    // expected-error @+1 {{tile.for carries (!tile.tile<b0=16 x f32>) but yields ()}}
    %r = tile.for %k: b1=8 in (0, 64) iter(%a = %z) -> (!tile.tile<b0=16 x f32>) {
    }
  }
  func.return
}

// -----

func.func @carried_type() {
  tile.grid (%i: b0=16) in (100) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    // expected-error @+1 {{expected the type !tile.tile<b0=16 x f32>, found !tile.tile<8 x f32>}}
    %r = tile.for %k: b1=8 in (0, 64) iter(%a = %z) -> (!tile.tile<8 x f32>) {
      tile.yield %a : !tile.tile<b0=16 x f32>
    }
  }
  func.return
}

// -----

func.func @bound_type(%n: i32) {
  tile.grid (%i: b0=16) in (100) {
    // expected-error @+1 {{'tile.for'}}
    tile.for %k: b1=8 in (0, %n) {
    }
  }
  func.return
}

// -----

func.func @visit() {
  tile.grid (%i: b0=16) in (100) {
    // expected-error @+1 {{tile.when tells first or last visits, found 'second'}}
    tile.when second(%i) {
    }
  }
  func.return
}

// -----

func.func @no_dimension(%x: memref<?xf32>) {
  // expected-error @+1 {{memref<?xf32> has no dimension 1}}
  %m = tile.dim %x 1 : memref<?xf32>
  func.return
}

// -----

func.func @no_multiple(%x: memref<?xf32>) {
  // expected-error @+1 {{an extent is no multiple of 0}}
  %m = tile.dim %x 0 multiple 0 : memref<?xf32>
  func.return
}

// -----

func.func @extent_type(%m: i32) {
  // expected-error @+1 {{'tile.grid'}}
  tile.grid (%i: b0=16) in (%m) {
  }
  func.return
}

// -----

func.func @no_multiple_of_extents() {
  // expected-error @+1 {{an extent is no multiple of 0}}
  %m = tile.extent "x.size(0)" multiple 0
  func.return
}

// -----

func.func @grid_in_a_grid() {
  tile.grid (%i: b0=16) in (100) {
    tile.for %j: b1=8 in (0, 20) {
      // expected-error @+1 {{a grid stands in no other: nest a tile.for}}
      tile.grid (%k: b2=4) in (20) {
      }
    }
  }
  func.return
}
