// What combinations by a function of the kernel's own, and sorts, refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @shapes(%v: !tile.tile<4 x 8 x f32>, %k: !tile.tile<8 x 4 x i32>) {
  // expected-error @+1 {{tile.associative_reduce combines tiles of one shape, found !tile.tile<4 x 8 x f32> and !tile.tile<8 x 4 x i32>}}
  %a, %b = tile.associative_reduce %v, %k dim 1 : !tile.tile<4 x 8 x f32>, !tile.tile<8 x 4 x i32> {
  ^bb0(%l: !tile.tile<f32>, %m: !tile.tile<i32>, %r: !tile.tile<f32>, %n: !tile.tile<i32>):
    tile.yield %l, %m : !tile.tile<f32>, !tile.tile<i32>
  }
  func.return
}

// -----

func.func @arguments(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.associative_scan takes (!tile.tile<f32>, !tile.tile<f32>), found (!tile.tile<f32>)}}
  %a = tile.associative_scan %v dim 0 : !tile.tile<8 x f32> {
  ^bb0(%l: !tile.tile<f32>):
    tile.yield %l : !tile.tile<f32>
  }
  func.return
}

// -----

func.func @yields(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.associative_scan yields (!tile.tile<f32>), found (!tile.tile<i1>)}}
  %a = tile.associative_scan %v dim 0 : !tile.tile<8 x f32> {
  ^bb0(%l: !tile.tile<f32>, %r: !tile.tile<f32>):
    %c = tile.lt %l, %r : !tile.tile<f32>
    tile.yield %c : !tile.tile<i1>
  }
  func.return
}

// -----

func.func @order(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.associative_reduce combines in any order: 'reverse' means nothing}}
  %a = tile.associative_reduce %v dim 0 reverse : !tile.tile<8 x f32> {
  ^bb0(%l: !tile.tile<f32>, %r: !tile.tile<f32>):
    tile.yield %l : !tile.tile<f32>
  }
  func.return
}

// -----

func.func @dim(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{expected a dimension of !tile.tile<8 x f32>, found 1}}
  %a = tile.associative_scan %v dim 1 : !tile.tile<8 x f32> {
  }
  func.return
}

// -----

func.func @sort_dim(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{!tile.tile<8 x f32> has no dimension 1}}
  %a, %b = tile.sort %v dim 1 : !tile.tile<8 x f32>
  func.return
}

// -----

func.func @sort_of_predicates(%v: !tile.tile<8 x i1>) {
  // expected-error @+1 {{tile.sort orders numbers, found predicates: cast first}}
  %a, %b = tile.sort %v dim 0 : !tile.tile<8 x i1>
  func.return
}

// -----

func.func @sort_of_index(%v: !tile.tile<8 x index>) {
  // expected-error @+1 {{tile.sort orders integers or floats, found index}}
  %a, %b = tile.sort %v dim 0 : !tile.tile<8 x index>
  func.return
}
