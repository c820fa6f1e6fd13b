"""Kernels in the Helion language, each a few lines, and what torch says of the same arguments.

`registry.EXAMPLES` is the table of all of them: tests, benchmarks and the demo read it.
"""
