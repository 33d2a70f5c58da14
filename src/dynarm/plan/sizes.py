"""How many entries inputs and outputs have: of an arm, its tools, its minimal parameters."""

from __future__ import annotations

from dataclasses import dataclass

from ..dynamics.stops import state_size
from ..graph.graph import Port
from ..robot.arm import Arm


@dataclass(frozen=True, slots=True)
class Sizes:
    """Entries of q, qd, the minimal parameters, the packed mass matrix and derivatives, the friction state.

    tools: None for one, without an axis.
    """

    nq: int
    nv: int
    p: int
    packed: int
    slopes: int
    tools: int | None
    memory: int = 0  # numbers of a friction state

    @property
    def tool_axis(self) -> tuple[int, ...]:
        """The leading shape of what there is one of for each tool."""
        return () if self.tools is None else (self.tools,)

    def state(self, name: str) -> Port:
        """The port of a state: q, or one of the speeds."""
        return Port(name, (self.nq if name == "q" else self.nv,))


def sizes_of(arm: Arm, p: int = 0) -> Sizes:
    """The sizes of an arm with p minimal parameters."""
    tools = None if arm.tools is None else len(arm.tools)
    packed, slopes = len(packed_pattern(arm)), len(slopes_pattern(arm))
    return Sizes(arm.nq, arm.nv, p, packed, slopes, tools, state_size(arm))


def packed_pattern(arm: Arm) -> list[tuple[int, int]]:
    """Row and column of the entries of the mass matrix's lower triangle that structure does not make zero.

    Two joints have an entry where one moves the other, or where joints that follow them do. The mass of a free base has
    the same in all directions, and its lever no diagonal.
    """
    places = _moved(arm)
    if arm.floating:
        places |= {(k, k) for k in range(6)} | {(4, 3), (5, 3), (5, 4)}
        places |= {(3 + r, c) for r in range(3) for c in range(3) if r != c}
    return sorted(places)


def slopes_pattern(arm: Arm) -> list[tuple[int, int]]:
    """Row and column of the entries of the joint forces' derivatives by q and qd that structure does not make zero.

    They are those of the whole mass matrix between joints. A free base's place changes nothing, and its velocity the
    force on it only through its rotation, across both.
    """
    lower = _moved(arm)
    places = lower | {(column, row) for row, column in lower}
    if arm.floating:
        places |= {(row, column) for row in range(6) for column in range(6)}
        places -= {(k, k) for k in range(3)}
    return sorted(places)


def _moved(arm: Arm) -> set[tuple[int, int]]:
    """Entries of the lower triangle where one joint, or the free base, moves another."""
    first, of = arm.nv - len(arm.coupling.masters), arm.coupling.of
    places = {(row, column) for row in range(first, arm.nv) for column in range(first)}
    for i in range(arm.n):
        j = i
        while j >= 0:
            row, column = first + of[i], first + of[j]
            places.add((max(row, column), min(row, column)))
            j = arm.parents[j]
    return places
