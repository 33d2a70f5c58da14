"""Logs: files and tables as arrays in SI units, in the robot's order."""
