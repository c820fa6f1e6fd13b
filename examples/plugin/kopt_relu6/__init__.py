"""A dialect, a pass and a chip that kopt finds by entry points."""
