"""How long a run may take: the seconds that the user allows, or else as long as it is on its way to an end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

PATIENCE = 10.0  # s of computing before a run's pace is judged
HOPELESS = 600.0  # s that the rest of a run may still take at its pace of the last while
WHILE = 5.0  # s of computing over which the pace is measured


@dataclass(slots=True)
class Budget:
    """The computing time of one run until t_end.

    seconds=None: no limit, but a run that would need more than ten further minutes at its present pace is given up.
    """

    t_end: float
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    begun: float = field(init=False)
    # when the pace was last measured, and where the run was
    mark: tuple[float, float] = field(init=False)
    slow: int = field(init=False, default=0)  # measurements in a row with the end out of sight

    def __post_init__(self) -> None:
        self.begun = self.clock()
        self.mark = self.begun, 0.0

    def spent(self, t: float) -> str:
        """Why a run that has come to time t is to be given up; empty while it may go on."""
        now = self.clock()
        taken = now - self.begun
        if self.seconds is not None:
            if taken <= self.seconds:
                return ""
            return (
                f"{self.seconds:g} s of computing led no further than t = {t:.6g} s of {self.t_end:.6g} s; "
                "raise max_seconds, loosen rtol, or take fixed steps: 'rk4'"
            )
        since, where = self.mark
        if now - since < WHILE:
            return ""
        self.mark = now, t
        hopeless = (self.t_end - t) * (now - since) > HOPELESS * (t - where)
        self.slow = self.slow + 1 if hopeless else 0
        if taken < PATIENCE or self.slow < 2:  # the first time may be spent on compiling
            return ""
        return (
            f"{taken:.0f} s of computing led no further than t = {t:.6g} s of {self.t_end:.6g} s, and the rest would "
            "take more than ten minutes; end the run earlier, smooth torques that jump or chatter (or give them an "
            "attribute `rate`), loosen rtol, or allow it with max_seconds="
        )
