"""Exceptions: each is ours and the built-in one that one would expect, and each survives pickling."""

from __future__ import annotations

import inspect
import pickle

import pytest

import dynarm
from dynarm import errors

CLASSES = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, Exception) and value.__module__ == errors.__name__
]
EXPECTED = {
    "InputError": ValueError,
    "KindError": TypeError,
    "UnknownName": KeyError,
    "UnknownAttribute": AttributeError,
    "FileError": OSError,
    "FileMissing": FileNotFoundError,
    "FormatError": ValueError,
    "ModelError": ValueError,
    "RoomError": MemoryError,
}


def make(kind):
    return (
        kind("robot", "puma", ["puma560"])
        if kind is errors.UnknownName
        else kind("what came; do this")
    )


@pytest.mark.parametrize("kind", CLASSES, ids=lambda c: c.__name__)
def test_errors_pickle(kind):
    error = make(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error)
    assert type(kind.__new__(kind)) is kind, "tblib, which Dask pickles tracebacks by, begins so"


def test_errors_are_what_one_would_expect():
    for name, built_in in EXPECTED.items():
        kind = getattr(errors, name)
        assert issubclass(kind, dynarm.DynarmError) and issubclass(kind, built_in)
    others = {c.__name__ for c in CLASSES} - EXPECTED.keys()
    assert others == {"DynarmError", "DynarmWarning"}


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        (
            "mass_matrx",
            ["bias", "mass_matrix"],
            "unknown word 'mass_matrx'; did you mean mass_matrix?",
        ),
        ("qqq", ["b", "a"], "unknown word 'qqq'; one of: a, b"),
        (3, {"a": 1}, "unknown word '3'; one of: a"),
    ],
)
def test_unknown_names_suggest_what_is_known(name, known, message):
    assert str(errors.UnknownName("word", name, known)) == message
