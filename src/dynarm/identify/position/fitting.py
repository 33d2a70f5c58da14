"""fit_positions(arm, (kp, kd), logs): from positions and commands to drives."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...border.kinds import FloatArray
from ...errors import DynarmWarning, InputError
from ...robot.arm import Arm
from ..logs.log import Log
from .checks import gain_doubts, log_doubts, position_log
from .deciding import decided, doubted
from .loop import ANY, Loop, bare, limits
from .result import PositionFit
from .solving import PASSES, DriveSolution, solved
from .torques import gain_ratio
from .tracks import Track, tracks_of, widths_of

_SURE = 0.01  # of a joint's error: limits are believed that make no more of it
_FEW = 1  # steps of a fit whose units are in doubt: it is not to be trusted, and stiff, which takes long
_REACHED = 2e-3  # of samples whose torque is beyond a joint's effort limit: then it is asked whether limits act


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
    loops = _loops(arm, gains, tracks)
    units = [told for log in checked for told in log_doubts(arm, log)]
    most = _FEW if units else PASSES
    answers = [(loop, solved(loop, tracks, most=most)) for loop in loops]
    (loop, answer), *free = answers
    if free and _badness(free[0][1]) < _badness(answer) - _SURE * loop.n:
        ((loop, answer),) = free
    gain = gain_doubts(gain_ratio(loop, tracks, answer.delay))
    choice = doubted(units, gain) if units or gain else decided(arm, loop, tracks, answer)
    for told in choice.doubts[len(units) :]:
        warnings.warn(f"{checked[0].source}: {told}", DynarmWarning, stacklevel=5)
    answer = choice.solution or answer
    return PositionFit(arm, loop, answer, answer.worth, tuple(checked), choice)


def _badness(answer: DriveSolution) -> float:
    """Larger the less a loop follows its logs; infinite where it runs away."""
    return float(np.nan_to_num(np.log(answer.rms).sum(), nan=np.inf))


def _loops(arm: Arm, gains: tuple[FloatArray, FloatArray], tracks: Sequence[Track]) -> list[Loop]:
    """The closed loop that ends at the described effort limits, and where logs would exceed them one without."""
    loop = Loop(bare(arm), *gains, widths_of(tracks), limits(arm))
    free = replace(loop, most=ANY)
    torque = np.vstack([free.torques(k.command, k.states[0], k.states[1]) for k in tracks])
    reached = np.mean(np.abs(torque) > loop.most, axis=0) > _REACHED
    return [loop, free] if reached.any() else [loop]
