// What each pass changed, word by word; passes that change nothing say nothing.
// RUN: kopt %s -p dce,cse,cse --mlir-print-ir-diff 2> %t | filecheck %s --check-prefix=OUT
// RUN: filecheck %s --input-file=%t
// RUN: kopt %s -p cse --print-ir-diff --print-ir-after=cse -o %t 2>&1 | filecheck %s --check-prefix=BOTH

// OUT-NOT: IR Diff
// OUT: func.func @f

// CHECK-NOT: IR Diff After dce
// CHECK: // -----// IR Diff After cse //----- //
// CHECK-NEXT: {{^}}  ...
// CHECK-NEXT: {{^}}    func.func @f() -> i32 {
// CHECK-NEXT: {{^}}      %c = arith.constant 1 : i32
// CHECK-NEXT: {{^}}-     [-%d = arith.constant 1 : i32-]
// CHECK-NEXT: {{^}}~     %e = arith.addi %c, {{.}}-%d-]{+%c+} : i32
// CHECK-NEXT: {{^}}      func.return %e : i32
// CHECK-NEXT: {{^}}    }
// CHECK-NEXT: {{^}}  ...
// CHECK-NOT: IR Diff

// BOTH: IR Diff After cse
// BOTH: IR Dump After cse
func.func @f() -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %e = arith.addi %c, %d : i32
  return %e : i32
}
