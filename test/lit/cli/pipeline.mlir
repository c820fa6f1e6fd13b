// RUN: kopt %s -p canonicalize | filecheck %s
// RUN: kopt %s --pass-pipeline='builtin.module(canonicalize)' | filecheck %s
// RUN: kopt %s --passes 'builtin.module(func.func(cse),any(canonicalize))' | filecheck %s
// RUN: kopt < %s -p canonicalize | filecheck %s
// RUN: kopt - -p canonicalize < %s | filecheck %s
// RUN: spawn kopt %s -p canonicalize | filecheck %s
// RUN: kopt %s | filecheck %s --check-prefix=SAME
// RUN: kopt %s -p 'builtin.module()' | filecheck %s --check-prefix=SAME

// CHECK-LABEL: func.func @f(%a: i32) -> i32 {
// CHECK-NEXT:    %[[C:.*]] = arith.constant 2 : i32
// CHECK-NEXT:    %{{.*}} = arith.addi %a, %[[C]] : i32

// SAME: arith.constant 1
// SAME-NEXT: arith.constant 1
// SAME-NEXT: arith.addi
// SAME-NEXT: arith.addi
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %e = arith.addi %c, %d : i32
  %r = arith.addi %a, %e : i32
  return %r : i32
}
