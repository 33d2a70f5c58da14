"""From scalar functions to a graph of operations, and what is done with graphs."""
