"""Whether several logs tell the same: each fitted alone, how far apart in stated deviations, and these widened by it.

Runs of one robot differ in more than noise: friction changes with temperature, offsets with the drives' mood. The
stated deviations of a fit to all of them know the noise only. Each run is solved for alone from its part of the folded
rows; the mean square of differences over stated variances, 1 where noise explains them, is pooled over the rigid body
and over each joint's friction, and widens what is stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..estimators.estimator import Estimator
from ..estimators.problem import Problem, Solution
from ..regressor import Terms

_USUAL = 4.0  # differences that the size which noise explains counts for, in a group
_GROUP = 10.0  # and that of the group, in an unknown
_MOST = 24  # runs that are fitted alone
_FAR = 1.5  # error with all logs over that of the log alone, beyond which a log does not belong
_ENOUGH = 3.0  # independent samples an unknown that a log must have to be told from the others
_SEEN = 0.1  # of a torque's deviation: smaller errors do not tell that
_WITHIN = 1.96


@dataclass(frozen=True, slots=True, eq=False)
class RunAgreement:
    """How runs that were fitted alone agree. values, std: (runs, p); infinite where a run alone does not tell.

    widening: (p,) factors, 1 or more, that the stated deviations of the fit to all runs were multiplied by.
    strangers: sentences about logs that seem to be of another robot or payload.
    """

    sources: tuple[str, ...]
    values: np.ndarray
    std: np.ndarray
    widening: np.ndarray
    rigid: np.ndarray  # (p,) which unknowns belong to the rigid body
    counted: np.ndarray  # (p,) which are compared: entries of friction's lists are not
    strangers: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return len(self.sources) > 1

    def __repr__(self) -> str:
        return f"<dynarm.RunAgreement: {self.told or 'one run, nothing to agree with'}>"

    def apart(self, rigid: bool) -> np.ndarray:
        """Differences between runs over their stated deviations, all pairs, of the rigid body or of friction."""
        mine = self.counted & (self.rigid == rigid)
        gaps = []
        for r in range(len(self.values)):
            for s in range(r):
                wide = np.hypot(self.std[r, mine], self.std[s, mine])
                known = np.isfinite(wide) & (wide > 0)
                gaps.append((self.values[r, mine] - self.values[s, mine])[known] / wide[known])
        return np.concatenate(gaps) if gaps else np.zeros(0)

    @property
    def told(self) -> str:
        """How far apart the runs are, in a sentence."""
        parts = []
        for word, rigid in (("the rigid body's", True), ("friction's", False)):
            gaps, mine = self.apart(rigid), self.counted & (self.rigid == rigid)
            if len(gaps):
                share = 100 * float((np.abs(gaps) < _WITHIN).mean())
                most = float(self.widening[mine].max())
                parts.append(
                    f"{share:.0f} % of {word} differences lie within 1.96 stated deviations, root mean square "
                    f"{np.sqrt((gaps**2).mean()):.2g} (deviations widened up to {most:.2g} times)"
                )
        return f"{len(self.sources)} runs fitted alone: {'; '.join(parts)}" if parts else ""

    def widened(self, covariance: np.ndarray) -> np.ndarray:
        """A covariance with its deviations multiplied by the widening."""
        return np.asarray(covariance * np.outer(self.widening, self.widening))


def alone(terms: Terms) -> RunAgreement:
    """One run, or none that could be told apart: nothing to compare."""
    p, nothing = terms.size, np.zeros((0, terms.size))
    here = np.zeros(p, bool)
    return RunAgreement((), nothing, nothing, np.ones(p), here, here)


def agreement(
    terms: Terms,
    method: Estimator,
    solution: Solution,
    inflations: np.ndarray,
    names: Sequence[str],
) -> RunAgreement:
    """The runs of a fit, each solved for alone from the rows that are folded already. names: of all runs."""
    problem = solution.problem
    of = () if problem is None else problem.factors.runs
    several = sorted({run for run in of if run >= 0})[:_MOST]
    if problem is None or len(several) < 2:
        return alone(terms)
    blocks = [[b for b, run in enumerate(of) if run == one] for one in several]
    singles = [_single(method, problem, own, inflations) for own in blocks]
    values, std = (np.array(x) for x in zip(*singles, strict=True))
    rigid = np.arange(terms.size) < terms.rigid_size
    widening = _widening(values, std, _groups(terms), terms.plain)
    told = told_apart(names)
    sources = tuple(told[run] for run in several)
    odd = _strangers(terms, solution, blocks, values, sources, inflations)
    return RunAgreement(sources, values, std, widening, rigid, terms.plain, odd)


def _single(
    method: Estimator, problem: Problem, blocks: Sequence[int], inflations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Values of one run alone, and their standard deviations, infinite where it does not tell them."""
    part = problem.drawn(blocks)
    solution = method.solve(part)
    spread = method.covariance(solution, inflations)
    std = np.sqrt(np.maximum(np.diag(spread), 0.0))
    present = part.factors.present
    std = np.where(present, std, np.inf)
    if solution.rank < present.sum():
        V, s = solution.directions, solution.singular
        full = np.zeros(len(V))
        full[: len(s)] = s
        free = (V[full <= 1e-9 * max(s[0], 1e-300)] ** 2).sum(axis=0)
        told = (V[full > 1e-9 * max(s[0], 1e-300)] ** 2).sum(axis=0)
        lost = present & ((free > 1e-12) | (told < 1 - 1e-9))
        std = np.where(lost & ~(part.pulls > 0), np.inf, std)
    return solution.values, std


def _groups(terms: Terms) -> np.ndarray:
    """(p,): 0 for the rigid body, 1, 2, ... for the friction of each joint, the last for a user's columns."""
    groups = np.full(terms.size, len(terms.joints) + 1)
    groups[: terms.rigid_size] = 0
    for j in range(len(terms.joints)):
        for word in terms.drive_names:
            groups[terms.drive_index(j, word)] = j + 1
        groups[terms.listed_index(j)] = j + 1
    return groups


def _widening(
    values: np.ndarray, std: np.ndarray, groups: np.ndarray, counted: np.ndarray
) -> np.ndarray:
    """(p,): square roots of mean squares of differences over stated variances, drawn to the group's, at least 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(np.isfinite(std) & (std > 0), 1 / std**2, 0.0)
    total = weight.sum(axis=0)
    middle = (weight * values).sum(axis=0) / np.where(total > 0, total, 1.0)
    squares = np.where(counted, (weight * (values - middle) ** 2).sum(axis=0), 0.0)
    free = np.where(counted, np.maximum((weight > 0).sum(axis=0) - 1, 0), 0)
    wide = np.ones(len(groups))
    for g in np.unique(groups):
        mine = groups == g
        whole = (_USUAL + squares[mine].sum()) / (_USUAL + free[mine].sum())
        own = (_GROUP * whole + squares[mine]) / (_GROUP + free[mine])
        wide[mine] = np.sqrt(np.maximum(own, 1.0))
    return wide


def told_apart(names: Sequence[str]) -> list[str]:
    """The names, those that several share with a number each: logs in memory are all called 'log'."""
    many = [names.count(name) > 1 for name in names]
    return [
        f"{name} ({k + 1} of {len(names)})" if shared else name
        for k, (name, shared) in enumerate(zip(names, many, strict=True))
    ]


def _strangers(
    terms: Terms,
    solution: Solution,
    blocks: Sequence[Sequence[int]],
    values: np.ndarray,
    sources: Sequence[str],
    inflations: np.ndarray,
) -> tuple[str, ...]:
    """Sentences about logs whose torques their own fit explains much better than the fit to all logs.

    A log with hardly more independent samples than unknowns is explained by anything: it is not looked at.
    """
    told = []
    factors = solution.data
    worth = factors.rows / np.maximum(inflations, 1.0)
    whole = factors.squares(solution.values)
    size = factors.squares(np.zeros(factors.size))
    for own, mine, source in zip(values, blocks, sources, strict=True):
        if worth[mine].sum() < _ENOUGH * terms.size:
            continue
        part = factors.squares(own)[mine].sum(axis=0)
        shared = whole[mine].sum(axis=0)
        power = np.maximum(size[mine].sum(axis=0), 1e-300)
        ratio = np.sqrt(shared / np.maximum(part, 1e-12 * power))
        error = np.sqrt(shared / power)
        far = (ratio > _FAR) & (error > _SEEN)
        if far.any():
            j = int(np.argmax(np.where(far, ratio, 0)))
            told.append(
                f"{source} seems to be of another robot, payload or mounting than the other logs: joint "
                f"{terms.row_names[j]} has an error of {100 * error[j]:.0f} % of its torque with all logs, of "
                f"{100 * error[j] / ratio[j]:.0f} % alone; fit logs of one robot in one state only"
            )
    return tuple(told)
