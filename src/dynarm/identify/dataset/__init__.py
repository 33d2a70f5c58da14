"""Logs in many files, or larger than memory: found, put in order of time, read piece by piece, and fitted."""
