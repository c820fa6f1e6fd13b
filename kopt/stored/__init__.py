"""Compiled kernels outside of the process: the cache on disk, and folders that people keep.

| module | what is there |
|---|---|
| `contents` | what a call is known by in any process: code and values by what they are, not by where |
| `values` | Python values, specs and results as JSON |
| `record` | one compiled kernel as JSON, and back |
| `disk_cache` | the way of a call through the cache, whose files `kopt.runtime.cache_folder` keeps |
"""
