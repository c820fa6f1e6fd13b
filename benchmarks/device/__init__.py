"""Kernels timed on a GPU: who computes, what torch's libraries have, how calls are timed, and how much work one is."""
