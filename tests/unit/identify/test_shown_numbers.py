"""What fits and motions show and write, number by number."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, Identifier
from dynarm.identify import saved
from dynarm.identify.saved_text import _quoted, _table, _value
from dynarm.identify.tables import _cut, html_table, plain_table
from oracles.simulated_log import noisy_log

TWO = dynarm.load("two_link")


@pytest.fixture(scope="module")
def fit():
    return Identifier(TWO, cutoff=15.0).fit(noisy_log(TWO, 0.3))


def test_texts_are_cut_at_160_letters():
    assert _cut("x" * 160) == "x" * 160
    assert _cut("x" * 161) == "x" * 157 + "..."


def test_tables_are_aligned_and_escaped():
    text = plain_table("title", ("a", "bb"), [("long", "1"), ("s", "22")])
    assert text == "title\n\na     bb\nlong  1\ns     22"
    assert html_table("", ("a",), [("<",)]) == (
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;</td></tr></tbody></table>"
    )
    assert "<caption>&amp;</caption>" in html_table("&", (), [])


def test_the_summary_holds_the_fits_own_numbers(fit):
    lines = fit.summary().splitlines()
    k = next(k for k, line in enumerate(lines) if line.startswith("joint"))
    for j in range(2):
        name, error, rms, delay, white = lines[k + 1 + j].split()
        assert name == TWO.joint_names[j]
        assert float(error) == pytest.approx(fit.relative_[j], abs=6e-4)
        assert float(rms) == pytest.approx(fit.residuals_.rms[j], rel=1e-3)
        assert float(delay) == pytest.approx(1e3 * fit.delays_[j], abs=0.06)
        assert float(white.rstrip("%")) == pytest.approx(100 * fit.residuals_.white[j], abs=0.6)
    first = lines[3].split()
    assert first[0] == fit.names_[0] and float(first[1]) == pytest.approx(fit.values_[0], rel=1e-5)
    assert f"{len(fit.names_)} unknowns" in lines[0] and "cut-off 15 Hz" in lines[0]
    assert f"mean error {np.mean(fit.relative_):.3g} of" in repr(fit)


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.bool_(False),
        3,
        np.int64(-4),
        0.1,
        np.float64(1e-300),
        "a",
        [1, 2],
        [[1.5, 2.0], [3.0, 4.0]],
        [],
        ["x", "y"],
    ],
)
def test_values_come_back_from_toml(value):
    back = tomllib.loads(f"x = {_value(value)}")["x"]
    assert back == value and type(back) in (bool, int, float, str, list)


def test_texts_of_any_letters_come_back():
    text = "".join(map(chr, range(0x100))) + '"\\\u2028'
    assert tomllib.loads(f"x = {_quoted(text)}")["x"] == text
    assert _quoted(" ~") == '" ~"'
    assert tomllib.loads(_table("a", {"x": None, "y": 1})) == {"a": {"y": 1}}
    assert _table("", {"y": 1}) == "y = 1\n"


def test_files_of_fits_have_a_size(tmp_path, monkeypatch, fit):
    path = tmp_path / "fit.toml"
    fit.save(path)
    size = path.stat().st_size
    monkeypatch.setattr(saved, "_MOST", size)
    np.testing.assert_array_equal(dynarm.load_fit(path).values_, fit.values_)
    monkeypatch.setattr(saved, "_MOST", size - 1)
    with pytest.raises(DynarmError, match=f"more than {size - 1} bytes"):
        dynarm.load_fit(path)


FREE = {"floor": False, "collisions": False}


def test_samples_and_guesses_of_a_motion():
    found = dynarm.excite(TWO, 4.0, 3, rate=50.0, starts=1, iterations=0, seed=3, **FREE)
    np.testing.assert_allclose(found.t, np.arange(201) / 50)
    assert len(found.random) == 20
    again = dynarm.excite(TWO, 4.0, 3, rate=50.0, starts=1, iterations=0, seed=3, **FREE)
    np.testing.assert_array_equal(again.q, found.q)
    other = dynarm.excite(TWO, 4.0, 3, rate=50.0, starts=1, iterations=0, seed=4, **FREE)
    assert np.abs(other.q - found.q).max() > 1e-3
    # without an iteration the best guess of twenty stays
    assert found.condition == pytest.approx(min(found.random), rel=0.2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"starts": 0},
        {"iterations": -1},
        {"seed": -1},
        {"rate": 0},
        {"rate": 1.1e6},
        {"armature": 1},
    ],
)
def test_wishes_out_of_range_are_refused(wrong):
    with pytest.raises(DynarmError, match=next(iter(wrong))):
        dynarm.excite(TWO, 4.0, **wrong)


def test_a_loaded_fit_holds_no_samples(tmp_path, fit):
    fit.save(tmp_path / "fit.toml")
    again = dynarm.load_fit(tmp_path / "fit.toml")
    left, p = again.residuals_, len(fit.names_)
    for samples in (left.t, left.measured, left.predicted, left.spectrum):
        assert len(samples) == 2 and not np.size(samples)
    assert not np.size(again.solution.weights) and not np.size(again.solution.scales)
    assert again.solution.covariance.shape == (0, 0) and again.solution.directions.shape == (0, p)
    assert again.solution.ridge == fit.solution.ridge
