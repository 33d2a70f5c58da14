"""Every public name says what it takes, what it gives and how it is used; its examples run and print what is shown.

`numpy as np` and `dynarm` are there; the example of a method goes on from that of its class.
"""

from __future__ import annotations

import doctest
import inspect
import re
import warnings

import numpy as np
import pytest
from public_names import arguments, function_of, members, public, told

import dynarm

NAMES = public()
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PARSER = doctest.DocTestParser()


def lacks(name: str, thing: object, wanted: list[str], gives: bool) -> list[str]:
    """What a docstring leaves out, in words."""
    text = told(thing)
    missing = [f"{name}: no summary"] if not text.text.strip() else []
    if list(text.entries) != wanted:
        missing.append(f"{name}: tells of {list(text.entries)}, takes {wanted}")
    if gives and not re.match(r"\S.*\n {4}\S", text.returns):
        missing.append(f"{name}: does not say what it returns")
    if not text.examples.lstrip().startswith(">>>"):
        missing.append(f"{name}: no example")
    return missing


@pytest.mark.parametrize("name", NAMES)
def test_docstring_is_complete(name):
    thing = NAMES[name]
    if not inspect.isclass(thing):
        function = inspect.unwrap(thing)
        gives = function.__annotations__["return"] != "None"
        assert not lacks(name, function, arguments(function), gives)
        return
    missing = lacks(name, thing, arguments(thing), gives=False)
    for word, value in members(thing):
        if function := function_of(value):
            gives = function.__annotations__["return"] != "None"
            missing += lacks(f"{name}.{word}", function, arguments(function), gives)
        elif isinstance(value, property) or type(value).__name__ == "cached_property":
            missing += [] if (value.__doc__ or "").strip() else [f"{name}.{word}: no docstring"]
    assert not missing, "\n".join(missing)


def run(name: str, text: str, names: dict[str, object]) -> dict[str, object]:
    """The names after an example; fails where it prints something else than shown."""
    test = PARSER.get_doctest(text, dict(names), name, None, None)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)
    return test.globs


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    thing = NAMES[name]
    with warnings.catch_warnings(), np.printoptions():
        warnings.simplefilter("ignore")
        known = run(name, told(inspect.unwrap(thing)).examples, {"np": np, "dynarm": dynarm})
        for word, value in members(thing) if inspect.isclass(thing) else ():
            if function := function_of(value):
                run(f"{name}.{word}", told(function).examples, known)


def test_incomplete_docstrings_are_noticed():
    def whole(a, b):
        """Told.

        Parameters
        ----------
        a : int
            One.
        b : int
            Two.

        Returns
        -------
        int
            Their sum.

        Examples
        --------
        >>> 1
        1
        """

    text = inspect.cleandoc(whole.__doc__)
    assert not lacks("x", whole, ["a", "b"], gives=True)
    for left_out in ("b : int\n    Two.\n", "    Their sum.\n", ">>> 1\n1", "b : int"):
        whole.__doc__ = text.replace(left_out, "")
        assert lacks("x", whole, ["a", "b"], gives=True), left_out
    with pytest.raises(AssertionError):
        run("x", ">>> 1\n2\n", {})
