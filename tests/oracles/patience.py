"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable


def waited(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Until the condition holds; a failure if that takes too long."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)
