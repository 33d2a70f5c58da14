"""MJCF read in this process instead of a child of it: for many models, each of which is known."""

from __future__ import annotations

import json
from typing import Any

import mujoco

from dynarm.border.apart import received
from dynarm.robot.formats.mjcf_child import compiled


def asked_here(module: str, request: bytes, source: str, *limits: Any) -> dict[str, Any]:
    """What the child answers, by way of the same text."""
    assert module == "dynarm.robot.formats.mjcf_child"
    return received(json.dumps(compiled(request)).encode(), 0, source)


def _unheard(text: str) -> None:
    """MuJoCo's warnings go nowhere; else they would go to a file in the folder that one stands in."""


mujoco.set_mju_user_warning(_unheard)
