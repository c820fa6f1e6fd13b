// Values of options that a pass does not have: an error where the option stands, and the least that it takes.

// RUN: not kopt %s -p 'align-accesses{cases=loads,rows,lanes}' 2>&1 | filecheck %s --check-prefix=CASES
// CASES: <pass-pipeline>:1:1: error: pass 'align-accesses': 'rows' is no case of align-accesses; there are loops, loads, stores

// RUN: not kopt %s -p 'balance-items{programs=0}' 2>&1 | filecheck %s --check-prefix=PROGRAMS
// RUN: kopt %s -p 'balance-items{programs=1}'
// PROGRAMS: <pass-pipeline>:1:1: error: pass 'balance-items': balance-items needs at least 1 program, found 0

// RUN: not kopt %s -p 'plan-values{prefer=one_hot,most}' 2>&1 | filecheck %s --check-prefix=KINDS
// KINDS: <pass-pipeline>:1:1: error: pass 'plan-values': 'most' is no kind of what is at computed places; there are

// RUN: not kopt %s -p 'cse,split-k{factor=0}' 2>&1 | filecheck %s --check-prefix=FACTOR
// RUN: kopt %s -p 'split-k{factor=1}'
// FACTOR: <pass-pipeline>:1:5: error: pass 'split-k': split-k needs a factor of at least 1, found 0

builtin.module {
}
