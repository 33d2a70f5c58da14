"""What must be at rest while the process forks.

A child has one thread, and a copy of every lock as it was: what another thread of the parent held is held for ever.
So the thread that forks takes these locks first, that is, waits for whoever is inside. They are made with the package,
for what is registered while another thread forks comes too late.
"""

from __future__ import annotations

import os
import threading

LLVM = threading.RLock()  # whoever enters LLVM
IMPORTS = threading.RLock()  # whoever imports while others may fork; he does not enter LLVM


def _stop() -> None:
    LLVM.acquire()
    IMPORTS.acquire()


def _go_on() -> None:
    IMPORTS.release()
    LLVM.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_stop, after_in_parent=_go_on, after_in_child=_go_on)
