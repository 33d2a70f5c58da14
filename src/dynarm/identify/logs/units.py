"""Units that a log's channels may be declared in, and what each measures."""

from __future__ import annotations

import math

from ...errors import FormatError

_DEGREE = math.pi / 180
# unit -> (what it measures, factor to SI); currents and voltages become forces by their scale
UNITS: dict[str, tuple[str, float]] = {
    "rad": ("position", 1.0),
    "deg": ("position", _DEGREE),
    "rev": ("position", 2 * math.pi),
    "m": ("position", 1.0),
    "mm": ("position", 1e-3),
    "rad/s": ("velocity", 1.0),
    "deg/s": ("velocity", _DEGREE),
    "rpm": ("velocity", 2 * math.pi / 60),
    "m/s": ("velocity", 1.0),
    "mm/s": ("velocity", 1e-3),
    "rad/s^2": ("acceleration", 1.0),
    "deg/s^2": ("acceleration", _DEGREE),
    "m/s^2": ("acceleration", 1.0),
    "mm/s^2": ("acceleration", 1e-3),
    "Nm": ("force", 1.0),
    "N m": ("force", 1.0),
    "mNm": ("force", 1e-3),
    "kNm": ("force", 1e3),
    "N": ("force", 1.0),
    "A": ("drive", 1.0),
    "mA": ("drive", 1e-3),
    "V": ("drive", 1.0),
    "%": ("drive", 1.0),
    "s": ("time", 1.0),
    "ms": ("time", 1e-3),
    "us": ("time", 1e-6),
    "ns": ("time", 1e-9),
}
_MEASURES = {
    "q": ("position",),
    "reference": ("position",),
    "q_command": ("position",),
    "qd": ("velocity",),
    "qdd": ("acceleration",),
    "tau": ("force", "drive"),
    "wrench": ("force",),
    "base_wrench": ("force",),
    "time": ("time",),
}


def factor(unit: str | None, channel: str, source: str) -> float:
    """What a channel's numbers in this unit are multiplied by; None is SI."""
    if unit is None:
        return 1.0
    measure, value = UNITS[unit]
    if measure not in _MEASURES[channel]:
        raise FormatError(
            f"{source}: {channel} is declared in {unit}, a unit of {measure}; it measures {_MEASURES[channel][0]}"
        )
    return value
