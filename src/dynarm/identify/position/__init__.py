"""Logs of positions and commands, without torques: the drives of a robot under a known PD controller."""
