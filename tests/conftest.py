"""Marks the root of the tests: with it, `strategies` and `oracles` are importable from every test."""

import os
import tempfile

# The matrices of these tests are small: a second thread of the linear algebra only waits for the first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Machine code of this run only: nothing of the user's cache is read or written. The workers of one run share it.
os.environ.setdefault("DYNARM_CACHE_DIR", tempfile.mkdtemp(prefix="dynarm-tests-"))


def pytest_sessionfinish(session: object) -> None:
    """Remove the run's machine code, by the process that made the folder."""
    import shutil

    if not hasattr(session.config, "workerinput"):  # type: ignore[attr-defined]
        shutil.rmtree(os.environ["DYNARM_CACHE_DIR"], ignore_errors=True)
