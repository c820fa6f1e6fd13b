// Text that is not well formed, piece by piece; the messages' places are those of this file.
// RUN: kopt %s --split-input-file --verify-diagnostics
// RUN: not kopt %s --split-input-file 2>&1 | filecheck %s

// CHECK: bad-ir.mlir:[[# @LINE + 3]]:3: error: unknown dialect 'tiles' of operation 'tiles.load'
func.func @dialect() {
  // expected-error @+1 {{unknown dialect 'tiles' of operation 'tiles.load'}}
  tiles.load
}

// -----

func.func @operation(%a: i32) {
  // CHECK: bad-ir.mlir:[[# @LINE + 4]]:8: error: unknown operation 'arith.addd'; did you mean 'arith.addi'?
  // CHECK-NEXT: {{^}}  %0 = arith.addd %a, %a : i32
  // CHECK-NEXT: {{^}}       ^^^^^^^^^^{{$}}
  // expected-error @+1 {{did you mean 'arith.addi'?}}
  %0 = arith.addd %a, %a : i32
}

// -----

func.func @types(%a: i32) {
  %0 = arith.addi %a, %a : f32
  // expected-error @above {{'arith.addi' does not parse: Unexpected attribute f32}}
}

// -----

func.func @undefined() {
  // expected-error @below {{%x is not defined}}
  "test.op"(%x) : (i32) -> ()
  return
}

// -----

// expected-error @below {{'func.func' has an empty block where a terminator is needed}}
func.func @terminator(%a: i32) {
}

// -----

func.func @early() {
  "test.op"(%x) : (i32) -> () // expected-error {{operand #0 of 'test.op' (%x) is used before its definition}}
  %x = "test.op"() : () -> i32
  return
}

// -----

func.func @results(%a: i32) -> f32 {
  // expected-error @+1 {{'func.return': Expected arguments to have the same types as the function output types}}
  return %a : i32
}

// -----

// expected-error @+1 {{Redefinition of symbol "twice"}}
builtin.module {
  func.func private @twice()
  func.func private @twice()
}

// -----

// xDSL would make all elements of a splat.
func.func @dense() {
  // expected-error @+1 {{dense attributes have at most 4194304 elements, found 2147483648}}
  %a = arith.constant dense<1> : vector<2147483648xi32>
  return
}

// -----

// An explicit location is what errors show.
func.func @located(%a: i32) -> f32 {
  // CHECK: other.py:7:9: error: 'func.return'
  // expected-error @unknown {{'func.return'}}
  "func.return"(%a) : (i32) -> () loc("other.py":7:9)
}
