"""Motions that make unknowns visible: Fourier series optimised by IPOPT within the robot's limits.

Gradients and constraint Jacobians are exact, by CasADi's automatic differentiation of the operations that the compiled
model is made of; the Hessian is approximated from them. Besides the bridge of graphs, this is the only module that uses
CasADi.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ...border.arguments import among, flag, items, real, shown, whole
from ...border.kinds import Foreign, Json, Outside
from ...border.memo import cached_property
from ...errors import InputError, KindError
from ...model.model import compile as compile_arm
from ...robot.arm import Arm
from ..judgement.measures import MARGIN, Motions
from ..regressor import FRICTION, Terms
from ..rigid import rigid_of
from .limits import limits_of
from .scaling import drawn_in
from .trajectory import Trajectory, check_series

CRITERIA = ("condition", "logdet", "recursive")
_NOTHING = 1e-13  # rounding in a matrix of ones and lengths
_SMOOTH = 0.05  # [rad/s or m/s] width of the sign that the optimiser sees


def excite(
    arm: Arm,
    duration: float,
    harmonics: int = 5,
    *,
    criterion: str = "condition",
    period: float | None = None,
    rate: float = 100.0,
    position: Outside = None,
    velocity: Outside = None,
    acceleration: Outside = None,
    torque: Outside = None,
    box: Outside = None,
    friction: Sequence[str] = FRICTION,
    armature: bool = True,
    starts: int = 3,
    iterations: int = 100,
    seed: int = 0,
) -> Trajectory:
    """A motion whose log determines the arm's unknowns well.

    criterion   "condition": of all unknowns' regressor; "logdet": the largest determinant of the information;
                "recursive": the largest cond(A_i) of Lin's procedure
    position, velocity, acceleration, torque: limits, a number or one a joint (position: (low, high) or pairs); default:
                the joints' own, else a half turn, 2 rad/s and four times that per second; torques only where known
    box         ((x, y, z) lowest, (x, y, z) highest) of the tools in the base link; of a tree without tools, of the
                frames of all its links

    Torques are those of the arm's own parameters, armature and friction included. A motion that the optimiser cannot
    bring within torques and box is drawn towards a pose that keeps them, until it keeps them too; `status` says so.
    Where there is no such pose, an error tells which limit is in the way.
    """
    _check_arm(arm)
    if not among(criterion, CRITERIA):
        raise InputError(f"criterion is {shown(criterion)}; choose among {', '.join(CRITERIA)}")
    series = check_series(duration, harmonics, period)
    starts, iterations = whole("starts", starts, 1, 10_000), whole("iterations", iterations)
    seed, armature = whole("seed", seed), flag("armature", armature)
    rate = real("rate", rate, "samples a second, at most 1e6", lambda x: 0 < x <= 1e6)
    friction = items("friction", friction, "a list of words such as 'viscous'")
    limits = limits_of(arm, position, velocity, acceleration, torque, box)
    terms = Terms(arm, tuple(friction), "tanh", (_SMOOTH,) * arm.nv, armature)
    problem = _Problem(arm, terms, series, limits, criterion, rate)
    pose = problem.pose(seed)
    rng = np.random.default_rng(seed)
    guesses = [problem.within(series.random(rng, arm.nv)) for _ in range(max(starts, 20))]
    scored = sorted(guesses, key=problem.score)
    tried = [problem.kept(guess, iterations, pose) for guess in scored[:starts]]
    best, status = min(tried, key=lambda pair: problem.score(pair[0]))
    random = tuple(problem.condition(g) for g in guesses)
    t = np.arange(round(duration * rate) + 1) / rate
    q, qd, qdd = (B @ best.T for B in series.basis(t))
    return Trajectory(
        t,
        q,
        qd,
        qdd,
        problem.condition(best),
        arm.joint_names,
        problem.joint_conditions(best),
        random,
        status,
    )


def _check_arm(arm: Arm) -> None:
    """Refuse what no motion can be designed for."""
    if not isinstance(arm, Arm):
        raise KindError(f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('scara')")
    if arm.floating:
        raise InputError(
            f"robot '{arm.name}' is on a free base, whose motion its joints do not decide; design the motion for the "
            "robot on a fixed base (load it with floating=False), or move the base by hand"
        )


class _Problem(Motions):
    """The nonlinear program over the coefficients (n, size) of one series."""

    spare = 0.0  # by which torque limits [parts] and the box [m] are tightened

    def kept(
        self, guess: np.ndarray, iterations: int, pose: np.ndarray | None
    ) -> tuple[np.ndarray, str]:
        """Coefficients improved from a guess that keep every limit, drawn towards the pose where they have to be."""
        x, word = self.settled(guess, iterations)
        if pose is None or self.excess(x) <= 0:
            return x, word
        drawn = drawn_in(x, pose, self.excess)
        again, _ = self.settled(drawn, iterations)  # a start within the limits leads further
        choices = [drawn, drawn_in(again, pose, self.excess)]
        best = min(choices, key=self.score)
        return best, f"{word}; drawn in until torque limits and box hold"

    def settled(self, start: np.ndarray, iterations: int) -> tuple[np.ndarray, str]:
        """Coefficients improved from a start; again with tighter limits where the series overshoots between points."""
        self.spare = 0.0
        x, word = self.solve(start, iterations)
        x = self.within(x)
        for _ in range(2):
            over = self.excess(x)
            if over <= 0:
                break
            self.spare += 1.5 * over
            x, word = self.solve(x, iterations)
            x = self.within(x)
        return x, word

    def solve(self, start: np.ndarray, iterations: int) -> tuple[np.ndarray, str]:
        """Coefficients improved from a start, and what the optimiser says."""
        n, size = start.shape
        x = ca.MX.sym("x", n * size)
        states = [ca.mtimes(ca.sparsify(ca.DM(np.kron(B, np.eye(n)))), x) for B in self.bases]
        points = len(self.bases[0])
        Q, V, A = (ca.reshape(s, n, points) for s in states)
        objective, extra, extra_low, extra_high = self._objective(Q, V, A)
        g, low, high = self._constraints(x, states, Q, V, A)
        variables, first = x, start.T.ravel()
        if extra is not None:
            t = ca.MX.sym("t")
            variables = ca.vertcat(x, t)
            g, low, high = [*g, extra - t], [*low, extra_low], [*high, extra_high]
            objective = t
            value = ca.Function("v", [x], [extra])(first)
            first = np.r_[first, float(np.max(np.array(value)))]
        program = {"x": variables, "f": objective, "g": ca.vertcat(*g)}
        options: Json = {
            "ipopt.print_level": 0,
            "print_time": 0,
            "ipopt.sb": "yes",
            "ipopt.max_iter": iterations,
            "ipopt.hessian_approximation": "limited-memory",
            "ipopt.tol": 1e-4,
            "ipopt.acceptable_tol": 1e-3,
        }
        solver = ca.nlpsol("excitation", "ipopt", program, options)
        solved = solver(x0=first, lbg=np.concatenate(low), ubg=np.concatenate(high))
        best = np.array(solved["x"]).ravel()[: n * size].reshape(size, n).T
        if not np.isfinite(best).all():
            best = start
        return best, str(solver.stats()["return_status"])

    def _objective(
        self, Q: Foreign, V: Foreign, A: Foreign
    ) -> tuple[Foreign, Foreign, Foreign, Foreign]:
        """The scalar to be made small, or a vector of which the largest is (with its bounds)."""
        points = Q.shape[1]
        # (p, n points): rows of the regressor, transposed
        Y = self._regressor().map(points)(Q, V, A)
        n, told = self.terms.n, self.terms.independent.tolist()
        if self.criterion != "recursive":
            rows = Y[told, :]
            M = ca.mtimes(rows, rows.T) / points
            return self._measure(len(told), self.criterion)(M), None, None, None
        parts = []
        for j, own in enumerate(self.owned()):
            if len(own):
                rows = Y[own.tolist(), list(range(j, n * points, n))]
                M = ca.mtimes(rows, rows.T) / points
                parts.append(self._measure(len(own), "condition")(M))
        worst = ca.vertcat(*parts)
        return None, worst, np.full(len(parts), -np.inf), np.zeros(len(parts))

    @staticmethod
    def _measure(p: int, criterion: str) -> Foreign:
        """Of an information matrix: -log det, or the log of its trace times its inverse's.

        The latter is twice the log of a bound of the condition number, smooth where that itself is not.
        """
        M = ca.SX.sym("M", p, p)
        L = ca.chol(M + 1e-12 * ca.trace(M) / p * ca.SX.eye(p)).T
        if criterion == "logdet":
            return ca.Function("m", [M], [-2 * ca.sum1(ca.log(ca.diag(L)))])
        inverse = ca.solve(L, ca.SX.eye(p)) if p == 1 else _lower_inverse(L)
        return ca.Function("m", [M], [ca.log(ca.trace(M)) + ca.log(ca.sumsqr(inverse))])

    def _regressor(self) -> Foreign:
        """casadi.Function (q, qd, qdd) -> (p, n): the scaled regressor, transposed."""
        n, terms = self.terms.n, self.terms
        q, qd, qdd = (ca.SX.sym(name, n) for name in ("q", "qd", "qdd"))
        words = len(terms.drive_names)
        drives = ca.SX(n, n * words)
        for j in range(n):
            for k in range(words):
                drives[j, j * words + k] = terms.drive_column(k, j, qd[j])
        Y = ca.horzcat(rigid_columns(self.arm, terms.armature, q, qd, qdd), drives)
        Y = ca.mtimes(ca.diag(ca.SX(1 / self.rows)), ca.mtimes(Y, ca.diag(ca.SX(1 / self.scale))))
        return ca.Function("Y", [q, qd, qdd], [ca.densify(Y.T)])

    def _constraints(
        self, x: Foreign, states: Sequence[Foreign], Q: Foreign, V: Foreign, A: Foreign
    ) -> tuple[list[Foreign], list[np.ndarray], list[np.ndarray]]:
        limits, n, points = self.limits, self.terms.n, Q.shape[1]
        rest = ca.mtimes(ca.sparsify(ca.DM(np.kron(self.series.rest(), np.eye(n)))), x)
        middle, half = (limits.high + limits.low) / 2, MARGIN * (limits.high - limits.low) / 2
        g = [rest, *states]
        low = [np.zeros(2 * n), np.tile(middle - half, points)]
        high = [np.zeros(2 * n), np.tile(middle + half, points)]
        for bound in (limits.velocity, limits.acceleration):
            low.append(np.tile(-MARGIN * bound, points))
            high.append(np.tile(MARGIN * bound, points))
        if limits.torque is not None:
            g.append(ca.vec(self._driven.map(points)(Q, V, A)))
            bound = (MARGIN - min(self.spare, 0.5)) * limits.torque
            low.append(np.tile(-bound, points))
            high.append(np.tile(bound, points))
        if limits.box is not None:
            g.append(ca.vec(self._tool.map(points)(Q)))
            spare = np.minimum(self.spare, (limits.box[1] - limits.box[0]) / 4)
            tools = self._tool.numel_out() // 3
            low.append(np.tile(limits.box[0] + spare, tools * points))
            high.append(np.tile(limits.box[1] - spare, tools * points))
        return g, low, high

    @cached_property
    def _driven(self) -> Foreign:
        """casadi.Function (q, qd, qdd) -> joint forces, friction included, whose sign is smooth for the optimiser."""
        joints = [
            j
            if j.friction is None
            else replace(j, friction=replace(j.friction, shape="tanh", width=_SMOOTH))
            for j in self.arm.joints
        ]
        smooth = compile_arm(replace(self.arm, joints=tuple(joints)), friction=True)
        return smooth.casadi("inverse_dynamics")

    @cached_property
    def _tool(self) -> Foreign:
        """casadi.Function q -> where the tools are in the base link, one after the other."""
        q = ca.SX.sym("q", self.terms.n)
        T = self.pointed.casadi("forward_kinematics")(q)
        places = [16 * k + entry for k in range(T.numel() // 16) for entry in (3, 7, 11)]
        return ca.Function("tool", [q], [T[places]])  # entries by rows


def _lower_inverse(L: Foreign) -> Foreign:
    """The inverse of a lower triangular SX matrix, by forward substitution."""
    p = L.shape[0]
    inverse = ca.SX(p, p)
    for j in range(p):
        inverse[j, j] = 1 / L[j, j]
        for i in range(j + 1, p):
            inverse[i, j] = -ca.mtimes(L[i, j:i], inverse[j:i, j]) / L[i, i]
    return inverse


def rigid_columns(arm: Arm, armature: bool, q: Foreign, qd: Foreign, qdd: Foreign) -> Foreign:
    """SX (n, p): the regressor of the minimal parameters, armatures included on request."""
    rigid = rigid_of(arm, armature)
    entries = rigid.model.casadi("regressor")(q, qd, qdd)
    motors = ca.diag(qdd)
    if not arm.coupling.free:
        motors = ca.mtimes(motors, ca.sparsify(ca.DM(rigid.geared)))
    wide = ca.horzcat(ca.reshape(entries, rigid.compiled_size, arm.nv).T, motors)
    if rigid.places is None:
        return ca.mtimes(wide, ca.sparsify(ca.DM(rigid.mixture), _NOTHING))
    return wide[:, rigid.places.tolist()]
