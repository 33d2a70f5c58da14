"""Closed forms as mathematics: SymPy expressions that have the values, LaTeX that parses, reasons in words.

DYNARM_FORMS=1000 in the environment takes as many robots.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import sympy
from pylatexenc.latexwalker import LatexWalker

import dynarm
from dynarm.errors import UnknownName
from dynarm.parameters.closed_forms import Form, reduced
from dynarm.parameters.spelling import written
from oracles.minimal_arms import minimal_arm
from strategies import sample_arms, sample_trees

TOTAL = int(os.environ.get("DYNARM_FORMS", "60"))
CONVENTIONS = ("lin1995", "linfang1999", "gautier1990")


def robot(k):
    """Chains and trees in turn, structured and generic."""
    return minimal_arm(k // 2) if k % 2 else next(iter(sample_trees(20, 1, first=k // 2)))


def evaluated(mp):
    """The expressions in numbers, by Python's own cos and sin."""
    numbers = mp.substitutions()
    symbols = list(numbers)
    return np.array(sympy.lambdify(symbols, mp.sympy(), "math")(*numbers.values()), float)


@pytest.mark.parametrize("k", range(TOTAL))
def test_expressions_have_the_values(k):
    arm = robot(k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mp = dynarm.minimal_parameters(arm, CONVENTIONS[k % 3], armature=k % 5 == 0)
    natural = np.concatenate([arm.parameters.ravel(), [j.armature for j in arm.joints]])
    scale = np.abs(mp.matrix).sum(1) * max(1.0, np.abs(natural).max())
    assert (np.abs(evaluated(mp) - mp.values) <= 1e-12 * scale).all(), arm.name
    assert set().union(*(e.free_symbols for e in mp.sympy())) <= set(mp.substitutions())


def test_the_forms_are_in_symbols_of_the_geometry():
    """Other numbers for a, d, alpha and the masses give the values of the arm that has them."""
    rng = np.random.default_rng(4)

    def arm(rng):
        return dynarm.Arm(
            [
                dynarm.Joint(
                    *("prismatic" if k == 2 else "revolute", *rng.uniform(0.2, 1.2, 2)),
                    *(rng.uniform(0.2, 0.9), rng.uniform(0.3, 1.0), rng.uniform(1, 3)),
                    com=rng.normal(size=3),
                    inertia=np.diag(rng.uniform(1, 2, 3)),
                )
                for k in range(5)
            ],
            gravity=(1.0, 2.0, -9.0),
        )

    first, second = (dynarm.minimal_parameters(arm(rng)) for _ in range(2))
    assert first.names == second.names
    made = sympy.lambdify(list(second.substitutions()), first.sympy(), "math")
    values = np.array(made(*second.substitutions().values()), float)
    np.testing.assert_allclose(
        values, second.values, rtol=1e-12, atol=1e-12 * np.abs(second.values).max()
    )


def test_kappa_is_symbolic():
    """A translational joint between two parallel axes, across them: its kappa has no number of this arm in it."""
    joints = [
        dynarm.Joint(mass=1.0, com=(0.1, 0, 0)),
        dynarm.Joint("prismatic", alpha=0.7, theta=0.4, mass=2.0, com=(0.1, 0.2, 0.3)),
        dynarm.Joint(alpha=0.3, mass=1.0, com=(0.1, 0, 0)),
    ]
    mp = dynarm.minimal_parameters(dynarm.Arm(joints))
    kappas = [e for name, e in zip(mp.names, mp.sympy(), strict=True) if name.startswith("kappa")]
    assert kappas and not any(e.atoms(sympy.Float) for e in kappas)
    assert any(str(s) == "alpha_2" for e in kappas for s in e.free_symbols)


def test_squares_of_sines_and_cosines_are_put_together():
    c, s, m = (Form.named(x) for x in ("cos(alpha2)", "sin(alpha2)", "m2"))
    assert reduced(m * c * c + m * s * s).terms == m.terms
    assert reduced(m * c * c).terms == (m * c * c).terms
    # c^4 + 2 c^2 s^2 + s^4 = 1
    fourth = c * c * c * c + c * c * s * s * 2.0 + s * s * s * s
    assert reduced(fourth).terms == {(): 1.0}
    # not what is no square
    assert reduced(m * c * s).terms == (m * c * s).terms


def test_abbreviations_are_those_that_are_used():
    arm = minimal_arm(11)
    for k in range(40):
        arm = minimal_arm(k)
        if arm.n < 6:
            continue
        mp = dynarm.minimal_parameters(arm)
        text = " ".join((*mp.symbolic_forms, *mp.abbreviations.values()))
        assert all(name in text for name in mp.abbreviations), arm.name


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "two_link"])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_latex_parses(name, convention):
    mp = dynarm.minimal_parameters(dynarm.load(name), convention, armature=True)
    text = mp.latex()
    nodes, *_ = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    assert nodes[0].environmentname == "align*"
    assert text.count("&=") == mp.count + len(mp.abbreviations)


def in_numbers(latex, symbols):
    """The right side of every line in numbers; juxtaposition is a product."""
    known = {}
    for line in latex.splitlines():
        if "&=" not in line:
            continue
        left, right = line.removesuffix(r" \\").split(" &= ")
        right = re.sub(r" \\cdot 10\^\{(-?\d+)\}", r"e\1", right)
        right = re.sub(r"\\(cos|sin)\^\{2\}(\([^)]*\))", r"\\\1\2**2", right)
        right = re.sub(r"\^\{(\d)\}", r"**\1", right)
        for name in sorted(symbols, key=len, reverse=True):
            right = right.replace(name, f"({symbols[name]!r})")
        right = re.sub(r"\\(cos|sin)", r"math.\1", right)
        right = re.sub(r" ([+-]) ", r"\1", right).replace(" ", "*")
        known[left] = eval(right, {"math": math})
    return known


@pytest.mark.parametrize("k", range(18))
def test_latex_has_the_values(k):
    """What is typeset, read back and evaluated: exactly in symbols, to six digits where numbers stand."""
    arm = robot(k + 100)
    mp = dynarm.minimal_parameters(arm, CONVENTIONS[k % 3], armature=k % 2 == 0)
    symbols = {written(str(s)): value for s, value in mp.substitutions().items()}
    told = list(in_numbers(mp.latex(), symbols).values())[-mp.count :]
    natural = np.concatenate([arm.parameters.ravel(), [j.armature for j in arm.joints]])
    scale = np.abs(mp.matrix).sum(1) * max(1.0, np.abs(natural).max())
    exact = CONVENTIONS[k % 3] != "gautier1990" and not any("*" in name for name in mp.names)
    assert (np.abs(np.array(told) - mp.values) <= (1e-12 if exact else 1e-5) * scale).all()


def test_latex_puts_together_what_shares_a_factor():
    text = dynarm.minimal_parameters(dynarm.load("scara")).latex()
    assert r"a_{2}^{2} (m_{2} + m_{3} + m_{4})" in text


def test_why():
    """puma560: link 1 turns about one axis; joint 2 is across it."""
    mp = dynarm.minimal_parameters(dynarm.load("puma560"))
    assert mp.why("Ixx1").startswith("Ixx1 is absent") and "one axis only" in mp.why("Ixx1")
    assert mp.why("mcx6").startswith("mcx6 is alone") or "grouped" in mp.why("mcx6")
    grouped = mp.why("m6")
    assert grouped.startswith("m6 is grouped") and "joint forces" in grouped
    rows = np.flatnonzero(mp.matrix[:, mp.natural.index("m6")])
    assert all(mp.names[k] in grouped for k in rows)
    assert mp.why(mp.names[0]).startswith(f"{mp.names[0]} is a minimal parameter")
    with pytest.raises(UnknownName, match="Ixx1"):
        mp.why("Ixxx1")
    sliding = dynarm.Arm(
        [dynarm.Joint("prismatic", mass=1.0), dynarm.Joint(mass=1.0, com=(0.1, 0, 0))]
    )
    assert "only slides" in dynarm.minimal_parameters(sliding).why("Izz1")


def test_every_natural_parameter_has_a_reason():
    mp = dynarm.minimal_parameters(next(iter(sample_trees(15, 1, first=7))), armature=True)
    kinds = {mp.why(name).split(" is ")[1].split()[0].strip(":.") for name in mp.natural}
    assert kinds <= {"absent", "alone", "grouped"}
    for name, column in zip(mp.natural, mp.matrix.T, strict=True):
        assert ("absent" in mp.why(name)) == (not column.any())


@pytest.mark.parametrize("k", range(24))
def test_reasons_are_those_of_the_regressor_s_null_space(k):
    """Alone is what no direction that leaves all joint forces as they are changes; absent what every such one may."""
    arm = robot(k)
    mp = dynarm.minimal_parameters(arm, CONVENTIONS[k % 3], armature=k % 4 == 0)
    _, sizes, V = np.linalg.svd(mp.matrix)
    assert sizes[-1] > 1e-6
    hidden = np.linalg.norm(V[mp.count :], axis=0)  # of each parameter, what nobody sees
    for name, part in zip(mp.natural, hidden.tolist(), strict=True):
        said = mp.why(name).split(" is ")[1].split()[0].strip(":.")
        if said == "grouped":
            assert part > 1e-10, name
        else:
            assert (part < 1e-8) if said == "alone" else (part > 1 - 1e-8), name


def test_why_a_parameter_that_stands_in_sums_is_alone():
    """SCARA: Izz4 is U4_33, and stands in U1_33 and U2_33 too, from which it can be subtracted."""
    mp = dynarm.minimal_parameters(dynarm.load("scara"))
    assert "U4_33 is it, and it can be taken out of U1_33, U2_33" in mp.why("Izz4")
    # a difference of two: nowhere by itself
    told = mp.why("Izz2")
    assert told.startswith("Izz2 is grouped") and "U2_33 = Izz2 + Izz3 + Izz4" in told
    # the minimal m3 and the natural one of the same name are told apart
    assert mp.why("m3").endswith("The minimal parameter of that name is another: m3 = m3 + m4.")
    assert "another" not in mp.why("m4")


def test_why_a_mass_is_absent():
    """Of two intersecting axes: the origin of the second link's frame stands still, whatever its motion."""
    joints = [dynarm.Joint(mass=1.0), dynarm.Joint(alpha=1.0, mass=2.0, com=(0.1, 0.2, 0.3))]
    mp = dynarm.minimal_parameters(dynarm.Arm(joints, gravity=(1.0, 0.0, -9.0)))
    assert "frame, where it would be, never moves" in mp.why("m2")
    driven = dynarm.minimal_parameters(dynarm.Arm(joints), armature=True)
    assert "motor's reflected inertia" in driven.why("Ia1")


def velocities(arm, i, q):
    """(joints, 3) each: what the speeds of joints 0 to i give the origin and the turning of link i, in its frame."""
    poses, T = [], np.eye(4)
    for joint, x in zip(arm.joints, q, strict=True):
        moved = {"theta": joint.theta + x} if joint.revolute else {"d": joint.d + x}
        T = T @ replace(joint, **moved).displacement()
        poses.append(T)
    R, p = poses[i][:3, :3], poses[i][:3, 3]
    rows = []
    for joint, T in zip(arm.joints[: i + 1], poses, strict=False):
        z = T[:3, 2]
        rows.append((np.cross(z, p - T[:3, 3]), z) if joint.revolute else (z, 0 * z))
    return np.array([v @ R for v, _ in rows]), np.array([w @ R for _, w in rows])


@pytest.mark.parametrize("arm", list(sample_arms(12, 24)), ids=lambda arm: arm.name)
def test_reasons_are_true_of_the_motion(arm):
    """An origin that never moves, a link that only slides or turns about one axis: in its frame, in some poses."""
    mp = dynarm.minimal_parameters(arm)
    for q in np.random.default_rng(2).uniform(-2, 2, (2, arm.n)):
        for name in mp.natural:
            told, link = mp.why(name), int(re.search(r"\d+", name)[0]) - 1
            linear, turning = velocities(arm, link, q)
            if "never moves" in told:
                assert np.abs(linear).max() < 1e-6, name
            elif "only slides" in told:
                assert not turning.any(), name
            elif "one axis only" in told:
                u = turning[np.linalg.norm(turning, axis=1).argmax()]
                assert np.linalg.norm(np.cross(turning, u)) < 1e-3, name


def test_whole_factors_of_what_is_merged_are_written_as_such():
    """Rounding leaves 1.0000000000000002 of a factor of 1: names, expressions and values have 1."""
    arm = list(sample_trees(77, 11))[10]
    mp = dynarm.minimal_parameters(arm, "linfang1999", armature=True)
    assert "U7_33+Ia2+Ia7" in mp.names and not any("1*" in name for name in mp.names)
    near = np.round(2 * mp.merging) / 2
    assert not ((mp.merging != near) & (np.abs(mp.merging - near) < 1e-14) & (near != 0)).any()
