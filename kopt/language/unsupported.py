"""The functions of the language that not every target has."""

#: What no target has, and what to write instead.
UNSUPPORTED = {
    "breakpoint": "remove it",
    "pdl_wait": "remove it",
    "pdl_launch_dependents": "remove it",
}
#: Code of Triton or of its GPUs: an error on other targets.
TRITON_ONLY = ("inline_asm_elementwise", "inline_triton", "triton_kernel")
#: What ranks of a mesh do to each other: an error on other targets.
PALLAS_ONLY = ("make_async_remote_copy", "remote_barrier")
