"""Frontends of other languages on `kopt.build`."""
