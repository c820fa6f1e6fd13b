// What collectives refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @kind(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_reduce knows add, max, min, avg, found 'mean'}}
  %a = symm.all_reduce mean %x group "tp" : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @algorithm(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_reduce goes by one_shot, two_shot, multimem, found 'ring'}}
  %a = symm.all_reduce add %x group "tp" by ring : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @shape(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_reduce keeps the shape, found [8] and [16]}}
  %a = symm.all_reduce add %x group "tp" : memref<8xf32> to memref<16xf32>
  func.return
}

// -----

func.func @parts(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_gather joins parts along dimension 0, found [8] and [12]}}
  %a = symm.all_gather %x group "tp" : memref<8xf32> to memref<12xf32>
  func.return
}

// -----

func.func @element(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.reduce_scatter keeps the element type, found memref<8xf32> to memref<4xf16>}}
  %a = symm.reduce_scatter %x group "tp" : memref<8xf32> to memref<4xf16>
  func.return
}

// -----

func.func @other_group(%x: memref<8xf32, #symm.space<"dp">>) {
  // expected-error @+1 {{symm.all_to_all in group "tp" takes a buffer of another group, #symm.space<"dp">}}
  %a = symm.all_to_all %x group "tp" : memref<8xf32, #symm.space<"dp">> to memref<8xf32>
  func.return
}

// -----

func.func @nameless(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_to_all needs the name of its group}}
  %a = symm.all_to_all %x group "" : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

// expected-error @+1 {{a group needs a name}}
func.func private @space(memref<8xf32, #symm.space<"">>)
