"""Loops while a kernel runs for its import: over tiles and numbers on the device, and those that Python runs."""
