"""IR text from strangers: what it says never runs as code, and none of it ends in a traceback or a hang."""
