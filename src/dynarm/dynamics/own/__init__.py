"""Recursions that are ours or of other authors; each file says whose."""
