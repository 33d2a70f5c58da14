"""Which unknowns a log determines, which it hardly does, and what to move to mend that. Looked at before solving.

Every unknown is measured in units of what it may be worth: the torques that it acts on, shared among their unknowns.
In these units, a direction that the torques answer with singular value s is known to noise / s; that is the `doubt` of
the direction, and likewise of an unknown. Beyond 1 the log says nothing about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..estimators.factors import Factors
from ..estimators.least_squares import ROUNDING, worths
from ..estimators.problem import Solution
from ..preprocess import Stretch
from ..regressor import Terms
from ..rests import spans

HARDLY, NOT = 0.3, 1.0
DAMPED = "damped"  # entries of friction's lists
SMALL = "small"  # known well enough, and not told from 0
GRADES = ("determined", "hardly", "not", "fixed", DAMPED, SMALL)


@dataclass(frozen=True, slots=True, eq=False)
class Identifiability:
    """What the logs determine, unknown by unknown, and in which directions they say little.

    Attributes
    ----------
    names : tuple[str, ...]
        Names of the unknowns.
    rank : int
        How many combinations the log determines.
    condition : float
        Condition number of the weighted regressor.
    doubts : ndarray
        Of each unknown, how uncertain it is compared with its size.
    grades : tuple[str, ...]
        'determined', 'hardly', 'not', 'fixed' (taken as 0, because no motion tells it from
        others), 'damped' (one entry of friction's lists, which cannot be told apart
        singly), or 'small' (no larger than its own deviation: the log says that it matters
        little, not what it is).
    directions : tuple[tuple[float, str], ...]
        Combinations that the log hardly determines, each with its doubt.
    advice : tuple[str, ...]
        What to do about it.
    leaning : tuple[str, ...]
        Names of unknowns whose values and deviations hold if those that are 'fixed' are 0.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> tau = np.random.default_rng(0).normal(0, 1, q.shape)
    >>> search = dynarm.Identifier(arm, friction=(), armature=False)
    >>> told = search.fit(dynarm.Log(t, q, tau)).identifiability_
    >>> told.rank
    6
    """

    names: tuple[str, ...]
    rank: int
    condition: float
    doubts: np.ndarray  # (p,)
    grades: tuple[str, ...]
    directions: tuple[tuple[float, str], ...]  # doubt and content, worst first
    advice: tuple[str, ...]
    leaning: tuple[str, ...] = ()

    @property
    def worst(self) -> float:
        """The largest doubt of a direction; 0 if none is hardly determined."""
        return max((doubt for doubt, _ in self.directions), default=0.0)

    @property
    def determined(self) -> tuple[str, ...]:
        """Unknowns that the log determines."""
        return tuple(n for n, g in zip(self.names, self.grades, strict=True) if g == "determined")

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Unknowns that the log says nothing about."""
        return tuple(n for n, g in zip(self.names, self.grades, strict=True) if g == "not")

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Unknowns that the log hardly determines."""
        return tuple(n for n, g in zip(self.names, self.grades, strict=True) if g == "hardly")

    @property
    def small(self) -> tuple[str, ...]:
        """Unknowns that matter too little to be told from 0."""
        return tuple(n for n, g in zip(self.names, self.grades, strict=True) if g == SMALL)

    @property
    def fixed_said(self) -> str:
        """A sentence about unknowns that are taken as 0."""
        fixed = [n for n, g in zip(self.names, self.grades, strict=True) if g == "fixed"]
        rest = f", on which the values of {', '.join(self.leaning)} rest" if self.leaning else ""
        return f"no motion tells {', '.join(fixed)} from the others: taken as 0{rest}"

    def told_from_zero(self, values: np.ndarray, std: np.ndarray) -> Identifiability:
        """The same with unknowns called small, not determined, whose deviation exceeds their value.

        Parameters
        ----------
        values : ndarray
            Values (p,).
        std : ndarray
            Their deviations (p,).

        Returns
        -------
        Identifiability
            The same with other grades.

        Examples
        --------
        >>> told.told_from_zero(np.ones(6), 2 * np.ones(6)).grades[0]
        'not'
        """
        unsure = np.asarray(std) > np.abs(values)
        rows = zip(self.grades, unsure, strict=True)
        return replace(self, grades=tuple(SMALL if g == "determined" and u else g for g, u in rows))

    def summary(self) -> str:
        """A few lines for people.

        Returns
        -------
        str
            The lines.

        Examples
        --------
        >>> print(told.summary().splitlines()[0])
        6 unknowns: 3 determined, 0 hardly, 2 not, 1 too small to be told from 0; rank 6, condition number 50.2
        """
        counts = [sum(g == grade for g in self.grades) for grade in GRADES]
        damped = f", {counts[4]} of friction's lists damped" if counts[4] else ""
        damped = f", {counts[5]} too small to be told from 0{damped}" if counts[5] else damped
        lines = [
            f"{len(self.names)} unknowns: {counts[0]} determined, {counts[1]} hardly, {counts[2]} not{damped}; "
            f"rank {self.rank}, condition number {self.condition:.3g}"
        ]
        if counts[3]:
            lines.append(self.fixed_said)
        if self.undetermined:
            lines.append("not determined: " + ", ".join(self.undetermined))
        if self.doubtful:
            lines.append("hardly determined: " + ", ".join(self.doubtful))
        if self.small:
            lines.append("too small to be told from 0: " + ", ".join(self.small))
        lines += [
            f"  free combination ({_uncertain(doubt)}): {text}"
            for doubt, text in self.directions[:8]
        ]
        if len(self.directions) > 8:
            lines.append(f"  and {len(self.directions) - 8} more")
        return "\n".join([*lines, *self.advice])


def _uncertain(doubt: float) -> str:
    """A doubt in words."""
    if not np.isfinite(doubt):
        return "not known at all"
    return f"uncertain by {100 * doubt:.0f} % of its usual size"


def _rank(X: np.ndarray) -> tuple[int, float]:
    """Rank and condition number of columns that are scaled."""
    s = np.linalg.svd(X, compute_uv=False)
    known = int((s > ROUNDING * s[0]).sum())
    return known, float(s[0] / s[-1]) if known == X.shape[1] else np.inf


def assess(
    terms: Terms,
    factors: Factors,
    solution: Solution,
    inflations: np.ndarray,
    pieces: Sequence[Stretch],
) -> Identifiability:
    """The identifiability that the weights and residuals of a solution without a prior show.

    Entries of friction's lists stay out of it: they are damped, and stand in for each other.
    """
    plain = np.flatnonzero(terms.plain)
    if len(plain) < terms.size:
        factors = factors.merged().choose(plain.tolist())
    present = factors.present
    p = int(present.sum())
    worth = worths(factors, solution.weights)
    X, _ = factors.stacked(solution.weights)
    noise = float(np.sqrt(np.mean(inflations)))
    scales = solution.scales[plain]
    _, s, V = np.linalg.svd((X / scales * worth)[:, present], full_matrices=True)
    full = np.zeros(p)
    full[: len(s)] = s
    with np.errstate(divide="ignore"):
        by_direction = np.where(
            full > 1e-11 * max(s[0], 1e-300), noise / np.maximum(full, 1e-300), np.inf
        )
    finite = np.where(np.isfinite(by_direction), by_direction, 1e6)
    doubts = np.zeros(terms.size)
    doubts[plain[present]] = np.sqrt(((V**2) * (finite**2)[:, None]).sum(axis=0))
    here = np.zeros(terms.size, bool)
    here[plain[present]] = True
    rows = zip(doubts, here, terms.plain, strict=True)
    grades = tuple(_grade(d, told) if own else DAMPED for d, told, own in rows)
    order = np.argsort(-by_direction)
    names = [terms.names[k] for k in plain[present]]
    directions = tuple(
        (float(by_direction[k]), _content(V[k], names)) for k in order if by_direction[k] > HARDLY
    )
    doubtful = [k for k, g in enumerate(grades) if g in ("hardly", "not")]
    rank, condition = solution.rank, solution.condition
    if len(plain) < terms.size:
        rank, condition = _rank((X / scales)[:, present])
        rank += terms.size - len(plain)
    return Identifiability(
        terms.names,
        rank,
        condition,
        doubts,
        grades,
        directions,
        _advice(terms, pieces, doubtful),
        tuple(terms.names[k] for k in terms.leaning),
    )


def _grade(doubt: float, present: bool) -> str:
    if not present:
        return "fixed"
    return "not" if doubt > NOT else "hardly" if doubt > HARDLY else "determined"


def _content(vector: np.ndarray, names: Sequence[str], most: int = 6) -> str:
    """The largest parts of a direction, in unknowns scaled to equal worth."""
    order = [k for k in np.argsort(-np.abs(vector)) if abs(vector[k]) > 0.2 * np.abs(vector).max()]
    lead = 1.0 if vector[order[0]] > 0 else -1.0
    parts = [f"{lead * vector[k]:+.2f} {names[k]}" for k in order[:most]]
    return " ".join(parts) + (" ..." if len(order) > most else "")


def _advice(terms: Terms, pieces: Sequence[Stretch], doubtful: Sequence[int]) -> tuple[str, ...]:
    """What to move so that doubtful unknowns become determined."""
    if not doubtful:
        return ()
    joints = sorted({max(j for j in range(terms.n) if k in terms.support[j]) for k in doubtful})
    names = terms.row_names
    said = [f"doubtful unknowns belong to joint {', '.join(names[j] for j in joints)}"]
    longest = max(pieces, key=len)
    lines = [_frequencies(longest.qd[:, j], longest.rate) for j in range(terms.n)]
    poor = [j for j in range(terms.n) if len(lines[j]) <= 2]
    if poor:
        told = "; ".join(
            f"{names[j]} at {', '.join(f'{f:.2g} Hz' for f in lines[j]) or 'rest'}" for j in poor
        )
        said.append(
            f"nearly all motion is at one or two frequencies ({told}): move with several in every joint (dynarm.excite)"
        )
    q = np.concatenate([p.q for p in pieces])
    q = q[:, q.shape[1] - len(terms.joints) :]
    for name, joint, span in zip(terms.arm.joint_names, terms.joints, spans(q), strict=True):
        if terms.arm.joints[joint].revolute and span < 0.5:
            said.append(
                f"joint {name} moves through {np.degrees(span):.0f} degrees only: widen its range"
            )
    if not poor:
        said.append(
            "move these joints and those beyond them faster and through more poses (dynarm.excite)"
        )
    return tuple(said)


def _frequencies(speed: np.ndarray, rate: float, share: float = 0.9) -> list[float]:
    """The fewest spectral lines that hold most of a velocity's power [Hz], strongest first."""
    x = (speed - speed.mean()) * np.hanning(len(speed))
    power = np.abs(np.fft.rfft(x)) ** 2
    total = power.sum()
    if total <= 0:
        return []
    lines: list[float] = []
    left = power.copy()
    while left.sum() > (1 - share) * total and len(lines) < 12:
        k = int(np.argmax(left))
        lines.append(k * rate / len(speed))
        left[max(k - 3, 0) : k + 4] = 0
    return lines
