"""Reports: one self-contained HTML page a task. Formats results, decides nothing."""
