"""An arm on wheels as pinocchio sees it: a free body whose wheels steer and spin, held by contact multipliers.

The arms come from their URDFs by pinocchio's own reader. Platform and wheels are bodies of their own: every wheel hangs
on a steering joint and a spinning joint. Nothing here knows of Kane's equations or of dynarm's records of arms:

    planned      rates of every joint out of the wheels' kinematics, then pinocchio's recursion: the wrench on the free
                 body is what the ground gives, the torque of a spinning joint tells its drive and its rolling force
    accelerated  mass matrix, Jacobians of the contact points and multipliers: accelerations under given inputs
    on_springs   minimum of the energy of unilateral springs by Newton's method
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from .mobile_multipliers import steering_angle

UNLOADED = np.zeros(6)
SMOOTH = 1e-3  # [m/s] of sliding over which Coulomb friction sets in, part of the stated model


def _translation(x, y, z) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array([x, y, z], float))


def urdf_arm(path, names) -> pin.Model:
    """A URDF with all joints but the named ones locked at zero."""
    whole = pin.buildModelFromUrdf(str(path))
    locked = [i for i, name in enumerate(whole.names) if i > 0 and name not in names]
    return pin.buildReducedModel(whole, locked, pin.neutral(whole))


@dataclass
class Planned:
    """What a planned motion takes: inputs by name, forces (w, 3), wrench on the ground about {v}, angles to tipping."""

    wheels: np.ndarray  # (w,): drive torques, of swerve wheels along their heading
    joints: dict[str, float]
    forces: np.ndarray
    wrench: np.ndarray
    angles: np.ndarray
    measure: float
    headings: np.ndarray  # (w,) of the wheels in {v}


class FreeFlyer:
    """arms: [(pinocchio model, 4x4 mount in {v}, prefix of its names)]; tool: name of the frame that is loaded."""

    def __init__(self, platform, wheels, base, arms, tool, gravity=9.81):
        self.platform, self.wheels, self.tool = platform, wheels, tool
        model = pin.Model()
        root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
        model.addFrame(
            pin.Frame("platform", root, 0, pin.SE3.Identity(), pin.FrameType.BODY), False
        )
        body = pin.Inertia(platform.mass, np.zeros(3), np.array(platform.inertia, float))
        model.appendBodyToJoint(root, body, pin.SE3.Identity())
        own = pin.Inertia(base.mass, np.zeros(3), np.array(base.inertia, float))
        model.appendBodyToJoint(root, own, _translation(*base.com))
        for wheel in wheels:
            if wheel.kind == "caster":
                at = _translation(*self._place(wheel), wheel.radius - platform.height)
                point = pin.Inertia(wheel.mass, np.zeros(3), np.zeros((3, 3)))
                model.appendBodyToJoint(root, point, at)
        for arm, mount, prefix in arms:
            model = self._with_arm(model, arm, mount, prefix)
        self.rolling = [j for j, w in enumerate(wheels) if w.kind != "caster"]
        for j in self.rolling:
            wheel = wheels[j]
            at = _translation(wheel.x, wheel.y, wheel.radius - platform.height)
            steer = model.addJoint(root, pin.JointModelRZ(), at, f"steer{j}")
            spin = model.addJoint(steer, pin.JointModelRY(), pin.SE3.Identity(), f"spin{j}")
            disk = np.diag([wheel.turn, wheel.spin, wheel.turn])
            model.appendBodyToJoint(
                spin, pin.Inertia(wheel.mass, np.zeros(3), disk), pin.SE3.Identity()
            )
        model.gravity.linear = np.array([0.0, 0.0, -gravity])
        self.model, self.data = model, model.createData()
        phi = ca.SX.sym("phi")
        angles = ca.vertcat(
            *(ca.SX(steering_angle(w, platform.steering, phi)) for w in wheels), phi * 0
        )
        slope = ca.jacobian(angles, phi)
        self.steering = ca.Function("s", [phi], [angles, slope, ca.jacobian(slope, phi)])
        self.weighs = sum(i.mass for i in model.inertias)

    @staticmethod
    def _with_arm(model, arm, mount, prefix):
        arm = arm.copy()
        fixed = pin.Inertia(arm.inertias[0])
        for i in range(1, arm.njoints):
            arm.names[i] = prefix + arm.names[i]
        for frame in arm.frames:
            frame.name = prefix + frame.name
        placed = pin.SE3(np.asarray(mount, float))
        before = model.inertias[1].mass
        joint = pin.appendModel(model, arm, model.getFrameId("platform"), placed)
        lacks = fixed.mass - (joint.inertias[1].mass - before)
        if abs(lacks) > 1e-12:  # the mass of what is fixed to the arm's own root
            joint.appendBodyToJoint(1, fixed, placed)
        return joint

    def _place(self, wheel):
        back = getattr(wheel, "trail", 0.0)
        return wheel.x - back * np.cos(wheel.angle), wheel.y - back * np.sin(wheel.angle)

    @property
    def pivot(self):
        """x of the point that does not slide across; None without skid wheels."""
        xs = [w.x for w in self.wheels if w.kind == "skid"]
        if not xs:
            return None
        return np.mean(xs) if self.platform.pivot is None else self.platform.pivot

    # ---- kinematics of the platform

    def _rows(self, phi, phid):
        """Rows of no sliding (k, 3) and their rates, of the wheels that hold the platform along their axles."""
        angles, slopes, _ = (np.array(x).ravel() for x in self.steering(phi))
        rows, rates = [], []
        for j, wheel in enumerate(self.wheels):
            if wheel.kind in ("fixed", "steered", "ackermann"):
                c, s = np.cos(angles[j]), np.sin(angles[j])
                rows.append([-s, c, wheel.y * s + wheel.x * c])
                turn = slopes[j] * phid
                rates.append([-c * turn, -s * turn, (wheel.y * c - wheel.x * s) * turn])
        if self.pivot is not None:
            rows.append([0.0, 1.0, self.pivot])
            rates.append([0.0, 0.0, 0.0])
        return np.array(rows).reshape(-1, 3), np.array(rates).reshape(-1, 3)

    def twist(self, names, z, zd, phi):
        """(vx, vy, w) of {v} and the rates of these components; names: of the speeds in z."""
        speeds, rates = dict(zip(names, z, strict=False)), dict(zip(names, zd, strict=False))
        phid, phidd = speeds.pop("phid", 0.0), rates.pop("phid", 0.0)
        rows, turning = self._rows(phi, phid)
        where = {"v": 0, "vy": 1, "thetad": 2}
        chosen = np.array([np.eye(3)[where[n]] for n in names if n in where])
        system = np.vstack([rows, chosen])
        own = np.array([speeds[n] for n in names if n in where])
        twist = np.linalg.lstsq(system, np.r_[np.zeros(len(rows)), own], rcond=None)[0]
        own = np.array([rates[n] for n in names if n in where])
        change = np.linalg.lstsq(system, np.r_[-turning @ twist, own], rcond=None)[0]
        return twist, change, phid, phidd

    def _wheel(self, j, phi, phid, phidd, twist, change):
        """Steering angle, rate, acceleration; spinning rate and acceleration of a wheel that rolls."""
        wheel = self.wheels[j]
        vx, vy, w = twist
        ax, ay, wd = change
        u = np.array([vx - wheel.y * w, vy + wheel.x * w])
        a = np.array([ax - wheel.y * wd, ay + wheel.x * wd])
        if wheel.kind == "swerve":
            size = np.hypot(*u)
            turn = (u[0] * a[1] - u[1] * a[0]) / size**2
            return (
                np.arctan2(u[1], u[0]),
                turn,
                0.0,
                size / wheel.radius,
                u @ a / size / wheel.radius,
            )
        angle, slope, bend = (float(np.array(x).ravel()[j]) for x in self.steering(phi))
        rate, acc = slope * phid, slope * phidd + bend * phid**2
        h, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        slant = np.tan(wheel.roller) if wheel.kind in ("omni", "mecanum") else 0.0
        h, n = h + slant * n, n - slant * h
        return angle, rate, acc, h @ u / wheel.radius, (h @ a + rate * (n @ u)) / wheel.radius

    # ---- a planned motion

    def _state(self, names, joints, q, z, zd):
        model = self.model
        steered = "phid" in names
        phi = q[3] if steered else 0.0
        twist, change, phid, phidd = self.twist(names, z, zd, phi)
        Q, V, A = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        V[[0, 1, 5]], A[[0, 1, 5]] = twist, change
        count = len(joints)
        for name, x, v, a in zip(joints, q[-count:], z[-count:], zd[-count:], strict=True):
            joint = model.joints[model.getJointId(name)]
            V[joint.idx_v], A[joint.idx_v] = v, a
            if joint.nq == 2:
                Q[joint.idx_q : joint.idx_q + 2] = np.cos(x), np.sin(x)
            else:
                Q[joint.idx_q] = x
        for j in self.rolling:
            angle, rate, acc, spin, spinning = self._wheel(j, phi, phid, phidd, twist, change)
            for word, x, v, a in (("steer", angle, rate, acc), ("spin", 0.0, spin, spinning)):
                joint = model.joints[model.getJointId(f"{word}{j}")]
                Q[joint.idx_q], V[joint.idx_v], A[joint.idx_v] = x, v, a
        return Q, V, A

    def _push(self, Q, load):
        """Generalised forces of a load in the tool's axes."""
        frame = self.model.getFrameId(self.tool)
        J = pin.computeFrameJacobian(self.model, self.data, Q, frame, pin.LOCAL)
        return J.T @ np.asarray(load, float)

    def _needed(self, Q, V, A, gravity, load):
        if gravity is not None:
            self.model.gravity.linear = np.asarray(gravity, float)
        return pin.rnea(self.model, self.data, Q, V, A).copy() - self._push(Q, load)

    def _at(self, word, j):
        return self.model.joints[self.model.getJointId(f"{word}{j}")].idx_v

    def _up(self, wrench):
        """What the wheels carry of a wrench of the ground on {v}."""
        h = self.platform.height
        places = np.array([self._place(w) for w in self.wheels])
        stiff = np.array([1.0 if w.stiffness is None else w.stiffness for w in self.wheels])
        about_x, about_y = wrench[3] - h * wrench[1], wrench[4] + h * wrench[0]
        return on_springs(places, stiff / stiff.mean(), np.array([wrench[2], about_x, about_y]))

    def sliding(self, names, joints, q, z, gravity, load):
        """Friction across each wheel [N]: slide times the load at constant speeds, against its sliding."""
        across = np.zeros(len(self.wheels))
        if not any(w.kind == "skid" for w in self.wheels):
            return across
        Q, V, A = self._state(names, joints, q, z, np.zeros(len(z)))
        up = self._up(self._needed(Q, V, A, gravity, load)[:6])
        for j, wheel in enumerate(self.wheels):
            if wheel.kind == "skid":
                speed = V[1] + wheel.x * V[5]
                across[j] = -wheel.slide * up[j] * np.tanh(speed / SMOOTH)
        return across

    def planned(self, names, joints, q, z, zd, gravity=None, load=UNLOADED) -> Planned:
        Q, V, A = self._state(names, joints, q, z, zd)
        needed = self._needed(Q, V, A, gravity, load)
        wrench = needed[:6]
        up = self._up(wrench)
        across = self.sliding(names, joints, q, z, gravity, load)
        w = len(self.wheels)
        forces = np.zeros((w, 3))
        forces[:, 2] = up
        steer = {
            j: Q[self.model.joints[self.model.getJointId(f"steer{j}")].idx_q] for j in self.rolling
        }
        rest = wrench[[0, 1, 5]].copy()
        pushes, columns = {}, {}
        for j in self.rolling:
            ways = self._ways(j, steer[j])
            columns[j] = ways
            rest -= across[j] * ways["side"]
        # drives: smallest sum of squared torques that, with what holds the wheels sideways, gives what is needed
        stands = up > 0
        swerve = [j for j in self.rolling if self.wheels[j].kind == "swerve"]
        chosen = (
            self._swerve(rest, swerve, A[[0, 1, 5]], stands)
            if swerve
            else self._drives(rest, columns, needed, stands)
        )
        torques = np.zeros(w)
        for j in self.rolling:
            wheel = self.wheels[j]
            if wheel.kind == "swerve":
                forces[j, :2] = chosen[j]
                heading = np.array([np.cos(steer[j]), np.sin(steer[j])])
                torques[j] = needed[self._at("spin", j)] + wheel.radius * heading @ chosen[j]
                continue
            torques[j] = chosen[j]
            pushes[j] = (torques[j] - needed[self._at("spin", j)]) / wheel.radius
            rest -= pushes[j] * columns[j]["roll"]
        self._sides(forces, rest, columns, pushes, across, stands)
        arm = {n: float(needed[self.model.joints[self.model.getJointId(n)].idx_v]) for n in joints}
        angles = tip_angles([self._place(x) for x in self.wheels], self.platform.height, -wrench)
        measure = angles.min() * np.linalg.norm(wrench[:3])
        headings = np.array([steer.get(j, 0.0) for j in range(w)])
        return Planned(torques, arm, forces, wrench, angles, measure, headings)

    def _ways(self, j, angle):
        """Planar wrench (fx, fy, mz) on {v} of unit forces on a wheel: along its rolling way and across."""
        wheel = self.wheels[j]
        h, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        slant = np.tan(wheel.roller) if wheel.kind in ("omni", "mecanum") else 0.0
        roll = h + slant * n

        def planar(f):
            return np.array([f[0], f[1], wheel.x * f[1] - wheel.y * f[0]])

        return {"roll": planar(roll), "side": planar(n), "slant": slant}

    def _drives(self, rest, columns, needed, stands):
        """Drive torques with the smallest norm; only of wheels that stand, if they can."""
        rigid = [j for j in self.rolling if self._braced(j) and self.wheels[j].kind != "skid"]
        held = [columns[j]["side"] for j in rigid]
        if self.pivot is not None:
            held.append(np.array([0.0, 1.0, self.pivot]))
        free = _null(np.array(held).reshape(-1, 3))  # motions that the axles allow
        wheels = [j for j in self.rolling if self.wheels[j].driven]
        spins = {j: needed[self._at("spin", j)] / self.wheels[j].radius for j in self.rolling}
        goal = free.T @ (rest + sum(spins[j] * columns[j]["roll"] for j in self.rolling))
        B = np.stack([free.T @ columns[j]["roll"] / self.wheels[j].radius for j in wheels], 1)
        able = np.array([stands[j] for j in wheels])
        if np.linalg.matrix_rank(B * able, tol=1e-6) == len(goal):
            B = B * able
        torque = np.linalg.pinv(B, rcond=1e-9) @ goal
        return {j: 0.0 for j in self.rolling} | dict(zip(wheels, torque, strict=True))

    def _swerve(self, rest, swerve, change, stands):
        """Forces (fx, fy) of swerve wheels whose torques (spin included, along x and y) have the smallest squares."""
        G, bias, radii = [], [], []
        for j in swerve:
            wheel = self.wheels[j]
            G.append(np.array([[1, 0], [0, 1], [-wheel.y, wheel.x]], float) * stands[j])
            ax, ay, wd = change
            centre = np.array([ax - wheel.y * wd, ay + wheel.x * wd])
            bias.append(wheel.spin / wheel.radius * centre)
            radii += [wheel.radius] * 2
        wide, own = np.hstack(G), np.concatenate(bias)
        torque = np.linalg.pinv(wide / radii, rcond=1e-9) @ (rest + wide @ (own / radii))
        forces = ((torque - own) / radii).reshape(-1, 2)
        return dict(zip(swerve, forces, strict=True))

    def _braced(self, j):
        return self.wheels[j].kind in ("fixed", "steered", "ackermann", "skid")

    def _sides(self, forces, rest, columns, pushes, across, stands):
        """Forces along the axles: what is left, with the smallest norm over the wheels that stand, if they can."""
        for j, push in pushes.items():
            forces[j, 0], forces[j, 1] = push, columns[j]["slant"] * push
        fast = [j for j in self.rolling if self._braced(j)]
        if not fast:
            return
        G = np.stack([columns[j]["side"] for j in fast], 1)
        able = np.array([stands[j] for j in fast])
        if np.linalg.matrix_rank(G * able, tol=1e-6) == np.linalg.matrix_rank(G, tol=1e-6):
            G = G * able
        side = np.linalg.pinv(G, rcond=1e-9) @ rest
        for j, value in zip(fast, side, strict=True):
            forces[j, 1] = value + across[j]

    # ---- accelerations under given inputs

    def accelerated(self, names, joints, q, z, tau, gravity=None, load=UNLOADED) -> np.ndarray:
        """zd by multipliers of the contacts, of the steering mechanism and of the pivot; no swerve wheels."""
        model, data = self.model, self.data
        if gravity is not None:
            model.gravity.linear = np.asarray(gravity, float)
        Q, V, _ = self._state(names, joints, q, z, np.zeros(len(z)))
        nv = model.nv
        pin.forwardKinematics(model, data, Q, V, np.zeros(nv))
        pin.computeJointJacobians(model, data, Q)
        rows, drifts = [], []
        for j, wheel in enumerate(self.wheels):
            own = self._contact_rows(j, wheel)
            rows += [row for row, _ in own]
            drifts += [drift for _, drift in own]
        steered = "phid" in names
        phi, phid = (q[3], z[names.index("phid")]) if steered else (0.0, 0.0)
        _, slopes, bends = (np.array(x).ravel() for x in self.steering(phi))
        rows = [np.r_[row, 0.0] for row in rows]
        for j in self.rolling:  # the last coordinate is phi
            row = np.zeros(nv + 1)
            row[self._at("steer", j)], row[-1] = 1.0, -slopes[j]
            rows.append(row)
            drifts.append(-bends[j] * phid**2)
        if not steered:
            rows.append(np.eye(nv + 1)[-1])
            drifts.append(0.0)
        across = self.sliding(names, joints, q, z, gravity, load)
        M = np.zeros((nv + 1, nv + 1))
        crba = pin.crba(model, data, Q)
        M[:nv, :nv] = np.triu(crba) + np.triu(crba, 1).T
        force = np.zeros(nv + 1)
        force[:nv] = self._push(Q, load) - pin.nonLinearEffects(model, data, Q, V)
        for j, slip in enumerate(across):
            x = self.wheels[j].x
            force[1] += slip
            force[5] += x * slip
            force[3] += self.platform.height * slip
        w = len(self.wheels)
        for j in self.rolling:
            force[self._at("spin", j)] += tau[j]
            force[self._at("steer", j)] += tau[w + j]
        for name, value in zip(joints, tau[2 * w :], strict=True):
            force[model.joints[model.getJointId(name)].idx_v] += value
        J, k = np.array(rows), len(rows)
        system = np.block([[M, -J.T], [J, np.zeros((k, k))]])
        A = np.linalg.lstsq(system, np.r_[force, -np.array(drifts)], rcond=1e-13)[0][: nv + 1]
        platform = {"v": A[0], "vy": A[1], "thetad": A[5], "phid": A[-1]}
        arm = [A[model.joints[model.getJointId(n)].idx_v] for n in joints]
        return np.array([*(platform[n] for n in names[: len(z) - len(joints)]), *arm])

    def _contact_rows(self, j, wheel):
        """(row of nv, drift) of every way in which the ground holds a wheel; the pivot counts with the first."""
        model, data = self.model, self.data
        made = []
        if wheel.kind == "caster":
            at = _translation(*self._place(wheel), wheel.radius - self.platform.height)
            made.append(self._point(1, 1, at, 0.0, np.array([0.0, 0.0, 1.0]), None))
        else:
            spin, steer = model.getJointId(f"spin{j}"), model.getJointId(f"steer{j}")
            R = data.oMi[steer].rotation
            ahead, side = R[:, 0], R[:, 1]
            ways = [ahead, side]
            if wheel.kind in ("omni", "mecanum"):
                ways = [ahead * np.cos(wheel.roller) + side * np.sin(wheel.roller)]
            elif wheel.kind == "skid":
                ways = [ahead]
            here = pin.SE3.Identity()
            for way in ways:
                made.append(self._point(spin, steer, here, wheel.radius, way, steer))
            up = np.array([0.0, 0.0, 1.0])
            made.append(self._point(spin, steer, here, wheel.radius, up, None))
        if wheel.kind == "skid" and j == self.rolling[0]:
            at = _translation(self.pivot, 0.0, 0.0)
            side = data.oMi[1].rotation[:, 1]
            made.append(self._point(1, 1, at, 0.0, side, 1))
        return made

    def _point(self, joint, turning, at, radius, way, turned):
        """Speed along `way` of the point `radius` below a place of a joint's body; turned: the joint that turns way."""
        model, data = self.model, self.data
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = pin.getJointJacobian(model, data, joint, world)
        arm = data.oMi[joint].rotation @ at.translation
        down = np.array([0.0, 0.0, -radius])
        v, a = (
            pin.getVelocity(model, data, joint, world),
            pin.getClassicalAcceleration(model, data, joint, world),
        )
        linear = J[:3] - pin.skew(arm + down) @ J[3:]
        speed = v.linear + np.cross(v.angular, arm + down)
        change = a.linear + np.cross(a.angular, arm + down)
        change = change + np.cross(v.angular, np.cross(v.angular, arm))
        drift = way @ change
        if turned is not None:
            spin = pin.getVelocity(model, data, turned, world).angular
            drift += np.cross(spin, way) @ speed
        return way @ linear, drift


def _null(rows: np.ndarray) -> np.ndarray:
    """(3, k): what is across all rows."""
    if not len(rows):
        return np.eye(3)
    _, values, right = np.linalg.svd(rows)
    return right[int((values > 1e-9 * values[0]).sum()) :].T


def on_springs(places: np.ndarray, stiff: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Forces up of springs that push only and give (force up, moments about x and y), by Newton's method.

    The plane (c, a, b) of deflection minimises sum k max(0, c + a y - b x)^2 / 2 less its work with the answer.
    """
    rows = np.column_stack([np.ones(len(places)), places[:, 1], -places[:, 0]])
    plane = np.linalg.solve((rows.T * stiff) @ rows, answer)

    def energy(x):
        return 0.5 * stiff @ np.maximum(rows @ x, 0) ** 2 - answer @ x

    for _ in range(100):
        deflection = np.maximum(rows @ plane, 0)
        slope = rows.T @ (stiff * deflection) - answer
        if np.abs(slope).max() < 1e-13 * np.abs(answer).max():
            break
        H = (rows.T * (stiff * (deflection > 0))) @ rows
        step = np.linalg.lstsq(H, -slope, rcond=1e-12)[0]
        length = 1.0
        while energy(plane + length * step) > energy(plane) + 1e-4 * length * (slope @ step):
            length /= 2
            if length < 1e-12:
                break
        plane = plane + length * step
    return stiff * np.maximum(rows @ plane, 0)


def tip_angles(places, height: float, load: np.ndarray) -> np.ndarray:
    """Angles of (9), by sign and arccosine as printed, about the sides of the hull counter-clockwise."""
    points = np.column_stack([np.array(places), np.full(len(places), -height)])
    force, moment = load[:3], load[3:]
    angles = []
    for first, second in hull_sides(np.array(places)):
        p, a = points[second], points[second] - points[first]
        a = a / np.linalg.norm(a)
        lever = p - a * (a @ p)
        f = force - a * (a @ force) + np.cross(lever, a * (a @ moment)) / (lever @ lever)
        cosine = lever @ f / np.linalg.norm(lever) / np.linalg.norm(f)
        sign = 1.0 if np.cross(lever, f) @ a > 0 else -1.0
        angles.append(sign * np.arccos(np.clip(cosine, -1, 1)))
    return np.array(angles)


def hull_sides(xy: np.ndarray) -> list[tuple[int, int]]:
    """Sides of the convex hull: pairs with all other points on the left; the lowest index first."""
    sides = {}
    for i in range(len(xy)):
        for j in range(len(xy)):
            if i != j:
                along = xy[j] - xy[i]
                left = along[0] * (xy[:, 1] - xy[i, 1]) - along[1] * (xy[:, 0] - xy[i, 0])
                between = (np.abs(left) < 1e-12) & ((xy - xy[i]) @ along > -1e-12)
                beyond = between & ((xy - xy[i]) @ along > along @ along + 1e-12)
                behind = (np.abs(left) < 1e-12) & ((xy - xy[i]) @ along < -1e-12)
                if (left > -1e-12).all() and not beyond.any() and not behind.any():
                    sides[i] = j
    start = min(sides)
    made = [(start, sides[start])]
    while made[-1][1] != start:
        made.append((made[-1][1], sides[made[-1][1]]))
    return made
