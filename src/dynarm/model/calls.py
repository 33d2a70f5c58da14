"""What stands behind the words of a model: its options, the functions of its quantities, and how one is called."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from ..border.frames import check_out, is_plain
from ..border.kinds import FloatArray, Foreign, Json, Maker, Out, Outside
from ..border.memo import cached_property
from ..border.tables import html_table, text_table
from ..border.words import shown, titled
from ..dynamics.table import QUANTITIES as TABLED
from ..dynamics.table import check_quantity
from ..dynamics.table import formulation as tabled
from ..errors import InputError, KindError, ModelError
from ..graph.graph import Graph, Port
from ..machine.load.compiled import Kernel, kernel
from ..machine.load.quick import bound, by_gufunc
from ..parameters.minimal import MinimalParameters
from ..plan.choice import Planned, choose, minimal_of, planned, probe
from ..plan.quantities import Quantity, quantity_named
from ..plan.scene import Options
from ..plan.sizes import sizes_of
from ..robot.arm import Arm
from ..robot.frames.quaternions import with_unit_quaternion
from . import batch
from .friction_state import FUNCTIONS as STATE_FUNCTIONS
from .friction_state import FrictionState
from .functions import METHODS, Functions, model_sheet, plain, quantity_names
from .refusals import AXES, JOINTWISE, check_keywords, check_memory, check_options, explain

KEYS = ("wrench", "friction_state")  # keywords that a function of its own is compiled for


class Plan(NamedTuple):
    """A kind of call: the function, its inputs and outputs, and which of them are keywords, in the function's order."""

    kernel: Kernel
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    extras: tuple[str, ...]


class Calls:
    """A model without its words: what is compiled when it is first used, and how it is called."""

    def __init__(
        self,
        arm: Arm,
        formulation: Mapping[str, str] | None = None,
        friction: bool = False,
        gravity: str | None = None,
        parameters: str | None = None,
    ):
        check_options(arm, formulation, friction, gravity, parameters)
        self.arm = arm
        self.friction = bool(friction)
        self.gravity_input = gravity == "input"
        self.parameters_input = parameters == "inputs"
        self.wishes = dict(formulation or {})
        chain = probe(arm, Options(values_input=self.parameters_input))
        for quantity, name in self.wishes.items():
            check_quantity(quantity)
            try:
                tabled(quantity, name, chain)
            except InputError as refusal:
                given = "values= may hold no masses: " if self.parameters_input else ""
                raise InputError(f"{given}{refusal}") from None
        # What a model remembers, by quantity: `_kernels` what was compiled, `_quick` its builtin and `functions` its
        # gufunc, both without a word of Python in a call; `_ports` and `_plans` what any other call has to look up.
        # Everything behind them (`machine/load/compiled.py`) is shared by all models of the process.
        memory = bool(self.friction_state.size)
        self.functions = Functions(self, partial(quantity_names, memory))
        self._kernels: dict[str, Kernel] = {}
        self._ports: dict[str, tuple[tuple[Port, ...], tuple[Port, ...]]] = {}
        self._plans: dict[tuple[str, tuple[str, ...]], Plan] = {}
        self._quick: dict[str, Maker] = {}  # what needs nothing but the state

    def __repr__(self) -> str:
        extras = ", friction" * self.friction + ", gravity as input" * self.gravity_input
        extras += ", parameters as inputs" * self.parameters_input
        return titled("Model of", self.arm.name, f", {self.arm.n} joints{extras}")

    def __str__(self) -> str:
        return text_table(*model_sheet(self))

    def _repr_html_(self) -> str:
        return html_table(*model_sheet(self))

    @cached_property
    def minimal(self) -> MinimalParameters:
        """The minimal parameters that `values=` and the regressor's columns stand for."""
        return minimal_of(self.arm, Options(gravity_input=self.gravity_input))

    @cached_property
    def friction_state(self) -> FrictionState:
        """The memory of the joints' friction: start(q), next(state, q), along(q); empty where nothing has memory."""
        return FrictionState(self.arm, self.friction)

    def ports(self, key: str) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Inputs and outputs of a quantity, or of 'quantity:wrench'.

        Parameters
        ----------
        key : str
            Name of a quantity, such as "mass_matrix", or "inverse_dynamics:wrench".

        Returns
        -------
        tuple[tuple[Port, ...], tuple[Port, ...]]
            The inputs and the outputs, each with name and shape.

        Examples
        --------
        >>> inputs, outputs = model.ports("mass_matrix")
        >>> inputs[0].name
        'q'
        """
        ports = self._ports.get(key)
        if ports is None:
            word, options = self._word(key)
            p = self.minimal.count if word.needs_minimal(options) else 0
            sizes = sizes_of(self.arm, p)
            ports = word.inputs(sizes, options), word.outputs(sizes)
            self._ports[key] = ports
        return ports

    # ---- compiling

    def kernel(self, key: str) -> Kernel:
        """The compiled function of a quantity, or of 'quantity:wrench', with the formulations it was made from.

        Parameters
        ----------
        key : str
            Name of a quantity, such as "mass_matrix", or "inverse_dynamics:wrench".

        Returns
        -------
        Kernel
            The compiled function.

        Examples
        --------
        >>> kernel = model.kernel("gravity")
        """
        compiled = self._kernels.get(key) if isinstance(key, str) else None
        if compiled is None:
            compiled = self._kernels[key] = self._compile(key)
            word, _ = self._word(key)
            # the pose of a free base is looked at before each call
            if len(self.ports(key)[0]) == len(word.state) and not self.arm.floating:
                self._install(key, compiled.ufunc)
        return compiled

    def _install(self, name: str, ufunc: np.ufunc) -> None:
        """Let one call on one state be quick. Attributes of a class with methods of its own are left alone."""
        if name not in METHODS:
            return  # a quantity that has no method is a function only
        method, call = METHODS[name]
        builtin = bound(ufunc, method, self)
        self._quick[name] = builtin or by_gufunc(ufunc, method, self)
        if builtin and vars(type(self)).get(name) is call:
            self.__dict__.setdefault(name, builtin)

    def _word(self, key: str) -> tuple[Quantity, Options]:
        if not isinstance(key, str):
            raise KindError(f"quantity is {shown(key)}; give a name such as 'mass_matrix'")
        bare = key.removesuffix(":friction_state")
        memory, wrench = bare != key, bare.endswith(":wrench")
        word = quantity_named(bare.removesuffix(":wrench"))
        if wrench and not word.takes_wrench:
            raise InputError(
                f"{word.name} takes no wrench; inverse_dynamics and forward_dynamics do"
            )
        if memory:
            check_memory(word.name, word.feels_friction, self.friction_state.size)
        return word, Options(
            self.friction, self.gravity_input, wrench, self.parameters_input, memory
        )

    def _planned(self, key: str) -> Planned:
        word, options = self._word(key)
        minimal = self.minimal if word.needs_minimal(options) else None
        return planned(self.arm, word.name, self.wishes, options, minimal)

    def graph(self, key: str) -> Graph:
        """The operations behind a quantity, traced anew: what machine code, C and CasADi functions are made from.

        Also of 'friction_state_start' and 'friction_state_next', where friction has memory.

        Parameters
        ----------
        key : str
            Name of a quantity, such as "mass_matrix", or "inverse_dynamics:wrench".

        Returns
        -------
        Graph
            The graph of operations.

        Examples
        --------
        >>> graph = model.graph("mass_matrix")
        """
        if key in STATE_FUNCTIONS:
            return self.friction_state.graph(key)
        return self._planned(key).graph

    def casadi(self, key: str) -> Foreign:
        """A casadi.Function of a quantity, for optimal control; matrices come as columns, entries by rows.

        Parameters
        ----------
        key : str
            Name of a quantity.

        Returns
        -------
        casadi.Function
            The function, with symbolic derivatives.

        Examples
        --------
        >>> function = model.casadi("gravity")
        >>> float(function([0.0, 0.0])[0]) == round(float(model.gravity([0.0, 0.0])[0]), 12)
        True
        """
        from ..graph.casadi_bridge import express

        return express(self.graph(key)).function(key.replace(":", "_"))

    def jax(self, key: str) -> Foreign:
        """A function of JAX arrays for a quantity: jittable, vmappable, differentiable (extra `[jax]`).

        Parameters
        ----------
        key : str
            Name of a quantity.

        Returns
        -------
        callable
            The function of JAX arrays.

        Examples
        --------
        >>> gravity = model.jax("gravity")
        """
        from ..graph.jax_bridge import jax_function

        return jax_function(self.graph(key))

    def _compile(self, key: str) -> Kernel:
        word, options = self._word(key)

        def build() -> tuple[Graph, Json]:
            plan = self._planned(key)
            return plan.graph, {"formulation": {k: row.name for k, row in plan.chosen.items()}}

        recipe = (self.arm, options, sorted(self.wishes.items()))
        return kernel(recipe, word.name, *self.ports(key), build)

    @property
    def formulation(self) -> dict[str, str]:
        """The formulation used for each quantity of the table; no forward dynamics where the arm has none."""
        names = {}
        for name in TABLED:
            known = self._kernels.get(name)
            if known is not None:
                names[name] = known.notes["formulation"][name]
                continue
            word, options = self._word(name)
            minimal = self.minimal if word.needs_minimal(options) else None
            try:
                names[name] = choose(self.arm, name, self.wishes, options, minimal)[name].name
            except ModelError:
                continue  # a mass matrix that is singular in every pose
        return names

    # ---- calling

    def entry_names(self, port: str) -> tuple[str, ...]:
        """What the entries of an input are called: columns of a DataFrame with these names are put in this order.

        Parameters
        ----------
        port : str
            Name of an input: "q", "qd", "tau" ...

        Returns
        -------
        tuple[str, ...]
            The names, in order.

        Examples
        --------
        >>> model.entry_names("q")
        ('shoulder', 'elbow')
        """
        if port in JOINTWISE:
            return self.arm.coordinate_names if port == "q" else self.arm.speed_names
        if port == "friction_state":
            return self.friction_state.names
        return self.minimal.names if port == "values" else AXES[port]

    def _call(
        self,
        name: str,
        state: tuple[Outside, ...],
        out: Out = None,
        threads: int | None = None,
        **extras: Outside,
    ) -> FloatArray:
        """Call a quantity with all that a call may have: options, out, threads, errors in the robot's words.

        One array, as nearly all give, or a tuple of them.
        """
        made: FloatArray
        wanted = batch.threads if threads is None else batch.check_threads(threads)
        if extras.get("friction_state") is not None:
            extras["friction_state"] = self._remembered(extras["friction_state"])
        plan = self._plan(name, tuple([k for k, x in extras.items() if x is not None]))
        if out is not None and len(plan.outputs) > 1:
            raise InputError(
                f"{name} returns several arrays and takes no out=; use model.functions['{name}']"
            )
        args = [*state, *[extras[k] for k in plan.extras]]
        if not all(map(is_plain, args)):
            args = [plain(x, p, self.entry_names) for x, p in zip(args, plan.inputs, strict=True)]
        check_out(out)
        if self.arm.floating:
            args[0] = self._checked_pose(args[0])
        ufunc = plan.kernel.ufunc
        try:
            if wanted > 1:
                weight = plan.kernel.notes["instructions"]
                made = batch.call(ufunc, plan.inputs, plan.outputs, args, out, wanted, weight)
            else:
                made = ufunc(*args) if out is None else ufunc(*args, out=out)
        except (ValueError, TypeError, OverflowError) as refusal:
            raise explain(
                self.arm, name, plan.inputs, args, out, plan.outputs[0], refusal
            ) from None
        return made

    def _remembered(self, state: Outside) -> Outside:
        """A friction state; none where the model has no memory and the state is empty."""
        empty = not self.friction_state.size and np.shape(state)[-1:] == (0,)
        return None if empty else state

    def _checked_pose(self, q: Outside) -> Outside:
        """q with a unit quaternion; what is no array of numbers is left to the function's own refusal."""
        try:
            array = np.asarray(q, dtype=float)
        except (TypeError, ValueError):
            return q
        fits = array.ndim and array.shape[-1] == self.arm.nq  # else refused by their number
        return with_unit_quaternion(array) if fits else q

    def _plan(self, name: str, extras: tuple[str, ...]) -> Plan:
        """What a call with these keywords runs; refused where the function has other inputs."""
        plan = self._plans.get((name, extras))
        if plan is None:
            word = quantity_named(name)
            key = name + "".join(f":{k}" for k in KEYS if k in extras)
            inputs, outputs = self.ports(key)
            given = dict.fromkeys((*word.state, *extras))
            if self.parameters_input and not word.inertial:
                # every function takes them, also where they change nothing
                given.pop("values", None)
            check_keywords(name, inputs, given)
            more = tuple(p.name for p in inputs if p.name not in word.state)
            plan = self._plans[name, extras] = Plan(self.kernel(key), inputs, outputs, more)
        return plan
