"""Many robots of one kind: a fit of each, what all share, how each differs, which stand out, what drifts."""
