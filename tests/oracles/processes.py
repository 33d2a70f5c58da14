"""Commands in processes of their own, for tests that interrupt or watch them."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path


def started(script: str, folder: Path) -> subprocess.Popen[str]:
    """A script that runs by itself in a folder. Ctrl-C reaches it even if the tests were started in the background."""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=None if sys.platform == "win32" else _heed_interrupts,
    )


def _heed_interrupts() -> None:
    """Shells let what they start in the background ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
