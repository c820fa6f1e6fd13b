"""Collectives as kernels, on several devices that are not there."""
