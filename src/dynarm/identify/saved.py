"""A fit as a TOML file, and back: all that predicts and judges, as numbers and words; the logs stay where they are.

Functions cannot be written: columns of the user's own are kept by name, and given again to load_fit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import items, path_of
from ..border.kinds import Json, Outside
from ..border.toml import tables
from ..border.written import drafted
from ..errors import DynarmError, FileError, FileMissing, FormatError, InputError
from ..robot.arm import Arm, Friction
from ..robot.formats.toml_file import arm_of_table
from .estimators.feasibility import Feasible
from .estimators.problem import Solution
from .friction.selection import Choice
from .identifier import Identifier
from .judgement.fitted import FittedErrors
from .judgement.identifiability import Identifiability
from .judgement.statistics import Residuals
from .own_columns import Column
from .preprocess import Preparation, Recording
from .record import Record
from .result import Fit
from .saved_text import FORMAT, LATER, OPTIONS, PREPARATION, text_of

if TYPE_CHECKING:
    from .regressor import Terms

_MOST = 64_000_000  # bytes of a file; a fit of 30 joints has a tenth of that
_DRIVE = ("friction", "shape")  # options that say how friction looks
_BROKEN = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)


def save_fit(fit: Fit, path: str | os.PathLike[str]) -> None:
    """Write a fit to a TOML file; nothing is left half-written."""
    target = path_of("path", path, "the name of a .toml file")
    if target.suffix.lower() != ".toml":
        raise FormatError(f"cannot save a fit to '{target}'; end the name in .toml")
    try:
        content = text_of(fit).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("a name holds characters that UTF-8 cannot write; rename it") from None
    with drafted(target) as draft:
        draft.write_bytes(content)


def load_fit(path: str | os.PathLike[str], columns: Sequence[Column] = ()) -> Fit:
    """The fit that Fit.save wrote. columns: those of the fit, if it had any, because functions are not written.

    Parameters
    ----------
    path : path-like
        A file that `Fit.save` wrote.
    columns : sequence of Column, optional
        The columns of the fit, if it had any, because functions are not written.

    Returns
    -------
    Fit
        The fit; what needs its logs, such as a bootstrap, is refused.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    >>> tau = dynarm.compile(arm).inverse_dynamics(q, qd, -q * [4, 9])
    >>> fit = dynarm.Identifier(arm, friction=(), armature=False).fit(dynarm.Log(t, q, tau, qd=qd))
    >>> fit.save("fit.toml")
    >>> dynarm.load_fit("fit.toml").values_.round(2)
    array([ 4.98,  5.  , -0.  ,  0.64,  1.2 ,  0.  ])
    """
    source = path_of("path", path, "the name of a .toml file")
    table = _parsed(_content(source), str(source))
    try:
        return _fit(table, columns, str(source))
    except DynarmError as error:
        text = str(error)
        told = text if str(source) in text else f"{source}: {text}"
        raise FormatError(told) from None
    except _BROKEN as error:
        raise FormatError(
            f"{source} is not a fit that dynarm wrote ({type(error).__name__}: {error}); save it again"
        ) from None


def _content(path: Path) -> bytes:
    if not path.exists():
        raise FileMissing(f"no file {path}; give the file that fit.save wrote")
    if not path.is_file():
        raise FileError(f"{path} is not a file; give the file that fit.save wrote")
    try:
        with path.open("rb") as file:
            content = file.read(_MOST + 1)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}; check the path") from None
    if len(content) > _MOST:
        raise FormatError(f"{path} has more than {_MOST} bytes; a fit's file is smaller")
    return content


def _parsed(content: bytes, source: str) -> Json:
    table = tables(content, source, _MOST)
    if table.get("kind") != "fit" or table.get("format") != FORMAT:
        raise FormatError(
            f"{source} is not a fit of format {FORMAT}; give the file that fit.save wrote"
        )
    return table


# ---- writing


# ---- reading


def _fit(table: Mapping[str, Outside], columns: Sequence[Column], source: str) -> Fit:
    told, options = table["fit"], table["options"]
    how = Preparation(**_known(table["preparation"], PREPARATION))
    arm = arm_of_table(table["arm"])
    identifier = Identifier(
        arm,
        **_drive_options(table, arm),
        **{name: options[name] for name in OPTIONS if name not in _DRIVE},
        **{name: options[name] for name in LATER if name in options},
        columns=_columns(options["columns"], columns, source),
        prior=arm_of_table(table["prior"]) if "prior" in table else None,
        preparation=how,
    )
    terms = identifier.terms(identifier.given_widths)
    _check_names(terms, told["names"], source)
    p, n = terms.size, terms.n
    values, covariance = _numbers(told["values"], (p,)), _numbers(told["covariance"], (p, p))
    solution = _solution(told, table["identifiability"], terms)
    record = Record(
        identifier,
        terms,
        how,
        terms.widths,
        (),
        {},
        None,
        _identifiability(table["identifiability"], terms.names),
        _residuals(table["residuals"], n),
        Recording(()),
        Choice.of_table(table.get("choice", {}), terms.records),
        float(told.get("band", np.nan)),
        doubts=_words(told["doubts"]),
        notes=_words(told["notes"]),
    )
    fit = Fit(record, solution, values, covariance)
    fit.__dict__.update(  # what a fit works out from its data when first asked
        std_=_numbers(told["std"], (p,)),
        consistent_=_numbers(told["consistent"], (n,)),
        fitted_=_errors(table.get("errors", {}), n),
        impossible_=_words(told.get("impossible", ())),
        speeds_=_numbers(told["speeds"], (len(terms.joints),)),
        status_=_word(told["status"]),
        feasible_=_feasible(table["feasible"], terms.arm, p),
    )
    return fit


def _drive_options(table: Mapping[str, Outside], arm: Arm) -> dict[str, Outside]:
    """How friction is given to an identifier: by words where one shape is enough, else by records."""
    options = table["options"]
    shapes, widths = options["shape"], list(map(float, options["widths"]))
    joints = arm.coupling.masters
    one = isinstance(shapes, str)
    if "drives" in table:
        drawn = arm_of_table(table["drives"]).joints
        return {"friction": tuple(drawn[i].friction or Friction() for i in joints)}
    if one or len(set(shapes)) <= 1:
        shape = shapes if one else (*shapes, "sign")[0]
        return {"friction": options["friction"], "shape": shape, "width": widths or None}
    rows = zip(shapes, widths, strict=True)
    return {"friction": tuple(Friction(shape=shape, width=width) for shape, width in rows)}


def _columns(names: Outside, columns: Outside, source: str) -> tuple[Column, ...]:
    own = tuple(items("columns", columns, "a list of dynarm.Column"))
    given = tuple(getattr(column, "name", column) for column in own)
    if given != tuple(names):
        wanted = ", ".join(names) or "none"
        raise InputError(
            f"{source} has these columns of your own: {wanted}; give load_fit(path, columns=[...]) the same, in order"
        )
    return own


def _check_names(terms: Terms, names: Sequence[str], source: str) -> None:
    if tuple(names) != terms.names:
        raise FormatError(
            f"{source}: the names of the unknowns are not those of its robot; save the fit again"
        )


def _solution(told: Mapping[str, Outside], check: Mapping[str, Outside], terms: Terms) -> Solution:
    p, nil = terms.size, np.zeros(0)
    return Solution(
        None,
        _numbers(told["fitted"], (p,)),
        nil,
        np.zeros((0, 0)),
        int(check["rank"]),
        float(check["condition"]),
        nil,
        np.zeros((0, p)),
        nil,
        float(told["ridge"]),
        joint_conditions=tuple(map(float, told["joint_conditions"])),
    )


def _identifiability(check: Mapping[str, Outside], names: tuple[str, ...]) -> Identifiability:
    grades = _words(check["grades"])
    if len(grades) != len(names):
        raise FormatError(f"{len(grades)} grades of {len(names)} unknowns; save the fit again")
    return Identifiability(
        names,
        int(check["rank"]),
        float(check["condition"]),
        _numbers(check["doubts"], (len(names),)),
        grades,
        tuple(zip(map(float, check["free"]), _words(check["directions"]), strict=True)),
        _words(check["advice"]),
        _words(check.get("leaning", ())),
    )


def _residuals(left: Mapping[str, Outside], n: int) -> Residuals:
    nothing = (np.zeros(0),) * n
    correlation = np.array(left["correlation"], float)
    inflation, rms, spread, white = (
        _numbers(left[name], (n,)) for name in ("inflation", "rms", "spread", "white")
    )
    return Residuals(
        nothing, nothing, nothing, inflation, rms, spread, correlation, white,
        ((np.zeros(0), np.zeros(0)),) * n,
    )  # fmt: skip


def _errors(own: Mapping[str, Outside], n: int) -> FittedErrors:
    """Errors on the fitted logs; older files have none."""
    none = np.full(n, np.nan)
    rmse, relative, band = (
        _numbers(own.get(name, none), (n,)) for name in ("rmse", "relative", "band")
    )
    return FittedErrors(rmse, relative, band)


def _feasible(near: Mapping[str, Outside], arm: Arm, p: int) -> Feasible:
    return Feasible(
        _numbers(near["parameters"], (len(arm.link_names), 10)),
        _numbers(near["armatures"], (arm.n,)),
        _numbers(near["values"], (p,)),
        float(near["distance"]),
        bool(near["exact"]),
        _word(near["status"]),
    )


def _known(table: Mapping[str, Outside], names: Iterable[str]) -> Json:
    given = {name: table[name] for name in names if name in table}
    if isinstance(given.get("slow"), list):
        given["slow"] = tuple(given["slow"])
    return given


def _numbers(value: Outside, shape: tuple[int, ...]) -> np.ndarray:
    array = np.array(value, float)
    if array.shape != shape:
        raise FormatError(
            f"numbers of shape {array.shape} where {shape} belong; save the fit again"
        )
    return array


def _word(value: Outside) -> str:
    if not isinstance(value, str):
        raise FormatError("a number where a text belongs; save the fit again")
    return value


def _words(values: Outside) -> tuple[str, ...]:
    return tuple(map(_word, values))
