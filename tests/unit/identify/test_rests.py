"""Ranges of columns, which are looked at many rows at a time."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm.identify.rests import spans


@pytest.mark.parametrize("rows", [1, 63, 64, 127, 128, 129, 1000])
def test_spans_are_those_of_the_columns(rows):
    x = np.random.default_rng(rows).normal(size=(rows, 5))
    for place in (0, rows - 1, rows // 2):  # the largest and the smallest stand anywhere
        y = x.copy()
        y[place, 1], y[place, 2] = 10.0, -10.0
        np.testing.assert_array_equal(spans(y), y.max(axis=0) - y.min(axis=0))
        np.testing.assert_array_equal(spans(np.asfortranarray(y)), spans(y))
        y[place, 3] = np.nan
        assert np.isnan(spans(y)).tolist() == [False, False, False, True, False]
