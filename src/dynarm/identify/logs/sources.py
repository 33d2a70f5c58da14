"""What a fit or a prediction may be given: a Log, the path of one, a DataFrame, or several of these."""

from __future__ import annotations

import os

from ...border.arguments import items
from ...border.kinds import Outside
from ...errors import InputError
from ...robot.arm import Arm
from .log import Log

WANTED = "a dynarm.Log, the path of one, a DataFrame, or a list of them"


def is_one(value: Outside) -> bool:
    """Whether the value stands for one log, not several."""
    return isinstance(value, (Log, str, os.PathLike)) or is_frame(value)


def is_frame(value: Outside) -> bool:
    """Whether the value is a table of pandas; pandas itself need not be there to ask."""
    return type(value).__module__.split(".")[0] == "pandas" and hasattr(value, "columns")


def log_of(value: Outside, arm: Arm) -> Outside:
    """The log that a value stands for; anything else as it is, for the arm to refuse."""
    if isinstance(value, (str, os.PathLike)):
        return Log.read(value)
    if is_frame(value):
        table: Outside = Log
        return table.from_frame(value, arm)
    return value


def logs_of(value: Outside, arm: Arm) -> list[Outside]:
    """The logs that a value stands for, at least one."""
    several = [value] if is_one(value) else items("log", value, WANTED)
    if not several:
        raise InputError(f"no log given; pass {WANTED}")
    return [log_of(one, arm) for one in several]
