"""Whether a fit may be relied on: what a log determines, how well it is explained, and why not."""
