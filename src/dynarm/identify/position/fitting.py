"""fit_positions(arm, (kp, kd), logs): from positions and commands to drives."""

from __future__ import annotations

from collections.abc import Sequence

from ...border.kinds import FloatArray
from ...errors import InputError
from ...robot.arm import Arm
from ..logs.log import Log
from .checks import position_log
from .loop import Loop, bare
from .result import PositionFit
from .solving import solved, tracks_of, widths_of


def fit_positions(
    arm: Arm, gains: tuple[FloatArray, FloatArray], logs: Sequence[Log]
) -> PositionFit:
    """The drives and the delay that explain the logs under a PD controller of these gains."""
    checked = [position_log(arm, log) for log in logs]
    tracks = tracks_of(checked)
    if not tracks:
        raise InputError(
            f"{checked[0].source}: no 8 samples without a gap; record longer without losses"
        )
    loop = Loop(bare(arm), *gains, widths_of(tracks))
    answer = solved(loop, tracks)
    return PositionFit(arm, loop, answer, answer.worth, tuple(checked))
