// Pieces are treated one by one: those that succeed are printed, line numbers are the file's.
// An output file is written whole or not at all.
// RUN: not kopt %s --split-input-file 2>&1 | filecheck %s
// RUN: not kopt %s --split-input-file -o %t ; not test -e %t
// RUN: not kopt %s 2>&1 | filecheck %s --check-prefix=WHOLE

// CHECK: split-input.mlir:[[# @LINE + 9]]:1: error: unknown dialect 'foo'
// CHECK: func.func private @a()
// CHECK: // -----
// CHECK: func.func private @b()
// WHOLE-NOT: func.func
func.func private @a()

// -----

foo.bar

// -----

func.func private @b()
