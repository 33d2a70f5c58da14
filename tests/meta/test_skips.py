"""The list of allowed skips does its work."""

from __future__ import annotations

import textwrap

import pytest

from skips import ALLOWED, Allowed, Skips, complaints

LIST = (
    Allowed("no Chromium", lambda: True, "tests/browser"),
    Allowed("gcc", lambda: False),
)
PAGES = ["tests/browser/test_a.py::one", "tests/browser/test_a.py::two", "tests/unit/test_b.py::x"]


def test_without_a_browser_exactly_its_tests_are_skipped():
    whole = {test: "no Chromium here" for test in PAGES[:2]}
    assert not complaints(whole, PAGES, LIST)
    assert "1 tests were skipped" in complaints({PAGES[0]: "no Chromium here"}, PAGES, LIST)[0]
    assert complaints({**whole, PAGES[2]: "no Chromium here"}, PAGES, LIST)


def test_a_reason_that_does_not_hold_is_told():
    (word,) = complaints({PAGES[2]: "gcc is not installed"}, PAGES[2:], LIST[1:])
    assert "does not hold" in word


def test_an_unknown_reason_is_told():
    (word,) = complaints({PAGES[2]: "because"}, PAGES[2:], LIST[1:])
    assert "does not list" in word


def test_a_run_with_such_a_skip_fails(pytester):
    """The plug-in itself, in a run of its own."""
    pytester.makepyfile(
        textwrap.dedent("""
            import pytest

            @pytest.mark.skip(reason="{reason}")
            def test_nothing(): ...

            def test_something():
                assert 1
        """).format(reason="no reason that is listed")
    )
    plugin = Skips()
    done = pytester.inline_run("-n", "0", "-p", "no:cacheprovider", plugins=[plugin])
    assert done.ret == 1 and len(plugin.words) == 1
    assert "no reason that is listed" in plugin.words[0]


@pytest.mark.parametrize("allowed", ALLOWED, ids=lambda a: a.reason)
def test_reasons_are_decided_without_error(allowed):
    assert allowed.holds() in (True, False)
