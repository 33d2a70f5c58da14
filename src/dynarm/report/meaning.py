"""What the names of unknowns mean, in words a user knows: for hovering, for glossaries, for what logs determine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

KINDS: tuple[tuple[str, str, str], ...] = (  # pattern of a name, kind in a list, words about one
    (
        r"(?:U(\d+)_33|Izz(\d+)R?)(?:\+Ia\d+)*",
        "inertia about the own joint",
        "inertia of link {i} and of what it carries about the axis of joint {i}",
    ),
    (
        r"U(\d+)_11-22|Ixx(\d+)R",
        "difference of inertias across the joint",
        "inertia of link {i} and of what it carries about its x axis less that about its y axis",
    ),
    (
        r"U(\d+)_(?:11|22)|I(?:xx|yy)(\d+)R?",
        "inertia across the joint",
        "inertia of link {i} and of what it carries across the axis of joint {i}",
    ),
    (
        r"U(\d+)_(?:12|13|23)|I(?:xy|xz|yz)(\d+)R?",
        "products of inertia",
        "product of inertia of link {i} and of what it carries: how lopsided it turns",
    ),
    (
        r"k(\d+)_[xyz]|mc[xyz](\d+)R?",
        "mass moments",
        "mass times distance of the centre of mass, along an axis of link {i}, with what it carries",
    ),
    (
        r"kappa[12]_(\d+)",
        "mass moments of translating links",
        "mass times distance of the centre of mass of link {i}, with what it carries, along a direction that is felt",
    ),
    (r"m(\d+)R?(?:\+Ia\d+)*", "masses", "mass of link {i} and of what moves with it"),
    (r"Ia(\d+)", "motor inertias", "inertia of the motor of joint {i}, seen at the joint"),
    (
        r"viscous(\d+)",
        "viscous friction",
        "friction of joint {i} that grows with its speed, per unit of speed",
    ),
    (
        r"(?:viscous|coulomb)_negative(\d+)",
        "friction backwards",
        "friction of joint {i} where it moves backwards",
    ),
    (
        r"curve(\d+)\.\d+",
        "friction curves",
        "part of the curve of the friction of joint {i} over its speed",
    ),
    (
        r"presliding(\d+)\.\d+",
        "friction with memory",
        "friction of joint {i} that gives before it slips: it depends on where the joint came from",
    ),
    (
        r"load_(?:curve|presliding)(\d+)\.\d+",
        "friction under load",
        "friction of joint {i} that grows with the load on it",
    ),
    (
        r"ripple(\d+)\.\d+_(?:sine|cosine)",
        "torque ripple",
        "torque that repeats with every turn of the motor or gears of joint {i}",
    ),
    (
        r"coupling(\d+)\.\d+_\w+",
        "coupling of joints",
        "what joint {i} feels of another joint's motion, by gears that both share",
    ),
    (r"coulomb(\d+)", "dry friction", "friction of joint {i} that does not depend on its speed"),
    (r"offset(\d+)", "torque offsets", "constant torque of joint {i}: an offset of its sensor"),
)
DECLARED: tuple[
    tuple[str, str], ...
] = (  # names with those of joints, as a log's channels declare them
    (r"Ia\((.+),(.+)\)", "inertia of the motors that {0} and {1} share"),
    (r"fv\((.+),(.+)\)", "friction that {0} and {1} share and that grows with speed"),
    (r"fc\((.+),(.+)\)", "dry friction that {0} and {1} share"),
    (r"spring\((.+)\)", "force of the spring on {0} per distance from where it rests"),
)
GRADES: Mapping[str, str] = {
    "determined": "Well determined",
    "hardly": "Hardly determined",
    "not": "Not determined, say nothing about",
    "small": "Known well enough, and not told from zero",
    "fixed": "Taken as zero",
    "damped": "Kept near the model's own values",
}


def kind_of(name: str) -> tuple[str, int] | None:
    """The kind of an unknown and the number of its link or joint; None for names of the user's own."""
    for pattern, kind, _ in KINDS:
        match = re.fullmatch(pattern, name)
        if match:
            return kind, int(next(g for g in match.groups() if g))
    return None


def meaning(name: str, joints: Sequence[str] = ()) -> str:
    """An unknown in words; with the name of its joint, where names are given. Empty for what is not known here."""
    for pattern, _, words in KINDS:
        match = re.fullmatch(pattern, name)
        if match:
            i = int(next(g for g in match.groups() if g))
            more = f" ({joints[i - 1]})" if 0 < i <= len(joints) else ""
            motor = "; the motor's inertia is part of it" if "+Ia" in name else ""
            return words.format(i=i) + more + motor
    for pattern, words in DECLARED:
        match = re.fullmatch(pattern, name)
        if match:
            return words.format(*match.groups())
    return ""


def glossary(names: Sequence[str]) -> list[tuple[str, str]]:
    """(an example of the names, its meaning) of each kind among the names, in their order."""
    rows: dict[str, tuple[str, str]] = {}
    for name in names:
        kind = kind_of(name)
        if kind is not None:
            rows.setdefault(kind[0], (name, meaning(name)))
    return list(rows.values())


def determined(names: Sequence[str], grades: Sequence[str]) -> list[str]:
    """What the logs determine, a line a grade: kinds of unknowns with the links or joints they belong to."""
    lines = []
    for grade, words in GRADES.items():
        chosen = [name for name, own in zip(names, grades, strict=True) if own == grade]
        if not chosen:
            continue
        groups: dict[str, list[int]] = {}
        others = []
        for name in chosen:
            kind = kind_of(name)
            if kind is None:
                others.append(name)
            else:
                groups.setdefault(kind[0], []).append(kind[1])
        told = [f"{kind} ({_ranges(sorted(set(numbers)))})" for kind, numbers in groups.items()]
        lines.append(f"{words} ({len(chosen)} of {len(names)}): {', '.join([*told, *others])}.")
    return lines


def _ranges(numbers: Sequence[int]) -> str:
    """1, 2, 3, 5 as "joints 1 to 3, 5"."""
    parts: list[list[int]] = []
    for n in numbers:
        if parts and n == parts[-1][-1] + 1:
            parts[-1].append(n)
        else:
            parts.append([n])
    told = [f"{p[0]} to {p[-1]}" if len(p) > 2 else ", ".join(map(str, p)) for p in parts]
    return f"joint{'s' if len(numbers) > 1 else ''} {', '.join(told)}"
