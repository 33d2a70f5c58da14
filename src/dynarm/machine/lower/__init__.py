"""Graphs as programs: fused multiply-adds, pieces, the order of instructions."""
