"""Marks the root of the tests: with it, `strategies` and `oracles` are importable from every test."""

import gc
import os
import shutil
import tempfile
from pathlib import Path

from skips import plugin

# The matrices of these tests are small: a second thread of the linear algebra only waits for the first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Machine code and counts of this run, shared by its workers; nothing of the user's cache is read or written.
FIRST = "DYNARM_TEST_RUN" not in os.environ
if FIRST:
    os.environ["DYNARM_TEST_RUN"] = tempfile.mkdtemp(prefix="dynarm-tests-")
RUN = Path(os.environ["DYNARM_TEST_RUN"])
os.environ["DYNARM_CACHE_DIR"] = str(RUN / "machine")
# Every graph is looked at between the passes that rewrite it, here and in the processes that tests start.
os.environ["DYNARM_VERIFY"] = "1"
# Graphs are millions of small tuples without cycles: looking for cycles among them takes a third of their time.
pytest_plugins = ["pytester"]
gc.set_threshold(100_000, 50, 100)


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(plugin(config.pluginmanager.hasplugin("xdist")), "skips")


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the collector need not look at it again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Remove the run's folder, by the process that made it."""
    if FIRST:
        shutil.rmtree(RUN, ignore_errors=True)
