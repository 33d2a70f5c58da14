"""The modified Newton-Euler equations laid out in time: which whole terms of them can be computed side by side.

[turney1980]  Table 5. A stage holds terms that run at the same time, each on a processor of its own; it lasts as long
as its longest chain of dependent terms, counted as Table 4 counts them (a product of a 3x3 matrix and a vector is 9
multiplications and 6 additions). On the way out stage i reaches two links ahead for velocities; on the way back the
force of a link is one stage ahead of its moment, which is why the printed number of stages suffices.

The table charges every stage of a pass like its longest one (`TermStages.charged`); its `mul` and `add` charge each
stage with what it holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..border.words import shown
from ..errors import InputError
from ..plan.schedule import Schedule

Key = tuple[str, int]

# multiplications and additions of each term of one link, Table 4; the additions that sum n_i are told apart
COSTS = {
    "w": (9, 7),
    "alpha": (9, 9),
    "A": (6, 9),
    "a": (18, 15),
    "m abar": (12, 9),
    "Tr A K sigma": (6, 3),
    "(r + rbar) x m abar": (6, 3),
    "own moment": (0, 3),  # Tr A K sigma + (r + rbar) x m abar
    "f": (9, 9),
    "r x R f": (6, 3),
    "R n": (9, 6),
    "n": (0, 6),
}


@dataclass(frozen=True, slots=True)
class ScheduledTerm:
    """A whole term of one link: what it costs, and the terms that it is computed from."""

    name: str
    link: int
    needs: tuple[Key, ...]

    @property
    def key(self) -> Key:
        return self.name, self.link

    @property
    def mul(self) -> int:
        return COSTS[self.name][0]

    @property
    def add(self) -> int:
        return COSTS[self.name][1]


@dataclass(frozen=True, slots=True)
class Stage:
    """Terms that run side by side, in an order in which each comes after those of the same stage that it needs."""

    terms: tuple[ScheduledTerm, ...]

    @property
    def mul(self) -> int:
        """Multiplications on the longest chain of the stage."""
        return self._longest(0)

    @property
    def add(self) -> int:
        """Additions on the longest chain of the stage."""
        return self._longest(1)

    def _longest(self, which: int) -> int:
        ends: dict[Key, int] = {}
        for term in self.terms:
            ends[term.key] = COSTS[term.name][which] + max(
                (ends.get(k, 0) for k in term.needs), default=0
            )
        return max(ends.values(), default=0)


@dataclass(frozen=True, slots=True)
class TermStages:
    """The stages before the first pass, of the pass from base to hand, and of the pass back."""

    start: tuple[Stage, ...]
    outward: tuple[Stage, ...]
    inward: tuple[Stage, ...]

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self.start + self.outward + self.inward

    @property
    def mul(self) -> int:
        """Multiplications one after another."""
        return sum(stage.mul for stage in self.stages)

    @property
    def add(self) -> int:
        """Additions one after another."""
        return sum(stage.add for stage in self.stages)

    @property
    def charged(self) -> tuple[int, int]:
        """Multiplications and additions as the table charges them: every stage of a pass like its longest."""
        mul = sum(stage.mul for stage in self.start)
        add = sum(stage.add for stage in self.start)
        for stages in (self.outward, self.inward):
            mul += len(stages) * max(stage.mul for stage in stages)
            add += len(stages) * max(stage.add for stage in stages)
        return mul, add


def schedule(n: int) -> TermStages:
    """The stages of Table 5 for n rotational joints."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(f"n is {shown(n)}; give a whole number of joints, at least 1")
    terms = _terms(n)

    def stage(*keys: Key) -> Stage:
        return Stage(tuple(terms[key] for key in keys if key in terms))

    start = [
        stage(key)
        for key in (("w", 1), ("alpha", 1), ("A", 1), ("w", 2), ("alpha", 2))
        if key in terms
    ]
    outward = []
    for i in range(1, n + 1):
        ahead = ("w", i + 2), ("alpha", i + 2), ("A", i + 1)
        here = ("a", i), ("m abar", i), ("Tr A K sigma", i)
        outward.append(stage(*ahead, *here, ("(r + rbar) x m abar", i - 1), ("own moment", i - 1)))
    inward = []
    for i in range(n, 0, -1):
        last = (("(r + rbar) x m abar", n), ("own moment", n)) if i == n else ()
        inward.append(stage(*last, ("f", i - 1), ("r x R f", i), ("R n", i), ("n", i)))
    return TermStages(tuple(start), tuple(outward), tuple(inward))


def _terms(n: int) -> dict[Key, ScheduledTerm]:
    """Every term of an arm of n links that costs something; f_n is m abar_n and n_n its own moment."""
    terms: dict[Key, ScheduledTerm] = {}

    def put(name: str, i: int, *needs: Key) -> None:
        terms[name, i] = ScheduledTerm(name, i, tuple(key for key in needs if key in terms))

    for i in range(1, n + 1):
        put("w", i, ("w", i - 1))
        put("alpha", i, ("alpha", i - 1), ("w", i - 1))
        put("A", i, ("w", i), ("alpha", i))
        if i < n:
            put("a", i, ("A", i), ("a", i - 1))
        put("m abar", i, ("A", i), ("a", i - 1))
        put("Tr A K sigma", i, ("A", i))
        put("(r + rbar) x m abar", i, ("m abar", i))
        put("own moment", i, ("Tr A K sigma", i), ("(r + rbar) x m abar", i))
    for i in range(n - 1, 0, -1):
        put("f", i, ("m abar", i), ("f", i + 1), ("m abar", i + 1))
        put("r x R f", i, ("f", i))
        put("R n", i, ("n", i + 1), ("own moment", i + 1))
        put("n", i, ("R n", i), ("r x R f", i), ("own moment", i))
    return terms


@dataclass(frozen=True, slots=True)
class StageRow:
    """One row of Table 5 for an arm: terms that run side by side, and how long that takes in all its stages.

    printed   multiplications and additions, every stage of a pass charged like its longest
    needed    each stage charged with what it holds
    """

    terms: str
    printed: tuple[int, int]
    needed: tuple[int, int]


OUTWARD = (
    "w_(i+2), alpha_(i+2), A_(i+1), a_i, m_i abar_i, Tr{A_i K_i sigma}, m_(i-1) (r + rbar) x abar"
)
INWARD = "f_i, n_i, r_i x R f_(i+1), R n_(i+1)"


def table_5(plan: Schedule) -> list[StageRow]:
    """Table 5 of turney1980 for the arm of a schedule of modified_newton_euler; the last row is the sum."""
    if (plan.quantity, plan.formulation) != ("inverse_dynamics", "modified_newton_euler"):
        raise InputError(
            f"the schedule is of {plan.quantity} by {plan.formulation}; Table 5 is of inverse_dynamics by "
            "modified_newton_euler"
        )
    if not all(joint.revolute for joint in plan.arm.joints):
        raise InputError(
            f"robot '{plan.arm.name}' has translational joints; Table 5 speaks of rotational ones, "
            "dynarm.schedule of all"
        )
    stages = schedule(plan.arm.n)
    rows = [
        StageRow(f"{t.name}_{t.link}", (s.mul, s.add), (s.mul, s.add))
        for s in stages.start
        for t in s.terms
    ]
    for name, some in ((OUTWARD, stages.outward), (INWARD, stages.inward)):
        longest = max(s.mul for s in some), max(s.add for s in some)
        charged = len(some) * longest[0], len(some) * longest[1]
        rows.append(StageRow(name, charged, (sum(s.mul for s in some), sum(s.add for s in some))))
    printed = sum(r.printed[0] for r in rows), sum(r.printed[1] for r in rows)
    needed = sum(r.needed[0] for r in rows), sum(r.needed[1] for r in rows)
    return [*rows, StageRow("total", printed, needed)]
