"""Which friction a log supports: what is tried, by which columns, what it gains on time that was not fitted."""
