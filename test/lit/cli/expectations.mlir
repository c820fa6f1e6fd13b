// What --verify-diagnostics says when expectations and errors do not match.
// RUN: not kopt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

// CHECK: expectations.mlir:[[# @LINE + 4]]:1: error: unexpected error: unknown dialect 'foo' of operation 'foo.bar'
// CHECK-NEXT: {{^}}foo.bar
// CHECK: expectations.mlir:[[# @LINE + 1]]:4: error: expected error "another message" was not produced
// expected-error @below {{another message}}
foo.bar

// -----

// The wrong line does not match.
// CHECK: error: unexpected error: unknown dialect 'foo'
// CHECK: expectations.mlir:[[# @LINE + 2]]:12: error: expected error "unknown dialect" was not produced

foo.bar // expected-error @+1 {{unknown dialect}}

// -----

// Once is not twice.
// CHECK: error: expected error "unknown dialect" was not produced
foo.bar // expected-error 2 {{unknown dialect}}

// -----

// CHECK: error: expected warning "nothing" was not produced
// expected-warning @unknown {{nothing}}
func.func private @f()

// -----

// CHECK: expectations.mlir:[[# @LINE + 1]]:1: error: this expectation is not understood
// expected-error {{no closing braces
func.func private @f()
