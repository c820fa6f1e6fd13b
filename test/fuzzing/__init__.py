"""Fuzzing that goes on: processes of workers, what they count, and what they find."""
