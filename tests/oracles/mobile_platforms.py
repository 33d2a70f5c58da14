"""Undercarriages of every kind, without a zero that could hide a term: platform and wheels by name."""

from __future__ import annotations

import numpy as np

from dynarm.mobile import Platform, Steering, Wheel

BODY = ((9.0, 0.4, -0.3), (0.4, 12.0, 0.2), (-0.3, 0.2, 15.0))
CORNERS = ((0.55, 0.4), (0.5, -0.42), (-0.45, 0.38), (-0.5, -0.4))


def at_corners(kind, **more):
    return [
        Wheel(x, y, r, 3.0, kind, **more)
        for (x, y), r in zip(CORNERS, (0.1, 0.12, 0.1, 0.12), strict=True)
    ]


def platform(**more):
    return Platform(90.0, BODY, 0.32, **more)


def casters(*places, **more):
    return [Wheel(x, y, 0.06, 0.8, "caster", **more) for x, y in places]


def mecanum():
    signs = (-1, 1, 1, -1)
    return [
        Wheel(x, y, 0.1, 3.0, "mecanum", roller=s * np.pi / 4)
        for (x, y), s in zip(CORNERS, signs, strict=True)
    ]


def omni():
    angles = 2 * np.pi * np.arange(4) / 4 + 0.3
    return [
        Wheel(0.5 * np.cos(a), 0.5 * np.sin(a), 0.1, 2.0, "omni", angle=a + np.pi / 2)
        for a in angles
    ]


PLATFORMS = {
    "differential": lambda: (
        platform(),
        [
            Wheel(0.05, 0.4, 0.12, 3.0),
            Wheel(0.05, -0.4, 0.12, 3.0),
            *casters((0.5, 0.1), (-0.5, -0.1)),
        ],
    ),
    "tricycle": lambda: (
        platform(),
        [
            Wheel(0.6, 0.0, 0.12, 3.0, "steered"),
            *(Wheel(-0.4, y, 0.14, 3.0) for y in (0.42, -0.4)),
        ],
    ),
    "ackermann": lambda: (
        platform(steering=Steering(0.55, 0.0, -0.4)),
        [
            *(Wheel(0.55, y, 0.12, 3.0, "ackermann") for y in (0.4, -0.38)),
            *(Wheel(-0.4, y, 0.14, 3.0) for y in (0.42, -0.4)),
        ],
    ),
    "skid-steer": lambda: (platform(pivot=0.07), at_corners("skid", slide=0.55)),
    "omni": lambda: (platform(), omni()),
    "mecanum": lambda: (platform(), mecanum()),
    "swerve": lambda: (platform(), at_corners("swerve", turn=0.0)),
    "casters with trail": lambda: (
        platform(),
        [
            Wheel(0.0, 0.4, 0.12, 3.0),
            Wheel(0.0, -0.4, 0.12, 3.0),
            *casters((0.5, 0.3), (0.5, -0.3), trail=0.07, angle=0.4),
            *casters((-0.5, 0.0), trail=0.05, angle=-2.0),
        ],
    ),
    "six wheels": lambda: (
        platform(),
        [
            Wheel(0.02, 0.4, 0.12, 3.0, stiffness=200000.0),
            Wheel(0.02, -0.4, 0.12, 3.0, stiffness=100000.0),
            *casters(*CORNERS, stiffness=50000.0),
        ],
    ),
    "six skid wheels": lambda: (
        platform(),
        [Wheel(x, y, 0.1, 2.0, "skid", slide=0.4) for x in (0.5, 0.05, -0.5) for y in (0.4, -0.4)],
    ),
}
