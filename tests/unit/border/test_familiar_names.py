"""Names of other libraries: told as ours, on models, arms and the module, and nothing else changes by it."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import dynarm
from dynarm.border.familiar import NOTHING, ROWS
from dynarm.model.model import Model

NAMES = [(name, row) for row in ROWS for name in row.names.split()]


@pytest.fixture(scope="module")
def model():
    return dynarm.compile(dynarm.load("two_link"))


def owners(model):
    return {"Model": model, "Arm": model.arm, "module 'dynarm'": dynarm}


@pytest.mark.parametrize("ours", sorted({row.ours for row in ROWS}))
def test_every_answer_can_be_typed(model, ours):
    """The name exists, and takes what the call gives, by position, in that order."""
    owner, call = ours.split(".", 1)
    name, _, rest = call.partition("(")
    thing = getattr({"model": Model, "arm": dynarm.Arm, "dynarm": dynarm}[owner], name)
    if rest:
        given = [word.strip() for word in rest.rstrip(")").split(",")]
        wanted = [p for p in inspect.signature(thing).parameters if p != "self"]
        plain = [word for word in given if "=" not in word]
        keywords = [word.partition("=")[0] for word in given if "=" in word]
        assert set(keywords) <= set(wanted)
        if owner == "model" or name in ("simulate", "compile"):
            assert wanted[: len(plain)] == plain


@pytest.mark.parametrize(("name", "row"), NAMES, ids=[name for name, _ in NAMES])
def test_a_name_of_another_library_is_told_as_ours(model, name, row):
    for owner, thing in owners(model).items():
        assert not hasattr(thing, name)
        with pytest.raises(AttributeError) as caught:
            getattr(thing, name)
        assert isinstance(caught.value, dynarm.DynarmError)
        text = str(caught.value)
        assert text.startswith(
            f"{owner} has no attribute '{name}'; what {row.library} calls {name} is {row.ours}"
        )
        assert ("dynarm.compile(arm)" in text.removeprefix(owner)) == (
            "dynarm.compile(arm" in row.ours or (row.ours.startswith("model.") and owner != "Model")
        )


def test_no_name_stands_twice_or_is_taken():
    names = [name for name, _ in NAMES] + [n for names in NOTHING.values() for n in names.split()]
    assert len(set(names)) == len(names) > 100
    for taken in (Model, dynarm.Arm, dynarm):
        assert not set(names) & set(dir(taken))


def test_our_own_names_on_the_wrong_object(model):
    words = r"has no attribute 'mass_matrix'; it is model\.mass_matrix\(q\), with model = dynarm\.compile\(arm\)"
    for thing in (model.arm, dynarm):
        with pytest.raises(AttributeError, match=words):
            thing.mass_matrix  # noqa: B018


def test_what_there_is_not(model):
    with pytest.raises(AttributeError, match="dynarm has no inverse kinematics"):
        model.ikine  # noqa: B018
    for thing in owners(model).values():
        with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
            thing.nothing  # noqa: B018


def test_nothing_else_changes(model):
    """Lists of names, copies, pickles, equality, and what asks objects for what they may be."""
    arm = model.arm
    assert "rnea" not in dir(model) + dir(arm) + dir(dynarm)
    for twin in (copy.copy(arm), copy.deepcopy(arm), pickle.loads(pickle.dumps(arm))):
        assert twin == arm and hash(twin) == hash(arm)
    q = np.array([0.1, 0.2])
    for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.mass_matrix(q), model.mass_matrix(q))
    assert np.asarray(arm, dtype=object).shape == ()
    assert getattr(model, "rnea", None) is None
    for hook in ("__array__", "_repr_png_", "__deepcopy__", "__len__"):
        assert not hasattr(model, hook) and not hasattr(arm, hook)


def test_an_error_inside_a_property_is_seen():
    class Odd(dynarm.Arm):
        @property
        def broken(self):
            return self.joints[0].no_such_thing

    odd = Odd([dynarm.Joint(mass=1.0)])
    with pytest.raises(AttributeError, match="no_such_thing"):
        odd.broken  # noqa: B018


def test_python_still_suggests_what_was_nearly_typed(model):
    try:
        model.inverse_dynamic  # noqa: B018
    except AttributeError as error:
        assert (error.name, error.obj) == ("inverse_dynamic", model)


def test_a_model_with_columns_of_one_s_own_knows_them_too(model):
    from dynarm.identify.extended import ExtendedModel

    bare = object.__new__(ExtendedModel)
    object.__setattr__(bare, "rigid", model)
    with pytest.raises(
        AttributeError, match=r"what Pinocchio calls crba is model\.mass_matrix\(q\)$"
    ):
        bare.crba  # noqa: B018
