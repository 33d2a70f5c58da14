"""Pages of what the papers prove: differences smaller than any double are told and sorted."""

from __future__ import annotations

import dynarm
from dynarm.report.papers import _apart, _without_e, equivalence_page
from dynarm.reproductions.equivalence import Agreement


def test_powers_are_written_out():
    assert _without_e("2.4e-63") == "2.4·10⁻⁶³" and _without_e("1.0e-400") == "1.0·10⁻⁴⁰⁰"
    assert _without_e("0.0e+00") == "0"


def test_rows_sort_by_the_digits_that_agree():
    def cell(agreed: float):
        return _apart(Agreement("gravity", "lagrange", "turney1980", "directly", 0.0, agreed))

    close, closer, same = cell(62.6), cell(399.5), cell(float("inf"))
    assert same.value < closer.value < close.value
    assert close.shown.endswith("10⁻⁶³") and same.shown == "0"


def test_the_page_tells_the_largest_difference(tmp_path):
    shown = dynarm.equivalence(dynarm.load("two_link"), digits=30)
    equivalence_page(shown, tmp_path / "e.html")
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert f"largest difference {_without_e(shown.told)}" in page
