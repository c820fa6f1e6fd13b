"""Pallas kernels for TPU as we write them by hand: what kopt's are measured against.

Their block sizes are those that libtpu estimates as the fastest on a v6e; smaller ones serve the tests.
"""
