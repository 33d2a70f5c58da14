"""Public functions with arguments that they were not made for: refused as a DynarmError that says what came, or taken.

Every argument of every call below is replaced by each hostile value in turn, the others staying right.
"""

from __future__ import annotations

import inspect
import math
from functools import cache

import numpy as np
import pytest

import dynarm
from dynarm import simulation
from dynarm.border.arguments import (
    each,
    flag,
    items,
    path_of,
    real,
    reals,
    samples,
    shown,
    whole,
)
from dynarm.border.written import drafted
from dynarm.errors import FileError, InputError, KindError
from dynarm.mobile import Base, MobileManipulator, Platform, Steering, Wheel, cases, export
from dynarm.report.html import write

HOSTILE = {
    "None": None,
    "text": "x",
    "empty text": "",
    "bytes": b"x",
    "negative": -1,
    "zero": 0,
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "fraction": 3.7,
    "true": True,
    "too large": 10**400,
    "complex": 1j,
    "empty list": [],
    "ragged": [[1, 2], [3]],
    "mixed list": [1, "a"],
    "list of None": [None],
    "dictionary": {},
    "set": set(),
    "object": object(),
    "NaN array": np.full(2, np.nan),
    "text array": np.array(["a", "b"]),
    "object array": np.array([None, "a"], object),
    "empty array": np.zeros((0, 2)),
    "deep array": np.zeros((3, 3, 3)),
}


@cache
def two_link():
    arm = dynarm.load("two_link")
    return arm, dynarm.compile(arm)


@cache
def recording():
    model = two_link()[1]
    t = np.linspace(0, 4, 401)
    q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t) + 0.2 * np.sin(7 * t)], axis=1)
    qd = np.gradient(q, t, axis=0)
    qdd = np.gradient(qd, t, axis=0)
    noise = 0.01 * np.random.default_rng(0).normal(size=q.shape)
    return dynarm.Log(t, q, model.inverse_dynamics(q, qd, qdd) + noise)


@cache
def fitted():
    return dynarm.Identifier(two_link()[0], armature=False).fit(recording())


@cache
def rover():
    return dynarm.mobile.load("tanner2001")


@cache
def ran():
    return dynarm.simulate(two_link()[1], [0, 0], [0, 0], 0.02, method="rk4", dt=0.01)


@cache
def minimal():
    return dynarm.minimal_parameters(two_link()[0])


def arm_and(**more):
    return {"arm": two_link()[0], **more}


def start(**more):
    return {"model": two_link()[1], "q0": [0, 0], "qd0": [0, 0], "t_end": 0.02, **more}


OPTIONS = {"load": None, "friction": None, "stop": False, "locked": False, "project": False}
OPTIONS |= {"dt": 0.01, "method": "rk45", "rtol": 1e-6, "atol": 1e-6}
STILL = {"q": np.zeros(6), "z": np.zeros(4), "tau": np.zeros(8)}
FEW = {"q": np.ones((5, 2)), "qd": np.ones((5, 2)), "qdd": np.ones((5, 2))}
TRIP = {"t": np.linspace(0, 1, 5), "q": np.linspace(0, 1, 5)[:, None] * np.eye(6)[0]}
CALLS = {  # name -> the function and right arguments, made when a test asks for them
    "minimal_parameters": lambda: (dynarm.minimal_parameters, arm_and()),
    "minimal.convert": lambda: (minimal().convert, {"convention": "lin1995"}),
    "minimal.payload": lambda: (minimal().payload, {"mass": 1.0}),
    "count": lambda: (dynarm.count, arm_and(quantity="bias")),
    "formulations": lambda: (dynarm.formulations, {"quantity": "bias"}),
    "term_shares": lambda: (dynarm.term_shares, arm_and(**FEW)),
    "Arm": lambda: (dynarm.Arm, {"joints": two_link()[0].joints}),
    "Joint": lambda: (dynarm.Joint, {}),
    "Log": lambda: (dynarm.Log, {"t": [0, 1], "q": np.ones((2, 2)), "tau": np.ones((2, 2))}),
    "log.cut": lambda: (recording().cut, {}),
    "log.rows": lambda: (recording().rows, {"which": slice(0, 9)}),
    "Preparation": lambda: (dynarm.Preparation, {}),
    "Column": lambda: (dynarm.Column, {"name": "c", "function": lambda q, qd, qdd: [0, 0]}),
    "Identifier": lambda: (dynarm.Identifier, arm_and()),
    "prepare": lambda: (dynarm.Identifier(**arm_and()).prepare, {"log": recording()}),
    "drive_gains": lambda: (
        dynarm.drive_gains,
        arm_and(without=recording(), loaded=recording(), mass=1.0),
    ),
    "fit.predict": lambda: (fitted().predict, {"log": recording()}),
    "fit.intervals": lambda: (fitted().intervals, {}),
    "fit.bootstrap": lambda: (fitted().bootstrap, {"repetitions": 2}),
    "fit.friction_curve": lambda: (fitted().friction_curve, {"joint": 0}),
    "fit.torque": lambda: (fitted().torque, FEW),
    "fit.verdict": lambda: (fitted().verdict, {}),
    "excite": lambda: (
        dynarm.excite,
        arm_and(duration=2.0, harmonics=2, starts=1, iterations=0),
    ),
    "simulate": lambda: (dynarm.simulate, start(method="rk4", dt=0.01)),
    "simulate, adaptive": lambda: (dynarm.simulate, start()),
    "Sampled": lambda: (simulation.Sampled, {"t": [0, 1], "values": np.zeros((2, 2))}),
    "GravityPD": lambda: (
        simulation.GravityPD,
        {"model": two_link()[1], "reference": [0, 0], "kp": 1, "kd": 1},
    ),
    "Event": lambda: (simulation.Event, {"name": "e", "function": lambda t, q, qd: 1.0}),
    "equations": lambda: (rover().equations, {"q": STILL["q"], "z": STILL["z"]}),
    "kane_equations": lambda: (rover().kane_equations, {"q": STILL["q"], "u": np.ones(5)}),
    "acceleration": lambda: (rover().acceleration, STILL),
    "tipover": lambda: (rover().tipover, STILL),
    "admissible": lambda: (rover().admissible, {**STILL, "friction": 0.5}),
    "mobile.simulate": lambda: (
        rover().simulate,
        {"q0": STILL["q"], "z0": STILL["z"], "t_end": 0.02, **OPTIONS},
    ),
    "motion": lambda: (rover().motion, TRIP),
    "safe_speed": lambda: (
        rover().safe_speed,
        {"motion": rover().motion(**TRIP), "friction": 0.5, "load": None},
    ),
    "mobile.count": lambda: (rover().count, {}),
    "MobileManipulator": lambda: (
        MobileManipulator,
        {f: getattr(rover(), f) for f in ("platform", "wheels", "base", "arm")},
    ),
    "Wheel": lambda: (Wheel, {"x": 0.0, "y": 0.3, "radius": 0.1}),
    "Platform": lambda: (Platform, {"mass": 1.0, "inertia": (1, 1, 1), "height": 0.2}),
    "Base": lambda: (Base, {"mount": np.eye(4)}),
    "Steering": lambda: (Steering, {"x": 1.0, "y": 0.0, "axle": -1.0}),
    "cases.run": lambda: (cases.run, {"case": 3}),
}


def arguments_of(function, right) -> list[str]:
    found = inspect.signature(function).parameters.values()
    named = [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return list(dict.fromkeys([*named, *right]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_whatever_comes_is_taken_or_refused_in_our_words(name):
    function, right = CALLS[name]()
    function(**right)
    errors = []
    for argument in arguments_of(function, right):
        for value in HOSTILE.values():
            try:
                function(**{**right, argument: value})
            except dynarm.DynarmError as error:
                errors.append(str(error))
    assert errors and all(len(text) > 10 for text in errors)


FILES = {  # what writes a file, and whether any name will do
    "run": (lambda path: ran().save(path), False),
    "page": (lambda path: write("<p>", path), False),
    "arm": (lambda path: two_link()[0].save(path), False),
    "rover": (lambda path: rover().save(path), False),
    "trajectory": (lambda path: trajectory().save(path), True),
    "code": (lambda path: dynarm.export_c(two_link()[1], path, quantities=["gravity"]), True),
    "rover's code": (lambda path: export.export_c(rover(), path, ["energy"]), True),
}


def trajectory():
    names = two_link()[0].joint_names
    return dynarm.Trajectory(np.zeros(2), *[np.zeros((2, 2))] * 3, 1.0, names)


@pytest.mark.parametrize(("save", "any_name"), FILES.values(), ids=FILES)
def test_names_of_files(save, any_name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for key, value in HOSTILE.items():
        if key == "text" and any_name:
            continue
        with pytest.raises(dynarm.DynarmError, match=r"; (give|end the name|name it)"):
            save(value)
    assert not list(tmp_path.iterdir())


REFUSED = [  # what is wrong and what to do, word for word
    (
        "minimal_parameters",
        {"tolerance": "x"},
        "tolerance is 'x'; give an angle in rad, at least 0",
    ),
    ("minimal_parameters", {"armature": "yes"}, "armature is 'yes'; give True or False"),
    ("Identifier", {"width": "x"}, "width is 'x'; give numbers in the shape (2,)"),
    ("Identifier", {"prior": 3}, "prior is 3; give a dynarm.Arm, or None"),
    ("Identifier", {"friction": None}, "friction is None; give words such as 'viscous'"),
    ("Preparation", {"decimate": "x"}, "decimate is 'x'; give a whole number"),
    ("fit.bootstrap", {"repetitions": -1}, "repetitions is -1; give a whole number from 1 to"),
    ("fit.intervals", {"level": 2}, "level is 2; give a share of at least 0, below 1"),
    ("fit.predict", {"log": None}, "None is not a log; give dynarm.Log(...)"),
    ("simulate", {"t_end": 10**400}, "give a number of seconds above 0"),
    ("simulate", {"every": 0}, "every is 0; give a whole number from 1 to"),
    ("acceleration", {"locked": "yes"}, "locked is 'yes'; give True or False"),
    ("Base", {"mount": np.eye(3)}, "base mount has shape (3, 3); give a 4x4 pose"),
    ("mobile.simulate", {"torque": "x"}, "torque is 'x'; give 8 numbers or a function f(t, q, z)"),
    ("excite", {"arm": None}, "arm is None; give a dynarm.Arm"),
    ("excite", {"starts": 0}, "starts is 0; give a whole number from 1 to"),
    ("excite", {"velocity": [1, 2, 3]}, "velocity has shape (3,); give one number or (2,)"),
]


@pytest.mark.parametrize(("name", "wrong", "words"), REFUSED, ids=lambda x: str(x)[:40])
def test_errors_say_what_came_and_what_to_do(name, wrong, words):
    function, right = CALLS[name]()
    with pytest.raises(dynarm.DynarmError) as caught:
        function(**{**right, **wrong})
    assert words in str(caught.value)


# ---- the checks themselves


def test_numbers():
    assert whole("k", 3.0) == whole("k", np.int64(3)) == 3 and type(whole("k", 3.0)) is int
    assert real("x", np.float32(0.5), "") == 0.5 and real("x", math.inf, "") == math.inf
    assert reals("x", [[1, 2]]).dtype == float and reals("x", np.array([True])).tolist() == [1.0]
    assert each("x", 2, (2, 2)).tolist() == [[2, 2], [2, 2]]
    assert flag("f", np.True_) is True
    array = np.ones((2, 2))
    assert reals("x", array) is array
    for wrong in (True, 2.5, "3", None, [3], math.nan):
        with pytest.raises(KindError, match=r"k is .*; give a whole number"):
            whole("k", wrong)
    for wrong in (-1, 11):
        with pytest.raises(InputError, match="from 0 to 10"):
            whole("k", wrong, 0, 10)
    with pytest.raises(InputError, match="x is nan; give a number"):
        real("x", math.nan, "a number")
    with pytest.raises(KindError):
        real("x", "1", "a number")
    with pytest.raises(KindError):
        flag("f", 1)


def test_samples_of_a_motion():
    q, qd = samples("arm", 2, q=[1, 2], qd=[[3, 4]])
    assert q.tolist() == [[1, 2]] and qd.tolist() == [[3, 4]]
    with pytest.raises(InputError, match="q has 1, qd has 2 samples; give as many of each"):
        samples("arm", 2, q=[1, 2], qd=np.zeros((2, 2)))
    with pytest.raises(InputError, match=r"robot 'arm' has 2 joints; give \(samples, 2\)"):
        samples("arm", 2, q=[1, 2, 3])
    with pytest.raises(InputError, match="NaN"):
        samples("arm", 2, q=[1, math.nan])


def test_long_values_are_cut_and_lines_joined():
    assert shown(np.zeros((3, 3))) == "array([[0., 0., 0.], [0., 0., 0.], [0., 0., 0.]])"
    assert len(shown("x" * 1000)) == 100 and shown("x" * 1000).endswith("...")


def test_items_and_paths():
    assert items("x", (k for k in "ab"), "") == ["a", "b"]
    for wrong in ("ab", None, 3, np.array(3.0)):
        with pytest.raises(KindError, match="give a list"):
            items("x", wrong, "a list")
    assert path_of("path", "a/b", "").name == "b"
    with pytest.raises(FileError, match="zero character"):
        path_of("path", "a\0b", "a path")


def test_a_draft_takes_its_name_at_once_or_leaves_nothing(tmp_path):
    target = tmp_path / "x.txt"
    target.write_text("old")
    with drafted(target) as draft:
        draft.write_text("new")
        assert draft.suffix == ".txt" and target.read_text() == "old"
    assert target.read_text() == "new" and list(tmp_path.iterdir()) == [target]
    with pytest.raises(ZeroDivisionError), drafted(target) as draft:
        draft.write_text("half")
        raise ZeroDivisionError
    with pytest.raises(FileError, match="check folder and rights"), drafted(target):
        pass  # nothing was written
    with pytest.raises(FileError, match="nowhere"), drafted(tmp_path / "nowhere" / "x") as draft:
        draft.write_text("x")
    assert target.read_text() == "new" and list(tmp_path.iterdir()) == [target]
