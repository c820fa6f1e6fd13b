// IR dumps and times go to stderr, the module to stdout.
// RUN: kopt %s -p cse,canonicalize --print-ir-before=cse --print-ir-after=canonicalize 2> %t | filecheck %s --check-prefix=OUT
// RUN: filecheck %s --check-prefix=SOME --input-file=%t
// RUN: kopt %s -p cse,dce --print-ir-before-all 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: kopt %s -p cse,dce --print-ir-after 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: kopt %s -p cse,dce --mlir-print-ir-after-all 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: kopt %s -p dce,cse,cse --print-ir-after-change 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: kopt %s -p cse --mlir-timing -o %t 2>&1 | filecheck %s --check-prefix=TIME

// OUT-NOT: IR Dump
// OUT: func.func @f

// SOME: // -----// IR Dump Before cse //----- //
// SOME-NEXT: builtin.module
// SOME: arith.constant
// SOME: arith.constant
// SOME: // -----// IR Dump After canonicalize //----- //
// SOME-NOT: IR Dump

// BEFORE: IR Dump Before cse
// BEFORE: IR Dump Before dce
// AFTER: IR Dump After cse
// AFTER: IR Dump After dce

// CHANGE-NOT: IR Dump After dce
// CHANGE: IR Dump After cse
// CHANGE-NOT: IR Dump

// TIME: ms {{.*}}% parse
// TIME: pass cse
// TIME: 100.0% total
func.func @f() -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %e = arith.addi %c, %d : i32
  return %e : i32
}
