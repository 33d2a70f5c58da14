"""One browser for all pages, and one page of every kind; skipped where there is no Chromium."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "cli"))
