"""Parts of the passes over symmetric memory."""
