"""Commands in processes of their own, for tests that interrupt or watch them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Shells let what they start in the background ignore interrupts, and so would all that the tests start.
HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def started(script: str, folder: Path) -> subprocess.Popen[str]:
    """A script that runs by itself in a folder, and that an interrupt reaches."""
    return subprocess.Popen(
        [sys.executable, "-c", HEED + script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
