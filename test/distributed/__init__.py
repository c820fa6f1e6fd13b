"""Emitted host programs on several processes."""
