"""Estimates on a stream, sample by sample: what the arm carries, and what pushes it."""
