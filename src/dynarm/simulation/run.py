"""The record of a simulation."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, InputError, ModelError
from ..model import Model


@dataclass(frozen=True, eq=False)
class Run:
    """Times (T,), states, torques and energies of a simulation; for batches (N, T, n) and (N, T).

    status   "success", or why it ended early: "event", "singular", "nan", "torque", "step"; `message` says when and
             why, and everything computed until then is kept
    events   (time, name) of every event that happened
    dense    a function of time that gives (q, qd) between the samples, for adaptive methods
    """

    model: Model = field(repr=False)
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    work: np.ndarray  # of torques and wrench, less what friction took, since the start [J]
    method: str
    dt: float | None
    status: str
    message: str
    events: tuple[tuple[float, str], ...] = ()
    evaluations: int = 0
    dense: Callable[[Any], tuple[np.ndarray, np.ndarray]] | None = field(default=None, repr=False)

    @property
    def kinetic(self) -> np.ndarray:
        """Kinetic energy [J] at each time."""
        return self.model.kinetic_energy(self.q, self.qd)

    @property
    def potential(self) -> np.ndarray:
        """Potential energy [J] at each time."""
        return self.model.potential_energy(self.q)

    @property
    def energy(self) -> np.ndarray:
        """Total energy [J] at each time."""
        return self.kinetic + self.potential

    @property
    def balance(self) -> np.ndarray:
        """Energy [J] that the power balance leaves unexplained: energy minus that of the start minus work done."""
        energy = self.energy
        return energy - energy[..., :1] - self.work

    def check(self) -> Run:
        """The run itself if it reached its end, else an error with its message."""
        if self.status not in ("success", "event"):
            raise ModelError(self.message)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write x.npz or x.parquet (one row a time and sample); nothing is left half-written."""
        path = Path(path)
        writers = {".npz": self._npz, ".parquet": self._parquet}
        if path.suffix not in writers:
            raise InputError(f"cannot save a run as {path.name}; name it .npz or .parquet")
        try:
            handle, draft = tempfile.mkstemp(
                suffix=path.suffix, prefix=f".{path.stem}.", dir=path.parent
            )
            os.close(handle)
        except OSError as error:
            raise FileError(
                f"cannot write to {path.parent}: {error.strerror}; name another folder"
            ) from None
        try:
            writers[path.suffix](draft)
            os.replace(draft, path)
        except OSError as error:
            raise FileError(f"cannot write {path}: {error.strerror}") from None
        finally:
            if os.path.exists(draft):
                os.unlink(draft)

    def _about(self) -> dict[str, Any]:
        return {
            "robot": self.model.arm.name,
            "joints": list(self.model.arm.joint_names),
            "method": self.method,
            "dt": self.dt,
            "status": self.status,
            "message": self.message,
            "events": [list(e) for e in self.events],
        }

    def _npz(self, path: str) -> None:
        np.savez(
            path,
            t=self.t,
            q=self.q,
            qd=self.qd,
            tau=self.tau,
            kinetic=self.kinetic,
            potential=self.potential,
            about=json.dumps(self._about()),
        )

    def frame(self) -> Any:
        """A pandas table: t, for each joint q_<name>, qd_<name>, tau_<name>, and the energies."""
        import pandas as pd

        n = self.model.arm.n
        samples = self.q.reshape(-1, len(self.t), n).shape[0]
        columns: dict[str, np.ndarray] = {}
        if self.q.ndim > 2:
            columns["sample"] = np.repeat(np.arange(samples), len(self.t))
        columns["t"] = np.tile(self.t, samples)
        for word, values in (("q", self.q), ("qd", self.qd), ("tau", self.tau)):
            flat = values.reshape(-1, n)
            columns |= {
                f"{word}_{name}": flat[:, i] for i, name in enumerate(self.model.arm.joint_names)
            }
        columns |= {"kinetic": self.kinetic.ravel(), "potential": self.potential.ravel()}
        return pd.DataFrame(columns)

    def _parquet(self, path: str) -> None:
        frame = self.frame()
        frame.attrs = self._about()
        frame.to_parquet(path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Positions, velocities, torques and energy against time as one self-contained HTML page."""
        from ..report.simulation import page

        return page(self, path)

    def summary(self) -> str:
        """A few lines on how the run went."""
        drift = float(np.abs(self.balance).max())
        lines = [
            f"{self.model.arm.name}: {self.method}, {len(self.t)} times to t = {self.t[-1]:g} s, {self.status}",
            f"energy: {float(np.ravel(self.energy)[0]):.6g} J at the start, unexplained change at most {drift:.2g} J",
        ]
        if self.dt is not None:
            lines.append(f"step: {self.dt:g} s")
        lines += [f"event at {when:.6g} s: {name}" for when, name in self.events[:10]]
        if self.status != "success":
            lines.append(self.message)
        return "\n".join(lines)
