"""Numbers in DataFrames, Series, masked arrays and whatever else holds them: right or refused, never something else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dynarm.border.arguments import each, float_of, number, numbers, reals, samples
from dynarm.border.frames import check_out, is_plain, unlabelled
from dynarm.errors import DynarmError, InputError, KindError

NAMES = ("shoulder", "elbow", "wrist")
TABLE = np.arange(12.0).reshape(4, 3)
FRAME = pd.DataFrame(TABLE, columns=list(NAMES))


class Tensor:
    """What other libraries' arrays look like: `__array__`, and a will of their own with NumPy's functions."""

    def __init__(self, values=TABLE):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __array_ufunc__(self, *args, **options):
        raise AssertionError("NumPy asked the object")


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call detach() first")


RIGHT = {
    "array": TABLE,
    "list": TABLE.tolist(),
    "whole numbers": TABLE.astype(int),
    "frame": FRAME,
    "columns in another order": FRAME[["wrist", "shoulder", "elbow"]],
    "more columns": FRAME.assign(time=0.0)[["time", "elbow", "shoulder", "wrist"]],
    "a run's names": FRAME.add_suffix("_q")[["wrist_q", "shoulder_q", "elbow_q"]],
    "other names": FRAME.set_axis(["a", "b", "c"], axis=1),
    "numbers for names": FRAME.set_axis([2, 1, 0], axis=1),
    "an index of its own": FRAME.set_axis([7, 3, 9, 1], axis=0),
    "mixed types": FRAME.astype({"elbow": np.int32, "wrist": np.float32}),
    "pandas' own floats": FRAME.astype("Float64"),
    "sparse": FRAME.astype(pd.SparseDtype(float)),
    "rows": [row for _, row in FRAME[["wrist", "shoulder", "elbow"]].iterrows()],
    "tensor": Tensor(),
    "tensors": [Tensor(row) for row in TABLE],
    "nothing masked": np.ma.masked_array(TABLE),
    "matrix": TABLE.view(np.matrix),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_taken(case):
    found = reals("q", RIGHT[case], names=NAMES)
    assert type(found) is np.ndarray and found.dtype == np.float64
    assert np.array_equal(found, TABLE)


def test_one_state():
    for row in (
        FRAME.iloc[1],
        FRAME[["wrist", "shoulder", "elbow"]].iloc[1],
        pd.Series([3.0, 4, 5]),
        pd.Series([3.0, 4, 5], dtype="Float64"),
        pd.array([3.0, 4, 5], dtype="Float64"),
        pd.Index([3.0, 4, 5]),
        Tensor([3.0, 4, 5]),
    ):
        assert reals("q", row, names=NAMES).tolist() == [3, 4, 5]
    assert np.isnan(reals("q", pd.array([1.0, None, 2.0]), names=NAMES)).tolist() == [0, 1, 0]


REFUSED = {
    "one name missing": (FRAME.rename(columns={"wrist": "hand"}), "'shoulder', 'elbow' but not 'wrist'"),
    "a run's names, one missing": (FRAME.add_suffix("_q").iloc[:, :2], "but not 'wrist_q'"),
    "a series that lacks one": (FRAME.iloc[0].drop("elbow"), "but not 'elbow'"),
    "too few columns": (FRAME.set_axis(["a", "b", "c"], axis=1).iloc[:, :2], "2 columns .*'a', 'b'.*not 3"),
    "too many columns": (FRAME.set_axis(["a", "b", "c"], axis=1).assign(d=0), "4 columns .*not 3"),
    "too long a series": (pd.Series(range(4)), "4 entries .*not 3"),
    "a name twice": (pd.DataFrame(TABLE, columns=["elbow", "elbow", "wrist"]).assign(shoulder=0), "twice"),
    "levels": (pd.concat({"q": FRAME}, axis=1), "2 levels"),
    "texts": (FRAME.astype(str), "column 1 is of type"),
    "objects": (FRAME.astype(object), "column 1 is of type object"),
    "complex": (FRAME.astype({"elbow": complex}), "column 2 is of type complex128"),
    "dates": (FRAME.assign(wrist=pd.Timestamp(0)), "column 3 is of type datetime64"),
    "durations": (FRAME.assign(wrist=pd.Timedelta(3)), "column 3 is of type timedelta64"),
    "categories": (FRAME.astype({"wrist": "category"}), "column 3 is of type category"),
    "xarray": (xr.DataArray(TABLE, dims=("t", "joint")), "xarray DataArray, whose axes have names"),
    "dataset": (xr.Dataset({"a": ("t", TABLE[0])}), "xarray Dataset"),
    "masked": (np.ma.masked_array(TABLE, TABLE > 9), "q has 2 masked entries"),
    "masked rows": ([np.ma.masked_array(TABLE[0], [0, 1, 0])], "q has 1 masked entries"),
    "no array": (Broken(), "Broken that gives no array .RuntimeError: call detach.. first"),
    "array of objects": (np.array([None] * 3), r"q is .*; give numbers"),
    "array of texts": (np.array(["1", "2", "3"]), r"q is array.*; give numbers"),
    "text": ("abc", "q is 'abc'; give numbers"),
    "none": (None, "q is None; give numbers"),
    "generator": ((x for x in range(3)), r"q is .*; give numbers"),
    "ragged": ([[1.0], [1.0, 2.0]], "q is .*; give numbers"),
    "ragged rows": ([pd.Series([1.0, 2, 3]), Tensor([1.0])], "ragged"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    value, words = REFUSED[case]
    with pytest.raises(DynarmError, match=words) as caught:
        reals("q", value, names=NAMES)
    assert "\n" not in str(caught.value) and "; " in str(caught.value)


def test_units_are_not_dropped():
    class Quantity(np.ndarray):
        unit = "deg"

    with pytest.raises(KindError, match=r"Quantity with a unit; give plain numbers in SI units"):
        reals("q", TABLE.view(Quantity), names=NAMES)
    assert reals(
        "q", FRAME.rename(columns={"wrist": "unit"}), names=("shoulder", "elbow", "unit")
    ).size


def test_rows_have_names_as_well():
    frame = pd.DataFrame(TABLE[:2, :2], index=["b", "a"], columns=["y", "x"])
    assert numbers("p", frame, (2, 2), ("x", "y"), ("a", "b")).tolist() == [[4, 3], [1, 0]]
    assert numbers("p", frame, (2, 2), ("x", "y"), ("c", "d")).tolist() == [[1, 0], [4, 3]]
    with pytest.raises(InputError, match="rows of p name 'a' but not 'c'"):
        numbers("p", frame, (2, 2), ("x", "y"), ("a", "c"))


def test_without_names_it_goes_by_place():
    assert np.array_equal(reals("q", FRAME.iloc[:, ::-1]), TABLE[:, ::-1])
    assert reals("q", []).shape == (0,) and reals("q", FRAME.iloc[:0, :0]).shape == (0, 0)


def test_plain_values_are_left_alone():
    for value in (TABLE, [1.0], (), 3, None, "x", np.float64(1), [[1]], [TABLE]):
        assert is_plain(value) and unlabelled(value, NAMES, "q") is value
    for value in (FRAME, FRAME["elbow"], Tensor(), [Tensor()], TABLE.view(np.matrix), {}, object()):
        assert not is_plain(value)


def test_out():
    for out in (None, TABLE, (TABLE,), (None, TABLE), TABLE.view(np.matrix)):
        check_out(out)
    for out in (FRAME, np.ma.masked_array(TABLE), [0.0], (FRAME,), Tensor()):
        with pytest.raises(KindError, match=r"out is .*; give a float64 array"):
            check_out(out)


def test_the_other_checks_of_arguments_see_the_same():
    other = FRAME[["wrist", "shoulder", "elbow"]]
    assert np.array_equal(reals("q", other, names=NAMES), TABLE)
    assert np.array_equal(each("q", other, (4, 3), NAMES), TABLE)
    assert np.array_equal(samples("arm", 3, NAMES, q=other)[0], TABLE)
    for check in (reals, lambda what, x: numbers(what, x, (3,))):
        for wrong in ("masked", "xarray"):
            with pytest.raises(DynarmError, match=REFUSED[wrong][1]):
                check("q", REFUSED[wrong][0])


@pytest.mark.parametrize(
    "wrong", [1j, np.complex128(1), np.True_, np.datetime64(3, "s"), np.timedelta64(3, "s")]
)
def test_numbers_that_are_none(wrong):
    """float() of some of them drops a part in silence."""
    with pytest.raises(TypeError):
        float_of(wrong)
    with pytest.raises(KindError):
        number("x", wrong)
    with pytest.raises(KindError):
        numbers("x", np.array([wrong, wrong]), (2,))
