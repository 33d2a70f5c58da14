"""Frames on the joints: Denavit-Hartenberg numbers, poses, and the chain that the papers' pages need."""
