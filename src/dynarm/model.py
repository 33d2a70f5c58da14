"""compile(arm) -> Model: the words users say. Each quantity is compiled when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from . import batch
from .compiled import Kernel, kernel
from .counts import choose, graph, minimal_of
from .errors import InputError, KindError, ModelError
from .graph import Graph, Port
from .minimal import MinimalParameters
from .quantities import QUANTITIES, Quantity, quantity_named
from .robot.arm import Arm
from .robot.chain import chain_of, pose
from .scene import Options
from .table import QUANTITIES as TABLED
from .table import Formulation, check_quantity
from .table import formulation as tabled
from .trace import express

Array = Any
REFUSALS = (
    KeyError,
    ValueError,
    TypeError,
)  # not compiled yet, or to be explained: the long way round
_REMEDIES = {
    "gravity": "compile with gravity='input' for it",
    "values": "compile with parameters='inputs' for it",
}


class Functions(Mapping[str, np.ufunc]):
    """The bare NumPy gufuncs of a model by quantity; compiled when first asked for.

    `name` takes the state alone, `name:wrench` (inverse and forward dynamics) the tool wrench as well.
    """

    def __init__(self, model: Model):
        self._model = model

    def __getitem__(self, key: str) -> np.ufunc:
        return self._model.kernel(key).ufunc

    def __iter__(self) -> Iterator[str]:
        for quantity in QUANTITIES.values():
            yield quantity.name
            if quantity.takes_wrench:
                yield f"{quantity.name}:wrench"

    def __len__(self) -> int:
        return sum(1 for _ in self)


def compile(
    arm: Arm,
    formulation: Mapping[str, str] | None = None,
    friction: bool = False,
    gravity: str | None = None,
    parameters: str | None = None,
) -> Model:
    """The model of an arm: dynamics as compiled functions of NumPy arrays.

    formulation: {quantity: name} to force one; else the cheapest for this robot is taken. friction=True: armature,
    viscous and Coulomb friction and offset of the joints take part. gravity="input": every function that feels
    gravity takes a keyword gravity=(..., 3) in the base link's axes. parameters="inputs": every function that depends
    on the links' inertia takes a keyword values=(..., p), the minimal parameters in the order of `model.minimal.names`.
    """
    return Model(arm, formulation, friction, gravity, parameters)


class Model:
    """Compiled dynamics of one arm. Immutable; pickles by its recipe; safe to share between threads."""

    def __init__(
        self,
        arm: Arm,
        formulation: Mapping[str, str] | None = None,
        friction: bool = False,
        gravity: str | None = None,
        parameters: str | None = None,
    ):
        if not isinstance(arm, Arm):
            raise KindError(
                f"arm is {arm!r}; give a dynarm.Arm, for example dynarm.load('puma560')"
            )
        if gravity not in (None, "input"):
            raise InputError(
                f"gravity is {gravity!r}; give 'input' or leave it out to use the arm's own"
            )
        if parameters not in (None, "inputs"):
            raise InputError(
                f"parameters is {parameters!r}; give 'inputs' or leave it out to use the arm's own"
            )
        if formulation is not None and not isinstance(formulation, Mapping):
            raise KindError(
                f"formulation is {formulation!r}; give {{quantity: name}}, e.g. {{'bias': 'newton_euler'}}"
            )
        self.arm = arm
        self.friction = bool(friction)
        self.gravity_input = gravity == "input"
        self.parameters_input = parameters == "inputs"
        self.wishes = dict(formulation or {})
        chain = chain_of(arm)
        for quantity, name in self.wishes.items():
            check_quantity(quantity)
            tabled(quantity, name, chain)
        self.functions = Functions(self)
        self._kernels: dict[str, Kernel] = {}
        self._quick: dict[str, np.ufunc] = {}  # those that need nothing but the state

    def __reduce__(self) -> Any:
        gravity = "input" if self.gravity_input else None
        parameters = "inputs" if self.parameters_input else None
        return compile, (self.arm, self.wishes or None, self.friction, gravity, parameters)

    def __repr__(self) -> str:
        extras = ", friction" * self.friction + ", gravity as input" * self.gravity_input
        extras += ", parameters as inputs" * self.parameters_input
        return f"<dynarm.Model of '{self.arm.name}', {self.arm.n} joints{extras}>"

    @cached_property
    def minimal(self) -> MinimalParameters:
        """The minimal parameters that `values=` and the regressor's columns stand for."""
        return minimal_of(self.arm, Options(gravity_input=self.gravity_input))

    def ports(self, key: str) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Inputs and outputs of a quantity, or of 'quantity:wrench'."""
        word, options = self._word(key)
        p = self.minimal.count if word.needs_minimal(options) else 0
        return word.inputs(self.arm.n, options, p), word.outputs(self.arm.n, p)

    # ---- compiling

    def kernel(self, key: str) -> Kernel:
        """The compiled function of a quantity, or of 'quantity:wrench', with the formulations it was made from."""
        found = self._kernels.get(key)
        if found is None:
            found = self._kernels[key] = self._compile(key)
            word, _ = self._word(key)
            if len(self.ports(key)[0]) == len(word.state):
                self._quick[key] = found.ufunc
        return found

    def _options(self, key: str) -> Options:
        return Options(
            self.friction, self.gravity_input, key.endswith(":wrench"), self.parameters_input
        )

    def _word(self, key: str) -> tuple[Quantity, Options]:
        word = quantity_named(key.removesuffix(":wrench"))
        options = self._options(key)
        if options.wrench and not word.takes_wrench:
            raise InputError(
                f"{word.name} takes no wrench; inverse_dynamics and forward_dynamics do"
            )
        return word, options

    def _traced(self, key: str) -> tuple[Graph, dict[str, Formulation]]:
        word, options = self._word(key)
        minimal = self.minimal if word.needs_minimal(options) else None
        chosen = choose(self.arm, word.name, self.wishes, options, minimal)
        return graph(self.arm, word.name, chosen, options, minimal), chosen

    def graph(self, key: str) -> Graph:
        """The operations behind a quantity, traced anew: what machine code, C and CasADi functions are made from."""
        return self._traced(key)[0]

    def casadi(self, key: str) -> Any:
        """A casadi.Function of a quantity, for optimal control; matrices come as columns, entries by rows."""
        return express(self.graph(key)).function(key.replace(":", "_"))

    def jax(self, key: str) -> Any:
        """A function of JAX arrays for a quantity: jittable, vmappable, differentiable (extra `[jax]`)."""
        from .jax_bridge import jax_function

        return jax_function(self.graph(key))

    def _compile(self, key: str) -> Kernel:
        word, options = self._word(key)
        if "forward_dynamics" in word.name and not self.parameters_input:
            self._check_regular()

        def build() -> tuple[Graph, dict[str, Any]]:
            found, chosen = self._traced(key)
            return found, {"formulation": {k: row.name for k, row in chosen.items()}}

        recipe = (self.arm, options, sorted(self.wishes.items()))
        return kernel(recipe, word.name, *self.ports(key), build)

    def _check_regular(self) -> None:
        """Refuse an arm whose mass matrix is singular everywhere: it has no accelerations to compute."""
        n = self.arm.n
        q = list(np.random.default_rng(0).uniform(-1, 1, (n, 8)))
        chain = chain_of(self.arm)
        composite = tabled("mass_matrix", "composite_1").function
        assert composite is not None
        rows = composite(chain, pose(chain, q))
        M = np.array([[np.broadcast_to(x, 8) for x in row] for row in rows], float).transpose(
            2, 0, 1
        )
        if self.friction:
            M = M + np.diag([j.armature for j in self.arm.joints])
        scale = np.sqrt(np.maximum(np.einsum("...ii->...i", M), 0))
        for i, joint in enumerate(self.arm.joints):
            if not (scale[:, i] > 0).any():
                raise ModelError(
                    f"joint '{joint.name}' of robot '{self.arm.name}' moves no inertia, so its acceleration is "
                    "undefined; give its links mass, or an armature and compile with friction=True"
                )
        unit = M / (scale[..., :, None] * scale[..., None, :])
        if np.linalg.eigvalsh(unit)[:, 0].max() < 1e-13:
            raise ModelError(
                f"the mass matrix of robot '{self.arm.name}' is singular in every pose; give more of its links "
                "mass or inertia, or armatures and compile with friction=True"
            )

    @property
    def formulation(self) -> dict[str, str]:
        """The formulation used for each quantity of the table."""
        found = {}
        for name in TABLED:
            known = self._kernels.get(name)
            if known is not None:
                found[name] = known.notes["formulation"][name]
            else:
                word, options = self._word(name)
                minimal = self.minimal if word.needs_minimal(options) else None
                found[name] = choose(self.arm, name, self.wishes, options, minimal)[name].name
        return found

    # ---- calling

    def _call(
        self,
        name: str,
        state: tuple[Array, ...],
        out: Array = None,
        threads: int | None = None,
        gravity: Array = None,
        wrench: Array = None,
        values: Array = None,
    ) -> Any:
        """Call a quantity with all that a call may have: options, out, threads, errors in the robot's words."""
        extra = {"gravity": gravity, "wrench": wrench, "values": values}
        plain = (
            out is threads is None
            and batch.threads == 1
            and not any(x is not None for x in extra.values())
        )
        if plain and name in self._quick:
            try:
                return self._quick[name](*state)
            except REFUSALS:
                pass  # said again below, in the robot's words
        word = quantity_named(name)
        key = f"{name}:wrench" if wrench is not None else name
        ports, made = self.ports(key)
        given = dict(zip(word.state, state, strict=True)) | {
            k: v for k, v in extra.items() if v is not None
        }
        for port in ports:
            if port.name not in given:
                raise InputError(
                    f"{name} needs {port.name}=, because the model was compiled with it as an input"
                )
        for keyword in given.keys() - {p.name for p in ports}:
            raise InputError(
                f"{name} takes no {keyword}=; {_REMEDIES.get(keyword, 'leave it out')}"
            )
        args = [given[p.name] for p in ports]
        ufunc = self.kernel(key).ufunc
        wanted = batch.threads if threads is None else batch.check_threads(threads)
        if out is not None and ufunc.nout > 1:
            raise InputError(
                f"{name} returns several arrays and takes no out=; use model.functions['{name}']"
            )
        try:
            if wanted > 1:
                return batch.call(ufunc, ports, made, args, out, wanted)
            return ufunc(*args) if out is None else ufunc(*args, out=out)
        except (ValueError, TypeError) as refusal:
            raise self._explain(name, ports, args, out, made[0], refusal) from None

    def _explain(
        self,
        name: str,
        ports: tuple[Port, ...],
        args: list[Any],
        out: Any,
        made: Port,
        refusal: Exception,
    ) -> Exception:
        """What was wrong with the arguments that NumPy refused, in the robot's words."""
        arm = self.arm
        for port, value in zip(ports, args, strict=True):
            try:
                array = np.asarray(value)
            except ValueError:
                return InputError(f"{port.name} is ragged; give an array (..., {port.size})")
            if array.dtype.kind not in "bifu":
                return KindError(
                    f"{port.name} is of type {array.dtype}; give real numbers (float64)"
                )
            if array.ndim == 0 or array.shape[-1] != port.size:
                has = f"{array.shape[-1]} entries" if array.ndim else "a single number"
                if port.size == arm.n and port.name not in ("wrench", "gravity"):
                    return InputError(
                        f"{port.name} has {has}, robot '{arm.name}' has {arm.n} joints; order them as arm.joint_names"
                    )
                return InputError(f"{port.name} has {has}; give (..., {port.size})")
        shapes = [np.shape(v)[:-1] for v in args]
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            listed = ", ".join(f"{p.name} {np.shape(v)}" for p, v in zip(ports, args, strict=True))
            return InputError(f"the batch axes of {name} do not fit together: {listed}")
        if out is not None:
            return InputError(
                f"out is {type(out).__name__} {np.shape(out)} {getattr(out, 'dtype', '')}; "
                f"give a float64 array of shape {shape + made.shape}"
            )
        return InputError(f"{name}: {refusal}")

    def inverse_dynamics(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        wrench: Array = None,
        *,
        gravity: Array = None,
        values: Array = None,
        out: Array = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Joint forces (..., n) [N m or N] for accelerations qdd; wrench (..., 6) acts on the tool, in its axes."""
        if (
            wrench is None
            and gravity is None
            and out is None
            and threads is None
            and batch.threads == 1
        ):
            try:
                return self._quick["inverse_dynamics"](q, qd, qdd)
            except REFUSALS:
                pass
        return self._call("inverse_dynamics", (q, qd, qdd), out, threads, gravity, wrench, values)

    def forward_dynamics(
        self,
        q: Array,
        qd: Array,
        tau: Array,
        wrench: Array = None,
        *,
        gravity: Array = None,
        values: Array = None,
        out: Array = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Accelerations (..., n) under joint forces tau; wrench (..., 6) acts on the tool, in its axes."""
        if (
            wrench is None
            and gravity is None
            and out is None
            and threads is None
            and batch.threads == 1
        ):
            try:
                return self._quick["forward_dynamics"](q, qd, tau)
            except REFUSALS:
                pass
        return self._call("forward_dynamics", (q, qd, tau), out, threads, gravity, wrench, values)

    def mass_matrix(
        self, q: Array, *, values: Array = None, out: Array = None, threads: int | None = None
    ) -> np.ndarray:
        """Mass matrix (..., n, n): kinetic energy = qd' M qd / 2."""
        if values is None and out is None and threads is None and batch.threads == 1:
            try:
                return self._quick["mass_matrix"](q)
            except REFUSALS:
                pass
        return self._call("mass_matrix", (q,), out, threads, None, None, values)

    def bias(
        self,
        q: Array,
        qd: Array,
        *,
        gravity: Array = None,
        values: Array = None,
        out: Array = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Rigid-body bias forces (..., n): inverse dynamics at qdd = 0 without friction."""
        if (
            gravity is None
            and values is None
            and out is None
            and threads is None
            and batch.threads == 1
        ):
            try:
                return self._quick["bias"](q, qd)
            except REFUSALS:
                pass
        return self._call("bias", (q, qd), out, threads, gravity, None, values)

    def gravity(
        self,
        q: Array,
        *,
        gravity: Array = None,
        values: Array = None,
        out: Array = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Joint forces (..., n) that hold the arm at rest against gravity."""
        if (
            gravity is None
            and values is None
            and out is None
            and threads is None
            and batch.threads == 1
        ):
            try:
                return self._quick["gravity"](q)
            except REFUSALS:
                pass
        return self._call("gravity", (q,), out, threads, gravity, None, values)

    def coriolis_matrix(
        self,
        q: Array,
        qd: Array,
        *,
        values: Array = None,
        out: Array = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Coriolis matrix (..., n, n) of Christoffel: bias = C @ qd + gravity, Mdot - 2C is skew."""
        return self._call("coriolis_matrix", (q, qd), out, threads, None, None, values)

    def coriolis_tensor(
        self, q: Array, *, values: Array = None, out: Array = None, threads: int | None = None
    ) -> np.ndarray:
        """C[i, j, k] (..., n, n, n), symmetric in j, k: bias_i = sum C[i, j, k] qd_j qd_k + gravity_i."""
        return self._call("coriolis_tensor", (q,), out, threads, None, None, values)

    def mass_matrix_and_bias(
        self,
        q: Array,
        qd: Array,
        *,
        gravity: Array = None,
        values: Array = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix (..., n, n) and bias forces (..., n) from one kernel."""
        return self._call("mass_matrix_and_bias", (q, qd), None, threads, gravity, None, values)

    def kinetic_energy(
        self,
        q: Array,
        qd: Array,
        *,
        values: Array = None,
        out: Array = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Kinetic energy (...) [J]."""
        return self._call("kinetic_energy", (q, qd), out, threads, None, None, values)

    def potential_energy(
        self,
        q: Array,
        *,
        gravity: Array = None,
        values: Array = None,
        out: Array = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Potential energy (...) [J], zero with every mass at the origin of the base link."""
        return self._call("potential_energy", (q,), out, threads, gravity, None, values)

    def forward_kinematics(
        self, q: Array, *, out: Array = None, threads: int | None = None
    ) -> np.ndarray:
        """Pose (..., 4, 4) of the tool in the base link."""
        return self._call("forward_kinematics", (q,), out, threads)

    def jacobian(self, q: Array, *, out: Array = None, threads: int | None = None) -> np.ndarray:
        """Jacobian (..., 6, n) of the tool's origin, linear then angular, base axes."""
        return self._call("jacobian", (q,), out, threads)

    def jacobian_derivative(
        self, q: Array, qd: Array, *, out: Array = None, threads: int | None = None
    ) -> np.ndarray:
        """Time derivative (..., 6, n) of the Jacobian."""
        return self._call("jacobian_derivative", (q, qd), out, threads)

    def inverse_dynamics_derivatives(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        *,
        gravity: Array = None,
        values: Array = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """dtau_dq, dtau_dqd, dtau_dqdd, each (..., n, n)."""
        return self._call(
            "inverse_dynamics_derivatives", (q, qd, qdd), None, threads, gravity, None, values
        )

    def forward_dynamics_derivatives(
        self,
        q: Array,
        qd: Array,
        tau: Array,
        *,
        gravity: Array = None,
        values: Array = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """dqdd_dq, dqdd_dqd, dqdd_dtau, each (..., n, n)."""
        return self._call(
            "forward_dynamics_derivatives", (q, qd, tau), None, threads, gravity, None, values
        )

    def regressor(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        *,
        gravity: Array = None,
        out: Array = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Regressor (..., n, p): tau = Y @ values, the minimal parameters of `model.minimal`."""
        return self._call("regressor", (q, qd, qdd), out, threads, gravity)
