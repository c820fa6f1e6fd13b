// What the host's ops refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @alloc() {
  // expected-error @+1 {{expected a memref type, found i32}}
  %a = host.alloc : i32
  func.return
}

// -----

func.func @fill() {
  // expected-error @+1 {{1.5 is no i32}}
  %a = host.alloc fill 1.5 : memref<4xi32>
  func.return
}

// -----

func.func @reshape(%x: memref<4xf32>) {
  // expected-error @+1 {{host.reshape keeps the elements, found memref<4xf32> to memref<5xf32>}}
  %a = host.reshape %x : memref<4xf32> to memref<5xf32>
  func.return
}

// -----

func.func @element(%x: memref<4xf32>) {
  // expected-error @+1 {{host.reshape keeps the element type, found memref<4xf32> to memref<4xi32>}}
  %a = host.reshape %x : memref<4xf32> to memref<4xi32>
  func.return
}

// -----

func.func @permute(%x: memref<4x5xf32>) {
  // expected-error @+1 {{[0, 0] is no permutation of 2 dimensions}}
  %a = host.permute %x [0, 0] : memref<4x5xf32> to memref<4x5xf32>
  func.return
}

// -----

func.func @permuted(%x: memref<4x5xf32>) {
  // expected-error @+1 {{host.permute [1, 0] of memref<4x5xf32> is not memref<4x5xf32>}}
  %a = host.permute %x [1, 0] : memref<4x5xf32> to memref<4x5xf32>
  func.return
}

// -----

func.func @slice(%x: memref<4x5xf32>) {
  // expected-error @+1 {{slice [3] [2] [1] is outside a dimension of 4}}
  %a = host.slice %x [3, 0] [2, 5] [1, 1] : memref<4x5xf32> to memref<2x5xf32>
  func.return
}

// -----

func.func @slice_numbers(%x: memref<4x5xf32>) {
  // expected-error @+1 {{host.slice needs three numbers for each dimension of memref<4x5xf32>}}
  %a = host.slice %x [3] [1] [1] : memref<4x5xf32> to memref<1x5xf32>
  func.return
}

// -----

func.func @expand(%x: memref<4x5xf32>) {
  // expected-error @+1 {{host.expand cannot repeat memref<4x5xf32> to memref<8x5xf32>}}
  %a = host.expand %x : memref<4x5xf32> to memref<8x5xf32>
  func.return
}

// -----

func.func @call(%x: memref<4xf32>) {
  // expected-error @+1 {{host.call has 1 operands for 0 places in its arguments}}
  %a = host.call "aten.exp.default"(%x) args [] : (memref<4xf32>) -> (memref<4xf32>)
  func.return
}

// -----

func.func @copy(%x: memref<4xf32>, %y: memref<5xf32>) {
  // expected-error @+1 {{host.copy needs one shape, found memref<4xf32> and memref<5xf32>}}
  host.copy %x to %y : memref<4xf32>, memref<5xf32>
  func.return
}

// -----

func.func @insert(%x: memref<4xf32>, %y: memref<5xf32>) {
  // expected-error @+1 {{host.insert of memref<5xf32> into memref<4xf32> does not fit [0] [4] [1]}}
  %a = host.insert %y into %x [0] [4] [1] : memref<5xf32>, memref<4xf32>
  func.return
}

// -----

func.func @insert_types(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{expected the type memref<4xf32>, found memref<4xf16>}}
  %a = host.insert %y into %x [0] [4] [1] : memref<4xf32>, memref<4xf16>
  func.return
}

// -----

func.func @launch(%x: memref<4xf32>) {
  // expected-error @+1 {{host.launch writes operands by number, found (1,) of 1}}
  %a = host.launch @k (%a = %x) writes [1] : (memref<4xf32>) -> memref<4xf32> {
  }
  func.return
}

// -----

func.func @launch_writes(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{host.launch writes operand 1 in its body, and its list is [0]}}
  %b = host.launch @k (%a = %x, %c = %y) writes [0] : (memref<4xf32>, memref<4xf32>) -> memref<4xf32> {
    tile.grid (%i: b0=4) in (4) {
      %v = tile.load %a[%i] : memref<4xf32> -> !tile.tile<b0=4 x f32>
      tile.store %v, %c[%i] : !tile.tile<b0=4 x f32>, memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @launch_type(%x: memref<4xf32>) {
  // expected-error @+1 {{expected the type (memref<4xf32>) -> memref<4xf32>, found (memref<4xf32>) -> memref<5xf32>}}
  %b = host.launch @k (%a = %x) writes [0] : (memref<4xf32>) -> memref<5xf32> {
  }
  func.return
}

// -----

func.func @donates(%x: memref<4xf32>) {
  // expected-error @+1 {{host.launch donates operands that it writes, found [0]}}
  host.launch @f (%a = %x) writes [] donates [0] : (memref<4xf32>) -> () {
  }
  func.return
}

// -----

func.func @yields() {
  // expected-error @+1 {{host.launch gives back the operands that it writes, and what it yields}}
  "host.launch"() <{sym_name = "f", writes = array<i64>}> ({
  ^bb0(%a: memref<4xf32>):
  }) : () -> ()
  func.return
}

// -----

func.func @persistent() {
  // expected-error @+1 {{a persistent array needs an id}}
  %a = host.alloc persistent "" : memref<4xf32>
  func.return
}

// -----

func.func @no_out_form(%x: memref<4xf32>) {
  // expected-error @+1 {{host.call_out knows no form of 'aten.nonzero.default' that writes a given array}}
  host.call_out "aten.nonzero.default"(%x) args [unit] to %x : (memref<4xf32>) to memref<4xf32>
  func.return
}

// -----

func.func @slots(%x: memref<4xf32>) {
  // expected-error @+1 {{host.call_out has 1 operands for 2 places in its arguments}}
  host.call_out "aten.add.Tensor"(%x) args [unit, unit] to %x : (memref<4xf32>) to memref<4xf32>
  func.return
}

// -----

func.func @partition() {
  // expected-error @+1 {{host.partition's results are what its host.yield names}}
  %a = host.partition capture -> memref<4xf32> {
    %b = host.alloc : memref<5xf32>
    host.yield %b : memref<5xf32>
  }
  func.return
}

// -----

func.func @slice_rank(%x: memref<4xf32>) {
  // expected-error @+1 {{host.slice of memref<4xf32> is not memref<2x2xf32>}}
  %s = host.slice %x [0] [2] [1] : memref<4xf32> to memref<2x2xf32>
  func.return
}

// -----

func.func @partition_end() {
  // expected-error @+1 {{host.partition ends in host.yield}}
  "host.partition"() ({
    tile.yield
  }) : () -> ()
  func.return
}

// -----

func.func @partition_results() {
  // expected-error @+1 {{host.partition's results are what its host.yield names}}
  %a = "host.partition"() ({
    host.yield
  }) : () -> memref<4xf32>
  func.return
}

// -----

func.func @filled_otherwise() {
  // expected-error @+1 {{host.alloc cannot fill memref<4xi32> with 1.500000e+00 : f32}}
  %a = "host.alloc"() <{fill = 1.5 : f32}> : () -> memref<4xi32>
  func.return
}

// -----

func.func @filled_by_a_word() {
  // expected-error @+1 {{host.alloc cannot fill memref<4xi32> with "one"}}
  %a = "host.alloc"() <{fill = "one"}> : () -> memref<4xi32>
  func.return
}
