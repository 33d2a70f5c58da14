"""Marks the root of the tests: with it, `strategies` and `oracles` are importable from every test."""

import os

# The matrices of these tests are small: a second thread of the linear algebra only waits for the first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
