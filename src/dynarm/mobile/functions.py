"""The compiled gufuncs of a mobile manipulator by name, made when first asked for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, UnknownName
from ..machine.load.compiled import function
from ..model.functions import Function
from .kernels import NAMES, Formulas, graph_of, ports, scalar_function


class Functions(Mapping[str, np.ufunc]):
    """The bare NumPy gufuncs of a robot; compiled when first asked for. Each also takes DataFrames and the like."""

    def __init__(self, formulas: Formulas, name: str, names: Callable[[str], Sequence[str]]):
        self._formulas, self._name, self._names = formulas, name, names
        self._made: dict[str, Any] = {}

    def __getitem__(self, key: str) -> np.ufunc:
        found = self._made.get(key)
        if found is None:
            if key not in NAMES:
                raise UnknownName("function", key, NAMES)
            f = self._formulas
            if key.startswith(("control", "derivative")):
                check_regular(f, key.endswith(":locked"), self._name)
            recipe = (f.platform, f.wheels, f.base, f.arm, f.gravity, f.friction)
            inputs, outputs = ports(f, key)
            name = "mobile_" + key.replace(":", "_")
            ufunc = function(recipe, name, inputs, outputs, lambda: graph_of(f, key))
            found = self._made[key] = Function(ufunc, inputs, self._names, (self, key))
        return found  # type: ignore[return-value]

    def __reduce__(self) -> Any:
        robot = getattr(self._names, "__self__", None)
        return operator.attrgetter("functions"), (robot,)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


def check_regular(f: Formulas, locked: bool, name: str) -> None:
    """Refuse a machine whose mass matrix is singular everywhere: it has no accelerations to compute."""
    rng = np.random.default_rng(0)
    q, z = rng.uniform(-0.7, 0.7, f.coordinates), np.zeros(f.n)
    M = np.array(scalar_function(f, "equations")(q.tolist(), z.tolist())[0], dtype=float)
    held = f.guidance.moving if f.guidance.steered and locked else None
    free = [k for k in range(f.n) if k != held]
    M = M[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(M), 0))
    names = [(*f.guidance.speeds, *f.arm.joint_names)[k] for k in free]
    for speed, size in zip(names, scale, strict=True):
        if size == 0:
            remedy = (
                "give a steered wheel mass or `turn`, or lock the steering"
                if speed == "phid"
                else "give it mass"
            )
            raise ModelError(
                f"'{speed}' of robot '{name}' moves no inertia, so its acceleration is undefined; {remedy}"
            )
    if np.linalg.eigvalsh(M / np.outer(scale, scale))[0] < 1e-13:
        raise ModelError(
            f"the mass matrix of robot '{name}' is singular; give its links more inertia"
        )
