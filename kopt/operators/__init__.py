"""Kernels as custom operators of torch: where torch traces, transforms or differentiates a call, it sees one operator.

A call of plain tensors never comes here (`kopt.kernels`). `calls` leads the others to an operator, `structure` says
what comes back without running, `operands` takes a call's values apart, `definition` tells torch about an operator,
`gradients` has the rules of ``@kernel.backward``, `graphs` what ``torch.compile`` sees of a call.
"""
