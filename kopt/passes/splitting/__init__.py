"""The steps of ``split-k``: cells that compute partial results, and how those are combined."""
