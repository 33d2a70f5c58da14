"""Marks the root of the tests: with it, `strategies` and `oracles` are importable from every test."""
