"""dynarm.explicit: M, C and G of short arms as mathematics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.errors import InputError, KindError
from dynarm.robot.frames.generic import generic_arm
from strategies import sample_arms

ARMS = [
    dynarm.load("two_link"),
    dynarm.load("scara"),
    generic_arm(2),
    generic_arm(3),
    generic_arm(3, 2),
    *(arm for arm in sample_arms(8, 12, (1, 2)) if not any(j.beta for j in arm.joints)),
]


def numbers(matrix, known):
    """Evaluated by NumPy: exact numbers of many digits would take a minute for three joints."""
    from sympy import lambdify

    return np.array(lambdify(list(known), matrix)(*known.values()), dtype=float)


@pytest.mark.parametrize("arm", ARMS, ids=lambda a: a.name)
def test_the_expressions_are_the_model(arm):
    made, model = dynarm.explicit(arm), dynarm.compile(arm)
    for q in np.random.default_rng(2).uniform(-3, 3, (3, arm.n)):
        known = made.substitutions(q)
        wanted = model.mass_matrix(q), model.gravity(q), model.coriolis_tensor(q)
        M, G = numbers(made.M, known), numbers(made.G, known).ravel()
        C = np.stack([numbers(page, known) for page in made.C])
        M = M - np.diag([j.armature for j in arm.joints])
        for ours, theirs in zip((M, G, C), wanted, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-11 * max(1, np.abs(theirs).max()))


def test_two_links_as_in_a_textbook():
    text = dynarm.explicit(dynarm.load("two_link")).text()
    assert "M_11 = Izz_1 + Izz_2 + a_2**2*m_2 + 2*a_2*c2*mcx_2" in text
    assert "C^2_11 = a_2*mcx_2*s2" in text and "1.0" not in text and "s1**2" not in text


def test_armatures_stand_on_the_diagonal():
    arm = dynarm.load("two_link")
    geared = replace(arm, joints=tuple(replace(j, armature=0.5) for j in arm.joints))
    assert "M_22 = Ia_2 + Izz_2" in dynarm.explicit(geared).text()


@pytest.mark.parametrize("name", ["two_link", "scara"])
def test_latex_is_parsed(name):
    from pylatexenc.latexwalker import LatexWalker

    text = dynarm.explicit(dynarm.load(name)).latex()
    nodes, _, _ = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    assert nodes[0].environmentname == "align*"
    assert r"mc_{x,2}" in text or r"I_{zz,1}" in text


def test_what_cannot_be_written_out_is_refused():
    with pytest.raises(InputError, match=r"6 joints.*up to 4"):
        dynarm.explicit(dynarm.load("puma560"))
    with pytest.raises(KindError, match=r"give a dynarm\.Arm"):
        dynarm.explicit("puma560")


def test_no_square_of_a_sine_is_left_and_progress_is_told():
    """Of joints and of twists: sin^2 = 1 - cos^2."""
    parts = []
    made = dynarm.explicit(generic_arm(3), progress=parts.append)
    text = made.text()
    assert "s2**2" not in text and "s3**2" not in text and "sin(alpha_2)**2" not in text
    assert "c2**2" in text and "cos(alpha_2)**2" in text
    assert parts == sorted(parts) and parts[-1] == 1.0 and len(parts) > 5
