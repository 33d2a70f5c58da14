"""Closed forms of the minimal parameters as mathematics: SymPy expressions and LaTeX.

Natural parameters are symbols such as `m_3`, `mcx_3`, `Ixx_3`, `Ia_3`; DH constants `a_2`, `d_2`, `b_2`, `alpha_2`,
`theta_2` (translational joints), `gamma_2`, `beta_2`; long entries of k and U are abbreviated as `k3_x`, `U3_11`.
Minimal parameters carry a hat in LaTeX, so that a mass and the mass of a composite body are told apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..border.extras import extra
from ..border.kinds import Foreign
from ..errors import DynarmError
from ..robot.frames.chain import chain_of
from .closed_forms import Form
from .conventions import natural_values
from .spelling import LATEX, merged_text, spell, spell_row, written

if TYPE_CHECKING:
    from .minimal import MinimalParameters

_ANGLE = re.compile(r"(cos|sin)\((\w+?)(\d+)\)")


def library() -> Foreign:
    """SymPy, or what to install."""
    try:
        import sympy
    except ImportError:
        raise DynarmError(f"SymPy is not installed; {extra('symbolic')}") from None
    return sympy


def _symbol(name: str) -> Foreign:
    """The symbol of a parameter, a constant or an abbreviation."""
    plain = re.fullmatch(r"([A-Za-z]+)(\d+)", name)
    text = f"{plain[1]}_{plain[2]}" if plain else name
    return library().Symbol(text, real=True)


def _factor(name: str) -> Foreign:
    """A name of a form: a symbol, or the cosine or sine of one."""
    angle = _ANGLE.fullmatch(name)
    if angle is None:
        return _symbol(name)
    return getattr(library(), angle[1])(_symbol(angle[2] + angle[3]))


def _number(x: float) -> Foreign:
    sympy = library()
    if float(4 * x).is_integer():
        return sympy.Rational(int(4 * x), 4)
    return sympy.Float(x, 17)


def _expression(form: Form) -> Foreign:
    """A form as an expression."""
    sympy = library()
    terms = [
        sympy.Mul(_number(value), *(_factor(name) for name in key))
        for key, value in form.terms.items()
    ]
    return sympy.Add(*terms)


def _theorem(mp: MinimalParameters) -> list[Foreign]:
    """Every combination of Theorem 2, and the armatures behind them."""
    forms = [_expression(form) for form in mp.closed_forms.forms]
    return forms + [_symbol(f"Ia{i + 1}") for i in range(mp.arm.n)] * mp.armature


def expressions(mp: MinimalParameters) -> list[Foreign]:
    """Each minimal parameter as an expression."""
    sympy = library()
    if mp.convention == "gautier1990":
        names = [_symbol(name) for name in mp.natural]
        return [_row(row, names) for row in mp.matrix]
    whole = _theorem(mp)
    return [sympy.sympify(_row(row, whole)) for row in mp.merging]


def _row(row: np.ndarray, of: list[Foreign]) -> Foreign:
    terms = [_number(x) * y for x, y in zip(row.tolist(), of, strict=True) if x]
    return library().Add(*terms)


def substitutions(mp: MinimalParameters) -> dict[Foreign, float]:
    """The numbers of this arm for all symbols."""
    natural = natural_values(mp.arm, mp.armature).tolist()
    numbers = dict(zip(mp.natural, natural, strict=True))
    chain = chain_of(mp.arm)
    for i, (limb, joint) in enumerate(zip(chain.joints, mp.arm.joints, strict=True), start=1):
        numbers |= {f"a{i}": float(limb.a), f"d{i}": float(limb.d), f"b{i}": float(limb.b)}
        numbers |= {f"theta{i}": float(limb.theta)}
        angles = (("alpha", joint.alpha), ("beta", joint.beta), ("gamma", joint.gamma))
        numbers |= {f"{word}{i}": float(angle) for word, angle in angles}
    if mp.convention != "gautier1990":
        for name, form in mp.closed_forms.short.items():
            numbers[name] = _value(form, numbers)
    return {_symbol(name): value for name, value in numbers.items()}


def _value(form: Form, numbers: dict[str, float]) -> float:
    """A form in numbers."""
    whole = 0.0
    for key, factor in form.terms.items():
        for name in key:
            angle = _ANGLE.fullmatch(name)
            known = numbers[name if angle is None else angle[2] + angle[3]]
            factor *= known if angle is None else float(getattr(np, angle[1])(known))
        whole += factor
    return whole


# ---- LaTeX


def latex(mp: MinimalParameters) -> str:
    """An align* environment: abbreviations first, then a line a parameter."""
    grouped = mp.convention == "gautier1990"
    short = {} if grouped else mp.closed_forms.short
    lines = [rf"{written(name)} &= {spell(form, LATEX)}" for name, form in short.items()]
    forms = _rows(mp) if grouped else _forms(mp)
    lines += [rf"{_hat(name)} &= {form}" for name, form in zip(mp.names, forms, strict=True)]
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}\n"


def _rows(mp: MinimalParameters) -> list[str]:
    """Each parameter in natural ones, with this arm's numbers."""
    return [spell_row(row.tolist(), mp.natural, LATEX) for row in mp.matrix]


def _forms(mp: MinimalParameters) -> list[str]:
    """Each parameter in natural ones and DH constants."""
    texts = [spell(form, LATEX) for form in mp.closed_forms.forms]
    texts += [written(f"Ia{i + 1}") for i in range(mp.arm.n)] * mp.armature
    rows = zip(mp.merging.tolist(), mp.kept, strict=True)
    return [merged_text(row, texts, k, hand=LATEX) for row, k in rows]


def _hat(name: str) -> str:
    """A minimal parameter: its names, joined where several were merged, each under a hat."""
    parts = re.split(r"([+-](?:[\d.]+\*)?)(?=[A-Za-z])", name)
    return "".join(
        part.replace("*", " ") if part[:1] in ("+", "-") else _hatted(part) for part in parts
    )


def _hatted(part: str) -> str:
    if part.startswith("kappa"):
        which, _, joint = part.removeprefix("kappa").partition("_")
        return rf"\kappa_{{{which},{joint}}}"
    match = re.fullmatch(r"([kU])(\d+)_(.+)", part)
    if match:
        return rf"\hat{{{match[1]}}}_{{{match[2]},{match[3]}}}"
    return rf"\hat{{{written(part.removesuffix('R'))}}}"
