"""The record of a simulation."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..border.arguments import path_of
from ..border.extras import extra
from ..border.kinds import Cell, FloatArray, Foreign, Json, Numbers
from ..border.memo import cached_property
from ..border.tables import html_table, text_table
from ..border.words import titled
from ..border.written import drafted
from ..errors import InputError, ModelError
from ..model.model import Model
from ..model.refusals import AXES
from ..robot.arm import Arm


class EnergyBooks:
    """What follows from energies, work and loss at each time, (..., T) [J], whatever has moved."""

    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray
    loss: np.ndarray

    @cached_property
    def energy(self) -> FloatArray:
        """Total energy [J] at each time."""
        total: FloatArray = self.kinetic + self.potential
        return total

    @cached_property
    def balance(self) -> FloatArray:
        """Energy [J] that the power balance leaves unexplained: change of the total energy - work + loss."""
        rest: FloatArray = self.energy - self.energy[..., :1] - self.work + self.loss
        return rest

    @property
    def unexplained(self) -> float:
        """The largest energy [J] that the power balance leaves unexplained."""
        return float(np.abs(self.balance[np.isfinite(self.balance)]).max(initial=0.0))


@dataclass(frozen=True, eq=False, repr=False)
class Run(EnergyBooks):
    """Times (T,), states, torques (T, n) and energies (T,) of a simulation; for batches (N, T, n) and (N, T).

    q has the entries of `arm.coordinate_names`, qd and tau those of `arm.speed_names`; with a free base there is one
    more of q. A wrench on several tools is (T, k, 6).

    Attributes
    ----------
    model : Model
        The model that moved.
    t : ndarray
        Times (T,) [s].
    q : ndarray
        Positions (T, nq), of a batch (N, T, nq).
    qd : ndarray
        Velocities (T, nv).
    tau : ndarray
        Forces that were applied (T, nv) [N m or N].
    work : ndarray
        Work of the inputs until each time [J].
    loss : ndarray
        Energy lost in friction until each time [J].
    method : str
        The integrator.
    dt : float
        Length of a step [s]; None for adaptive methods.
    status : str
        "success", or why it ended early: "event", "singular" (mass matrix), "nan", "step"
        (blew up, or too many steps), "time" (took too long), "function" (a torque, wrench
        or event function returned NaN); `message` says when and why, and everything
        computed until then is kept. In a batch the others go on; what is missing is NaN.
    message : str
        When and why a run ended early.
    reached : float | ndarray, optional
        The last time that is good [s], (N,) for a batch.
    events : tuple[tuple[float, str], ...], optional
        (time, name) of every event; joints with sharp Coulomb friction report when they
        stick and slide.
    steps : int, default 0
        Number of steps.
    evaluations : int, default 0
        Number of evaluations of the dynamics.
    dense : callable, optional
        A function of time that gives (q, qd) between the samples, for adaptive methods.
    wrench : ndarray, optional
        Force and torque on the tool (T, 6), where there was one.
    gravity : ndarray, optional
        Gravity that was given.
    values : ndarray, optional
        Minimal parameters that were given.
    friction_state : ndarray, optional
        (T, m), what friction with memory remembers at each time, as `model.friction_state`
        has it; None where nothing has memory. What its springs hold is counted in `loss`
        until they give it back.

    Examples
    --------
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> run = dynarm.simulate(model, [0.5, 0.0], [0.0, 0.0], 1.0, times=np.linspace(0, 1, 11))
    >>> run.q.shape
    (11, 2)
    """

    model: Model
    t: FloatArray
    q: FloatArray
    qd: FloatArray
    tau: FloatArray
    work: FloatArray  # that torques and wrench have done since the start [J]
    loss: np.ndarray  # that friction has taken since the start [J]
    method: str
    dt: float | None  # the longest step, for methods with fixed steps
    status: str
    message: str
    reached: float | np.ndarray | None = None
    events: tuple[tuple[float, str], ...] = ()
    steps: int = 0
    evaluations: int = 0  # of the dynamics
    dense: Callable[[Numbers], tuple[np.ndarray, np.ndarray]] | None = None
    wrench: np.ndarray | None = None
    gravity: np.ndarray | None = None
    values: np.ndarray | None = None
    friction_state: np.ndarray | None = None

    def __repr__(self) -> str:
        many = f"{self.batch} samples, " if self.batch is not None else ""
        rest = f": {self.method}, {many}{len(self.t)} times to {self.t[-1]:g} s, {self.status}"
        return titled("Run of", self.model.arm.name, rest)

    def __str__(self) -> str:
        return text_table(*self._sheet())

    def _repr_html_(self) -> str:
        return html_table(*self._sheet())

    def _sheet(self) -> tuple[str, tuple[str, ...], list[tuple[Cell, ...]]]:
        """Title, head and rows of its table: where each joint (of the first sample) goes, and with what force."""
        q, qd, tau = (x[0] if self.batch is not None else x for x in (self.q, self.qd, self.tau))
        peak = np.abs(tau).max(axis=0, initial=0.0)
        arm = self.model.arm
        parts = (q[0], q[-1], qd[-1], peak)
        columns = (arm.joint_names, *(x[len(x) - len(arm.joint_names) :] for x in parts))
        head = ("joint", "q at the start", "q at the end", "qd at the end", "largest |tau|")
        rows = [(name, *map(float, numbers)) for name, *numbers in zip(*columns, strict=True)]
        return repr(self).strip("<>"), head, [*_base_rows(arm, *parts), *rows]

    def _inputs(self, *names: str) -> Json:
        """Gravity and values as keywords for arrays (..., T, n)."""
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {k: v[..., None, :] if v.ndim > 1 else v for k, v in given.items()}

    @cached_property
    def kinetic(self) -> FloatArray:
        """Kinetic energy [J] at each time."""
        return self.model.kinetic_energy(self.q, self.qd, **self._inputs("values"))

    @cached_property
    def potential(self) -> FloatArray:
        """Potential energy [J] at each time."""
        return self.model.potential_energy(self.q, **self._inputs("gravity", "values"))

    @property
    def batch(self) -> int | None:
        """Number of samples of a batch; None for a single run."""
        return len(self.q) if self.q.ndim > 2 else None

    def check(self) -> Run:
        """The run itself if it reached its end or an event, else an error with its message.

        Returns
        -------
        Run
            The run itself.

        Examples
        --------
        >>> run.check() is run
        True
        """
        if self.status not in ("success", "event"):
            raise ModelError(self.message)
        return self

    # ---- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write x.npz or x.parquet (one row a time and sample); nothing is left half-written.

        Parameters
        ----------
        path : path-like
            x.npz or x.parquet.

        Examples
        --------
        >>> run.save("run.npz")
        >>> np.load("run.npz")["q"].shape
        (11, 2)
        """
        target = path_of("path", path, "the name of a .npz or .parquet file")
        writers = {".npz": self._npz, ".parquet": self._parquet}
        if target.suffix not in writers:
            raise InputError(f"cannot save a run as {target.name}; name it .npz or .parquet")
        with drafted(target) as draft:
            writers[target.suffix](draft)

    def about(self) -> Json:
        """What the arrays do not say, for files and pages.

        Returns
        -------
        dict
            Status, method, steps, events.

        Examples
        --------
        >>> run.about()["status"]
        'success'
        """
        arm = self.model.arm
        free = {"coordinates": list(arm.coordinate_names), "speeds": list(arm.speed_names)}
        return {
            "robot": arm.name,
            "joints": list(arm.joint_names),
            **(free if arm.floating else {}),
            "method": self.method,
            "dt": self.dt,
            "status": self.status,
            "message": self.message,
            "events": [list(e) for e in self.events],
            "steps": self.steps,
            "evaluations": self.evaluations,
        }

    def _arrays(self) -> Json:
        arrays: Json = {"t": self.t, "q": self.q, "qd": self.qd, "tau": self.tau}
        arrays |= {"kinetic": self.kinetic, "potential": self.potential}
        arrays |= {"work": self.work, "loss": self.loss}
        more = {"wrench": self.wrench, "friction_state": self.friction_state}
        return arrays | {name: x for name, x in more.items() if x is not None}

    def _npz(self, path: Path) -> None:
        np.savez(path, **self._arrays(), about=np.array(json.dumps(self.about())))

    def frame(self) -> Foreign:
        """A pandas table: sample (of a batch), t, for each joint <name>_q, <name>_qd, <name>_tau, and energies [J].

        Those of a free base are called as `arm.coordinate_names` and `arm.speed_names` say: qx_q, vx_qd, vx_tau.

        Returns
        -------
        DataFrame
            One row for each time (and sample).

        Examples
        --------
        >>> list(run.frame().columns[:3])
        ['t', 'shoulder_q', 'elbow_q']
        """
        import pandas as pd

        samples, size = self.batch or 1, len(self.t)
        columns: dict[str, np.ndarray] = {}
        if self.batch is not None:
            columns["sample"] = np.repeat(np.arange(samples), size)
        columns["t"] = np.tile(self.t, samples)
        words = [("q", self.q), ("qd", self.qd), ("tau", self.tau)]
        for word, values in words:
            flat = values.reshape(samples * size, -1)
            names = self.model.entry_names(word)
            columns |= {f"{name}_{word}": flat[:, i] for i, name in enumerate(names)}
        if self.wrench is not None:
            flat = self.wrench.reshape(samples * size, -1)
            columns |= {name: flat[:, i] for i, name in enumerate(_wrench_names(self.model))}
        for word in ("kinetic", "potential", "work", "loss"):
            columns[word] = np.broadcast_to(getattr(self, word), self.q.shape[:-1]).reshape(-1)
        return pd.DataFrame(columns)

    def _parquet(self, path: Path) -> None:
        frame = self.frame()
        frame.attrs = self.about()
        try:
            frame.to_parquet(path)
        except ImportError:
            raise InputError(
                f"Parquet files need the package pyarrow; {extra('parquet')}, or save as .npz"
            ) from None

    # ---- reading

    def plot(self, path: str | os.PathLike[str] | None = None) -> str:
        """Positions, velocities, torques and energies against time as one self-contained HTML page; the page's text.

        Parameters
        ----------
        path : path-like, optional
            The file to write; the page is only returned without it.

        Returns
        -------
        str
            The text of the page.

        Examples
        --------
        >>> run.plot("run.html")[:15]
        '<!DOCTYPE html>'
        """
        from ..report.simulation import page

        return page(self, path)

    def summary(self) -> str:
        """A few lines on how the run went.

        Returns
        -------
        str
            The lines.

        Examples
        --------
        >>> print(run.summary().splitlines()[0])
        two_link: dop853, to t = 1 s; success
        """
        many = f", {self.batch} samples" if self.batch is not None else ""
        cost = f"{self.steps} steps, {self.evaluations} evaluations of the dynamics"
        step = f" of {self.dt:.4g} s" if self.dt is not None else ""
        start, end = (float(np.ravel(self.energy)[k]) for k in (0, -1))
        lines = [
            f"{self.model.arm.name}: {self.method}{step}{many}, to t = {self.t[-1]:.6g} s; {self.status}",
            cost,
            *([f"energy: {start:.6g} J at the start, {end:.6g} J at the end"] if not many else []),
            f"work of the inputs {_range(self.work)} J, taken by friction {_range(self.loss)} J, "
            f"unexplained at most {self.unexplained:.2g} J",
        ]
        lines += [f"event at {when:.6g} s: {name}" for when, name in self.events[:SHOWN]]
        if len(self.events) > SHOWN:
            lines.append(f"and {len(self.events) - SHOWN} more events")
        if self.message:
            lines.append(self.message)
        return "\n".join(lines)


def _base_rows(
    arm: Arm, start: np.ndarray, end: np.ndarray, speed: np.ndarray, peak: np.ndarray
) -> list[tuple[Cell, ...]]:
    """Rows of a free base, which has more coordinates than speeds: one for each coordinate, then one for each speed."""
    k = arm.nv - len(arm.joint_names)
    places = [(name, float(start[i]), float(end[i]), "", "") for i, name in _before_joints(arm)]
    names = arm.speed_names[:k]
    return [*places, *((n, "", "", float(speed[i]), float(peak[i])) for i, n in enumerate(names))]


def _before_joints(arm: Arm) -> list[tuple[int, str]]:
    count = arm.nq - len(arm.joint_names)
    return list(enumerate(arm.coordinate_names[:count]))


def _wrench_names(model: Model) -> list[str]:
    """Columns of wrenches: the axes of the only tool, or of each tool by its name."""
    tools = [""] if model.arm.tools is None else [f"{tool.name}_" for tool in model.arm.tools]
    return [f"wrench_{tool}{axis}" for tool in tools for axis in AXES["wrench"]]


SHOWN = 10  # events in a summary


def _range(values: np.ndarray) -> str:
    """The last value; for a batch the span of the last values."""
    last = values[..., -1]
    if last.ndim == 0:
        return f"{float(last):.6g}"
    good = last[np.isfinite(last)]
    return f"{good.min():.6g} ... {good.max():.6g}" if good.size else "-"
