"""dynarm and its peers, measured in one run: `python -m benchmarks`."""
