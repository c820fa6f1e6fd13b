"""What ``bind-buffers`` does to one launch: its operands, host arrays, accesses, the call."""
