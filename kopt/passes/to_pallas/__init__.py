"""The steps of ``convert-tile-to-pallas``, one file each: host arrays, accesses, the call."""
