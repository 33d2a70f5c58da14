"""Where figures are kept: a file a robot and machine, each section with the day and version it was measured with."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .machine import Machine, same, slug

Result = dict[str, Any]
BY_HAND = ("scale_100_million",)  # sections that no run of all others measures anew
FOLDER = Path(__file__).parent / "results"


class OtherMachine(ValueError):
    """Figures of two machines would stand in one file."""


def path_of(robot: str, host: Machine) -> Path:
    """The file of a robot's figures on a machine."""
    return FOLDER / f"{Path(robot).stem.replace(':', '_')}-{slug(host)}.json"


def begin(path: Path, robot: str, host: Machine, anew: bool) -> Result:
    """The result that a run goes on with: what the same machine has measured before, or nothing."""
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if stored and not (same(stored.get("machine", {}), host) and stored.get("robot") == robot):
        if not anew:
            raise OtherMachine(
                f"{path.name} holds figures of {stored.get('robot')} on {stored.get('machine', {}).get('cpu')}; "
                "name another file with --json"
            )
        stored = {}
    measured = stored.get("measured", {})
    if anew:
        stored = {name: stored[name] for name in BY_HAND if name in stored}
        measured = {name: measured[name] for name in stored}
    path.parent.mkdir(parents=True, exist_ok=True)
    return {**stored, "robot": robot, "machine": host, "measured": measured}


def put(path: Path, result: Result, section: str, figures: Any) -> Result:
    """The result with a section's figures, written to its file as well."""
    stamp = {
        "date": datetime.date.today().isoformat(),
        "dynarm": result["machine"].get("dynarm", ""),
    }
    more = {**result, section: figures, "measured": {**result["measured"], section: stamp}}
    path.write_text(json.dumps(more, indent=1) + "\n", encoding="utf-8")
    return more


def this_run(result: Result, sections: Sequence[str]) -> Result:
    """What was measured now: the figures of these sections and of no other day."""
    return {key: result[key] for key in ("robot", "machine", *sections) if key in result}
