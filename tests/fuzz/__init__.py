"""Damaged and hostile files for all that reads files; `python -m tests.fuzz.readers --help` runs it at length."""
