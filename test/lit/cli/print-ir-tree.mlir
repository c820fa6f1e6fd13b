// Dumps in files, one a pass, in mlir-opt's folders; numbers go on from piece to piece.

// RUN: kopt %s --split-input-file -p dce,cse --mlir-print-ir-tree-dir=%T/every | filecheck %s --check-prefix=OUT
// RUN: filecheck %s --check-prefix=DCE --input-file=%T/every/builtin_module_no-symbol-name/0_dce.mlir
// RUN: filecheck %s --check-prefix=CSE --input-file=%T/every/builtin_module_no-symbol-name/1_cse.mlir
// RUN: filecheck %s --check-prefix=NAMED --input-file=%T/every/builtin_module_a_.._b/1_cse.mlir
// RUN: kopt %s --split-input-file -p dce,cse --print-ir-before=cse --print-ir-tree-dir %T/one -o %t
// RUN: filecheck %s --check-prefix=BEFORE --input-file=%T/one/builtin_module_no-symbol-name/0_cse.mlir
// RUN: not test -e %T/one/builtin_module_no-symbol-name/1_cse.mlir
// RUN: not kopt %s --split-input-file -p cse --print-ir-tree-dir %s 2>&1 | filecheck %s --check-prefix=NO-FOLDER

// OUT-NOT: IR Dump
// DCE: // -----// IR Dump After dce //----- //
// DCE-NEXT: builtin.module {
// DCE: arith.constant 1
// DCE: arith.constant 1
// DCE-NOT: IR Dump
// CSE: IR Dump After cse
// CSE: arith.constant 1
// CSE-NOT: arith.constant 1
// NAMED: IR Dump After cse
// NAMED-NEXT: builtin.module @"a/../b"
// BEFORE: IR Dump Before cse
// BEFORE: arith.constant 1
// BEFORE: arith.constant 1
// NO-FOLDER: error: cannot write '{{.*}}0_cse.mlir': Not a directory
func.func @f() -> i32 {
  %c = arith.constant 1 : i32
  %d = arith.constant 1 : i32
  %e = arith.addi %c, %d : i32
  func.return %e : i32
}
// -----
builtin.module @"a/../b" {
  func.func private @g()
}
