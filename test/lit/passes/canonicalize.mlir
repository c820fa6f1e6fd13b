// RUN: kopt %s -p 'canonicalize' | filecheck %s

// Patterns apply until nothing changes, constants fold, and what is dead then goes.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: %n: index
func.func @sums(%n: index) -> index {
  // CHECK-NEXT: func.return %n : index
  %one = arith.constant 1 : index
  %less = arith.constant -1 : index
  %zero = arith.addi %one, %less : index
  %same = arith.addi %n, %zero : index
  func.return %same : index
}
