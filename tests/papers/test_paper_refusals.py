"""What the papers' functions refuse: the reason is told, and what applies instead."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.errors import InputError

BODY = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.eye(3) * 0.1}
FORK = dynarm.Arm([dynarm.Joint(**BODY), dynarm.Joint(**BODY, parent=-1)], name="fork")
FREE = dynarm.Arm([dynarm.Joint(**BODY)], name="free", floating=dynarm.Body(**BODY))
GRIPPER = dynarm.Arm(
    [dynarm.Joint(name="one", **BODY), dynarm.Joint(**BODY, mimic=dynarm.Mimic("one", 0.5))],
    name="gripper",
)
TWO = dynarm.load("two_link")

OF_CHAINS = {
    "equivalence": (dynarm.equivalence, r"tip=.*dynarm\.count"),
    "composite_bodies": (
        lambda arm: dynarm.composite_bodies(arm, np.zeros(arm.nq)),
        r"tip=.*dynarm\.minimal_parameters",
    ),
    "inertia_constants": (dynarm.inertia_constants, r"tip=.*dynarm\.minimal_parameters"),
    "explicit": (dynarm.explicit, r"dynarm\.compile\(arm\)"),
}


@pytest.mark.parametrize("name", OF_CHAINS)
@pytest.mark.parametrize("arm", [FORK, FREE, GRIPPER], ids=lambda arm: arm.name)
def test_functions_of_chains_name_what_serves_other_robots(name, arm):
    function, instead = OF_CHAINS[name]
    reason = rf"robot '{arm.name}' is no chain on a fixed base.*{instead}"
    with pytest.raises(InputError, match=reason):
        function(arm)


@pytest.mark.parametrize("arm", [FORK, FREE], ids=lambda arm: arm.name)
@pytest.mark.parametrize(
    ("quantity", "formulation", "serving"),
    [
        ("mass_matrix", "renaud", "gathered_composite"),
        ("inverse_dynamics", "lagrange", "gathered_newton_euler"),
    ],
)
def test_a_method_of_chains_names_those_of_trees_and_they_serve(
    arm, quantity, formulation, serving
):
    reason = rf"{formulation} does not apply.*chains on a fixed base.*these do: .*{serving}"
    for function in (dynarm.schedule, dynarm.count):
        with pytest.raises(InputError, match=reason):
            function(arm, quantity, formulation)
    plan = dynarm.schedule(arm, quantity, serving, processors=1)
    assert plan.length == dynarm.count(arm, quantity, serving).total


@pytest.mark.parametrize("digits", [-3, 0, 15, 1001, 10**9])
def test_digits_beyond_their_bounds(digits):
    with pytest.raises(
        InputError, match=f"digits is {digits}; give a whole number from 16 to 1000"
    ):
        dynarm.equivalence(TWO, digits=digits)


def test_digits_at_their_bounds_are_taken():
    assert dynarm.equivalence(TWO, digits=16).largest_difference < 1e-15
    assert dynarm.equivalence(TWO, digits=1000).largest_difference < 1e-307  # a double's least


@pytest.mark.parametrize("processors", [0, -1])
def test_no_processors(processors):
    reason = f"processors is {processors}; give a whole number from 1 "
    with pytest.raises(InputError, match=reason):
        dynarm.schedule(TWO, "bias", processors=processors)
    with pytest.raises(InputError, match=reason):
        dynarm.schedule(TWO, "bias").curve([1, processors])
    one = dynarm.schedule(TWO, "bias", processors=1)
    assert one.speedup == pytest.approx(1)
