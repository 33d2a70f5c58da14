"""Machine code in the process: compiled, kept on disk, linked, called from NumPy."""
