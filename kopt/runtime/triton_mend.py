"""Mends for Triton's CPU interpreter."""

def mend_interpreter() -> None:
    return None
