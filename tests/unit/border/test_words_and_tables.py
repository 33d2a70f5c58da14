"""What messages and tables show of values and names from outside."""

from __future__ import annotations

import importlib.metadata
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from dynarm import errors
from dynarm.border.extras import extra
from dynarm.border.tables import MOST, cell, html_table, text_table
from dynarm.border.words import shown
from oracles.hostile import NAMES

ESCAPES = "a\nb\r\x1b[31m\x9b1m\x07\u2028\u202e\ud800\x00\t"
WRITTEN = r"a\nb\r\x1b[31m\x9b1m\x07\u2028\u202e\ud800\x00\t"


class Loud:
    def __repr__(self):
        return "line\n" * 1000


class Mute:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.5, "3.5"),
        ("a\nb", r"'a\nb'"),
        ([1, [2.5, None]], "[1, [2.5, None]]"),
        (np.zeros(2), "array([0., 0.])"),
        (pd.DataFrame(np.zeros((700, 3))), "DataFrame of shape (700, 3)"),
        (Mute(), "<Mute>"),
        ([Mute()], "[<Mute>]"),
    ],
)
def test_values_in_messages(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(
    "value",
    [Loud(), [1.0] * 10**6, "x" * 10**6, {k: Loud() for k in range(9)}, b"y" * 999, 10**999],
)
def test_long_values_are_cut(value):
    assert len(shown(value)) <= 100 and "\n" not in shown(value) and shown(value).endswith("...")


def test_long_collections_are_not_written_first():
    class Counted:
        written = 0

        def __repr__(self):
            Counted.written += 1
            return "c"

    shown([Counted() for _ in range(10_000)])
    assert Counted.written <= 20


KINDS = ("DynarmError", "InputError", "KindError", "FileError", "FileMissing", "FormatError")


@pytest.mark.parametrize("kind", [*KINDS, "ModelError", "DynarmWarning"])
def test_errors_are_one_line_without_terminal_escapes(kind):
    error = getattr(errors, kind)(f"robot '{ESCAPES}' é ü 关节; rename it")
    assert str(error) == f"robot '{WRITTEN}' é ü 关节; rename it"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error).isprintable() and str(error).encode()


def test_unknown_names_and_warnings_too():
    error = errors.UnknownName("link", ESCAPES, [f"{ESCAPES}2", "z"])
    assert str(error) == f"unknown link '{WRITTEN}'; did you mean {WRITTEN}2?"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warnings.warn(ESCAPES, errors.DynarmWarning, stacklevel=1)
    assert str(said[0].message) == WRITTEN


# ---- the command that installs an extra

INSTALLED = {
    "from an index": (None, "pip install 'dynarm[view]'"),
    "from a folder": (
        {"url": "file:///home/me/dynarm", "dir_info": {}},
        "pip install '/home/me/dynarm[view]'",
    ),
    "editable": (
        {"url": "file:///home/my%20own/dynarm", "dir_info": {"editable": True}},
        "pip install -e '/home/my own/dynarm[view]'",
    ),
    "from a wheel": (
        {"url": "file:///tmp/dynarm-0.1-py3-none-any.whl", "archive_info": {}},
        "pip install 'dynarm[view] @ file:///tmp/dynarm-0.1-py3-none-any.whl'",
    ),
    "from git": (
        {"url": "https://example.org/dynarm", "vcs_info": {"vcs": "git", "commit_id": "a"}},
        "pip install 'dynarm[view] @ git+https://example.org/dynarm'",
    ),
    "broken": ("{", "pip install 'dynarm[view]'"),
}


@pytest.mark.parametrize("how", INSTALLED)
def test_extras_are_named_for_how_dynarm_was_installed(how, monkeypatch):
    record, command = INSTALLED[how]

    class Distribution:
        def read_text(self, name):
            assert name == "direct_url.json"
            return record if record is None or isinstance(record, str) else json.dumps(record)

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Distribution())
    assert extra("view") == command


def test_without_an_installation(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert extra("jax") == "pip install 'dynarm[jax]'"


# ---- tables


def test_cells():
    assert [cell(x) for x in (1 / 3, 2, True, None, "a\nb", np.float64(0.1) + 0.2)] == [
        *("0.333333", "2", "True", "", r"a\nb", "0.3"),
    ]
    assert len(cell("x" * 1000)) == 40


def test_a_text_table():
    text = text_table("a\nrobot", ["joint", "mass [kg]"], [("shoulder", 1.5), ("wrist", None)])
    assert text.splitlines() == [
        r"a\nrobot",
        "  joint     mass [kg]",
        "  shoulder  1.5",
        "  wrist",
    ]
    long = text_table("t", ["k"], [(k,) for k in range(MOST + 5)])
    assert len(long.splitlines()) == MOST + 3 and long.endswith("... and 5 more")


@pytest.mark.parametrize("name", [*NAMES, "'&<>\""])
def test_html_tables_hold_nothing_but_text(name):
    page = html_table(name, [name, "b"], [(name, 1.5), ("x", name)] * MOST)
    tags = page.replace("&lt;", "").replace("&gt;", "")
    for word in ("<script", "<img", "<!--", "</script"):
        assert word not in page
    assert tags.count("<td") == tags.count("</td>") == 2 * MOST + 1
    assert f"... and {MOST} more" in page and "<td>1.5</td>" in page
