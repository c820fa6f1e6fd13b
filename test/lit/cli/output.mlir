// Where the module goes, and in which syntax.
// RUN: kopt %s -o %t && filecheck %s --input-file=%t
// RUN: kopt %s -o - | filecheck %s
// RUN: kopt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: kopt %s --print-debuginfo | filecheck %s --check-prefix=LOC
// RUN: kopt %s --print-debuginfo -o %t.mlir && kopt %t.mlir --print-debuginfo | filecheck %s --check-prefix=LOC
// RUN: kopt %s --verify-roundtrip -p canonicalize | filecheck %s
// RUN: not kopt %s -o %T/missing/out.mlir 2>&1 | filecheck %s --check-prefix=NOWHERE
// RUN: echo untouched > %t.keep && not kopt %s -p cse,nonsense -o %t.keep 2> %t.err && grep untouched %t.keep

// CHECK: func.func @f(%a: i32) -> i32 {
// CHECK-NEXT: func.return %a : i32

// GENERIC: "func.func"() <{
// GENERIC: "func.return"(%a) : (i32) -> ()

// NOWHERE: error: cannot write '{{.*}}out.mlir': No such file or directory

func.func @f(%a: i32) -> i32 {
  // LOC: func.return %a : i32 loc("{{.*}}output.mlir":[[# @LINE + 1]]:3)
  return %a : i32
}
