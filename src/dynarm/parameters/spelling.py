"""Forms and rows of numbers written out, as text or as LaTeX: parameters that share a factor stand together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..algebra.vectors import Scalar
from ..robot.arm import PARAMETER_NAMES
from .closed_forms import terms_of

Factor = tuple[tuple[str, ...], float]  # names of constants and the size of a number


@dataclass(frozen=True, slots=True)
class Hand:
    """How names, numbers, powers and products are written."""

    name: Callable[[str], str]
    number: Callable[[float], str]
    power: Callable[[str, int], str]  # of a name
    times: str  # between a number and what stands in brackets or is one name


def _enclosed(name: str) -> str:
    """The name, in brackets where it is a sum itself, such as m1+Ia1 (U2_11-22 is none)."""
    return f"({name})" if set("+-") & set(name.replace("_11-22", "")) else name


TEXT = Hand(_enclosed, "{:.6g}".format, "{}^{}".format, "*")


# ---- LaTeX

_GREEK = {"alpha": r"\alpha", "beta": r"\beta", "gamma": r"\gamma", "theta": r"\theta"}
_ANGLE = re.compile(r"(cos|sin)\((\w+)\)")


def written(name: str) -> str:
    """A symbol's name, or the cosine or sine of one, in LaTeX."""
    angle = _ANGLE.fullmatch(name)
    if angle is not None:
        return rf"\{angle[1]}({written(angle[2])})"
    match = re.fullmatch(r"([A-Za-z]+)_?(\d+)(?:_(\w+))?", name)
    if match is None:
        return name
    stem, number, entry = match.groups()
    if entry:
        return rf"{stem}_{{{number},{entry}}}"
    if stem in _GREEK:
        return rf"{_GREEK[stem]}_{{{number}}}"
    if stem.startswith("mc"):
        return rf"mc_{{{stem[2:]},{number}}}"
    if stem.startswith("I"):
        return rf"I_{{{stem[1:]},{number}}}"
    return rf"{stem}_{{{number}}}"


def _raised(name: str, power: int) -> str:
    angle = _ANGLE.fullmatch(name)
    if angle is not None:
        return rf"\{angle[1]}^{{{power}}}({written(angle[2])})"
    return rf"{written(name)}^{{{power}}}"


def _decimal(x: float) -> str:
    """Six digits, with the power of ten written out."""
    digits, _, power = f"{x:.6g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


LATEX = Hand(written, _decimal, _raised, " ")


# ---- sums


def spell(x: Scalar, hand: Hand = TEXT) -> str:
    """A form: parameters that share a factor stand together, `a3^2 (m3 + m4)`."""
    groups: dict[Factor, list[tuple[str, float]]] = {}
    for key, value in terms_of(x).items():
        factors = tuple(k for k in key if not _is_parameter(k))
        parameters = hand.times.join(hand.name(k) for k in key if _is_parameter(k))
        groups.setdefault((factors, _digits(value)), []).append((parameters, value))
    return _spelled(groups, hand)


def spell_row(row: Sequence[float], names: Sequence[str], hand: Hand = TEXT) -> str:
    """A row of numbers over names: names that share a factor stand together, `Izz1 + 0.36 (m2 + m3)`."""
    groups: dict[Factor, list[tuple[str, float]]] = {}
    for name, value in zip(names, row, strict=True):
        if value:
            groups.setdefault(((), _digits(value)), []).append((hand.name(name), value))
    return _spelled(groups, hand)


def merged_text(
    row: Sequence[float], texts: Sequence[str], own: int, gap: str = " ", hand: Hand = TEXT
) -> str:
    """texts[own] plus what the row adds of others."""
    text = texts[own]
    for k, factor in enumerate(map(float, row)):
        if k == own or factor == 0:
            continue
        other = f"({texts[k]})" if " " in texts[k] else texts[k]
        part = other if abs(factor) == 1 else f"{hand.number(abs(factor))}{hand.times}{other}"
        text += f"{gap}{'-' if factor < 0 else '+'}{gap}{part}"
    return text


def _digits(value: float) -> float:
    """The size of a factor, to the digits in which it is compared with others."""
    return float(f"{abs(value):.9g}")


def _is_parameter(name: str) -> bool:
    stem = name.rstrip("0123456789")
    return stem in PARAMETER_NAMES or stem == "Ia" or ("_" in name and name[0] != "u")


def _spelled(groups: Mapping[Factor, list[tuple[str, float]]], hand: Hand) -> str:
    parts: list[tuple[bool, str]] = []
    for (factors, size), members in groups.items():
        if factors or size != 1 or not members[0][0]:
            parts.append(_group(factors, size, members, hand))
        else:
            parts += [(value < 0, name) for name, value in members]
    return _sum(parts)


def _group(
    factors: tuple[str, ...], size: float, members: list[tuple[str, float]], hand: Hand
) -> tuple[bool, str]:
    """Whether the group, which has a factor, is subtracted, and its text."""
    powers = [
        hand.power(f, n) if (n := factors.count(f)) > 1 else hand.name(f)
        for f in dict.fromkeys(factors)
    ]
    alone = not powers and not members[0][0]  # a number and nothing else
    front = " ".join(([hand.number(size)] if size != 1 or alone else []) + powers)
    negative = all(v < 0 for _, v in members)
    if not members[0][0]:  # of geometry alone
        return negative, front
    inner = _sum([((v < 0) != negative, name) for name, v in members])
    return negative, f"{front} ({inner})" if len(members) > 1 else f"{front} {inner}"


def _sum(parts: Sequence[tuple[bool, str]]) -> str:
    text = ""
    for negative, part in parts:
        sign = "-" if negative else "+"
        text += f" {sign} {part}" if text else ("-" if negative else "") + part
    return text or "0"
