"""One file per method of a paper: pure functions over abstract scalars."""
