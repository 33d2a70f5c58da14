"""Logs that hold nothing but rests, joints that never move, and elements of friction finer than an encoder sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...errors import InputError
from ...robot.arm import Arm, Friction
from ..logs.log import Log
from ..regressor import Terms
from ..rests import resting, spans

_STILL = 2e-3  # [rad or m] range of positions of a joint that does not move
_ALWAYS = 0.98  # part of the samples in which a joint rests that goes from pose to pose only


def only_rests(logs: Sequence[Log]) -> tuple[str, ...]:
    """A sentence where no joint moves in any log, or all of them only between rests."""
    if not logs or any(not _rests(log) for log in logs):
        return ()
    return (
        "the logs hold nothing but rests: they tell at most what the arm weighs in these poses, nothing of inertia and "
        "friction; record a motion (dynarm excite)",
    )


def _rests(log: Log) -> bool:
    """Whether a log's joints rest, and its base with them."""
    base, joints = log.split("q")
    if base is not None and (spans(np.ascontiguousarray(base)) > _STILL).any():
        return False
    still = spans(np.ascontiguousarray(joints)) < _STILL
    return bool((still | (log.quality.resting > _ALWAYS)).all())


def never_moving(arm: Arm, logs: Sequence[Log]) -> tuple[str, ...]:
    """Sentences about joints that keep their position in all logs while others move."""
    if not logs:
        return ()
    still = np.all([resting(log.q, 7 if log.floating else 0) for log in logs], axis=0)
    still = still[len(still) - len(arm.joint_names) :]
    return tuple(
        f"joint {name} never moves: its friction and motor inertia stay unknown; move it, or freeze it (dynarm.load "
        "with freeze)"
        for name, rests in zip(arm.joint_names, still, strict=True)
        if rests
    )


def check_strokes(terms: Terms, logs: Sequence[Log]) -> None:
    """Refuse elements of friction with memory that are finer than the steps in which positions come."""
    if not logs or not terms.listed:
        return
    steps = np.max([log.quality.resolution for log in logs], axis=0)
    rows = zip(terms.arm.joint_names, terms.records, steps, strict=True)
    for name, record, step in rows:
        for family, stroke in _strokes(record):
            if stroke < step:
                raise InputError(
                    f"friction of joint '{name}': the element of {family} with stroke {stroke:.3g} is finer than the "
                    f"encoder, whose positions come in steps of {step:.3g}; leave it out, or give strokes of "
                    f"{3 * step:.1g} and more"
                )


def _strokes(record: Friction) -> Iterator[tuple[str, float]]:
    """The families and strokes of a record's elements."""
    for family in ("presliding", "load_presliding"):
        yield from ((family, stroke) for stroke, _ in getattr(record, family))
    for other in record.coupling:
        yield from (("coupling", stroke) for stroke, _ in other.presliding)
