"""How many entries inputs and outputs have: of an arm, its tools, its minimal parameters."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.graph import Port
from ..robot.arm import Arm


@dataclass(frozen=True, slots=True)
class Sizes:
    """Entries of q, qd, the minimal parameters, the packed mass matrix; tools: None for one, without an axis."""

    nq: int
    nv: int
    p: int
    packed: int
    tools: int | None

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
    return Sizes(arm.nq, arm.nv, p, len(packed_pattern(arm)), tools)


def packed_pattern(arm: Arm) -> list[tuple[int, int]]:
    """Row and column of the entries of the mass matrix's lower triangle that structure does not make zero.

    Two joints have an entry where one moves the other, or where joints that follow them do. The mass of a free base has
    the same in all directions, and its lever no diagonal.
    """
    first, of = arm.nv - len(arm.coupling.masters), arm.coupling.of
    places = set()
    for i in range(arm.n):
        j = i
        while j >= 0:
            row, column = first + of[i], first + of[j]
            places.add((max(row, column), min(row, column)))
            j = arm.parents[j]
    if arm.floating:
        places |= {(row, column) for row in range(6, arm.nv) for column in range(6)}
        places |= {(k, k) for k in range(6)} | {(4, 3), (5, 3), (5, 4)}
        places |= {(3 + r, c) for r in range(3) for c in range(3) if r != c}
    return sorted(places)
