"""Linear combinations of inertia parameters, spelled out: in numbers, or in the robot's DH constants.

A `Form` is a scalar that remembers what it is made of: a sum of products of named constants. The papers' formulas run
on it as they run on numbers, and what comes out can be printed (`spelling`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..algebra.vectors import Scalar, Sym3, Turn, Vec3, Z
from ..dynamics.own.minimal_tree import TreePath, TreeStructure, joined, tree_combinations
from ..dynamics.papers.minimal_parameters_lin1995 import Constants
from ..robot.arm import PARAMETER_NAMES
from ..robot.frames.chain import Chain, Limb, Step, pose

LONG = 24  # terms of an entry beyond which it is abbreviated by its name
# the same for a tensor that goes inwards as a whole and turned, behind a translational joint
LONG_TURNED = 6
_TINY = 1e-12


class Form:
    """A sum of products of names, each with a numerical factor."""

    __array_ufunc__ = None
    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[tuple[str, ...], float]):
        self.terms = {k: v for k, v in terms.items() if abs(v) > _TINY}

    @classmethod
    def named(cls, name: str) -> Form:
        return cls({(name,): 1.0})

    def __add__(self, o: Scalar) -> Form:
        terms = dict(self.terms)
        for key, value in terms_of(o).items():
            terms[key] = terms.get(key, 0.0) + value
        return Form(terms)

    __radd__ = __add__

    def __neg__(self) -> Form:
        return Form({k: -v for k, v in self.terms.items()})

    def __sub__(self, o: Scalar) -> Form:
        return self.__add__(-o)

    def __rsub__(self, o: Scalar) -> Form:
        return self.__neg__().__add__(o)

    def __mul__(self, o: Scalar) -> Form:
        terms: dict[tuple[str, ...], float] = {}
        for a, x in self.terms.items():
            for b, y in terms_of(o).items():
                key = tuple(sorted(a + b))
                terms[key] = terms.get(key, 0.0) + x * y
        return Form(terms)

    __rmul__ = __mul__


def terms_of(x: Scalar) -> Mapping[tuple[str, ...], float]:
    """The terms of a form, and of a number."""
    return x.terms if isinstance(x, Form) else {(): float(x)}


def _constant(value: Scalar, name: str) -> Scalar:
    """The plain number where it is 0 or +-1, else its name."""
    return value if value in (0, 1, -1) else Form.named(name)


@dataclass(frozen=True, slots=True, eq=False)
class ClosedForms:
    """The combinations of Theorem 2 as forms, and what the names in them stand for that are no natural parameters."""

    forms: tuple[Form, ...]  # in the order of the tree's layout
    short: dict[str, Form]  # abbreviations that are used, outermost joints first


def closed_forms(chain: Chain, tree: TreeStructure, third: bool) -> ClosedForms:
    """Every combination of Theorem 2 in natural parameters and DH constants, sines and cosines reduced."""
    steps = _named_steps(chain)
    turned: dict[str, Form] = {}
    paths = [
        replace(path, structure=replace(path.structure, axes=_named_axes(path, steps, turned)))
        for path in tree.paths
    ]
    base, bodies, short = symbolic(chain, third, steps)
    short = {**turned, **short}
    made = tree_combinations(replace(tree, paths=tuple(paths)), base, bodies)
    forms = tuple(reduced(x if isinstance(x, Form) else Form({(): float(x)})) for x in made)
    used: set[str] = set()
    waiting = [name for form in forms for key in form.terms for name in key]
    while waiting:
        name = waiting.pop()
        if name in short and name not in used:
            used.add(name)
            waiting += [other for key in short[name].terms for other in key]
    return ClosedForms(forms, {name: reduced(x) for name, x in short.items() if name in used})


def _named_axes(path: TreePath, steps: Sequence[Step], short: dict[str, Form]) -> tuple[Vec3, ...]:
    """u_r in the frames before s, in DH constants; exactly +-z where joints were taken for parallel.

    Entries of more than one term are abbreviated: u4_x is that of the axis in frame 4.
    """
    structure = path.structure
    axes: list[Vec3] = []
    u = Z
    for place, known in enumerate(structure.axes, start=structure.r):
        if place > structure.r:
            u = steps[path.joints[place]].rise(u)
        if known.x == 0 and known.y == 0:
            u = known
        else:
            i = path.joints[place] + 1
            u = Vec3(*(_brief(x, f"u{i}_{e}", short, 1) for x, e in zip(u, "xyz", strict=True)))
        axes.append(u)
    return tuple(axes)


def reduced(form: Form) -> Form:
    """The form with sin^2 + cos^2 = 1 used where it makes it shorter."""
    angles = sorted({name[4:-1] for key in form.terms for name in key if name[:4] == "sin("})
    for angle in angles:
        sine, cosine = f"sin({angle})", f"cos({angle})"
        ways = (form, _without_square(form, sine, cosine), _without_square(form, cosine, sine))
        form = min(ways, key=lambda way: (len(way.terms), sum(map(len, way.terms))))
    return form


def _without_square(form: Form, one: str, other: str) -> Form:
    """one^2 replaced by 1 - other^2."""
    terms: dict[tuple[str, ...], float] = {}
    for key, value in form.terms.items():
        parts = {key: value}
        while any(k.count(one) > 1 for k in parts):
            k = next(k for k in parts if k.count(one) > 1)
            factor = parts.pop(k)
            rest = list(k)
            rest.remove(one)
            rest.remove(one)
            for more, sign in (((), 1.0), ((other, other), -1.0)):
                new = tuple(sorted([*rest, *more]))
                parts[new] = parts.get(new, 0.0) + sign * factor
        for k, factor in parts.items():
            terms[k] = terms.get(k, 0.0) + factor
    return Form(terms)


def _named_steps(chain: Chain) -> list[Step]:
    still = pose(chain, [0] * chain.n)
    return [
        _named_step(b, s, i) for i, (b, s) in enumerate(zip(chain.joints, still, strict=True), 1)
    ]


def symbolic(
    chain: Chain, third: bool, steps: Sequence[Step]
) -> tuple[Constants, list[Constants], dict[str, Form]]:
    """The inertia constants of a free base with all on it and of all composite bodies, in natural parameters (m1, mcx1,
    ...) and DH constants (a2, d2, cos(alpha2), ...), and the abbreviations used: entries that have grown too long to be
    spelled out further inwards.
    """
    bodies = [_named_body(i) for i in range(1, chain.n + 1)]
    base = _named_body(0)
    short: dict[str, Form] = {}
    for i in range(chain.n - 1, -1, -1):
        joint, parent = chain.joints[i], chain.parent_of(i)
        if parent < 0 and chain.root is None:
            continue
        limit = LONG if joint.revolute else LONG_TURNED
        of = _abbreviated(bodies[i], i + 1, short, limit)
        if parent >= 0:
            bodies[parent] = joined(bodies[parent], joint, of, steps[i], third)
        else:
            base = joined(base, joint, of, steps[i], third)
    return base, bodies, short


def _brief(x: Scalar, name: str, short: dict[str, Form], limit: int) -> Scalar:
    """The entry, or its name where it has more terms than that; what the name stands for is noted."""
    if not isinstance(x, Form) or len(x.terms) <= limit:
        return x
    short[name] = x
    return Form.named(name)


def _abbreviated(of: Constants, i: int, short: dict[str, Form], limit: int) -> Constants:
    entries = (f"U{i}_{e}" for e in ("11", "12", "22", "13", "23", "33"))
    return Constants(
        of.m,
        Vec3(*(_brief(x, f"k{i}_{e}", short, limit) for x, e in zip(of.k, "xyz", strict=True))),
        Sym3(*(_brief(x, name, short, limit) for x, name in zip(of.U, entries, strict=True))),
    )


def _named_body(i: int) -> Constants:
    m, x, y, z, *J = (Form.named(f"{p}{i}") for p in PARAMETER_NAMES)
    return Constants(m, Vec3(x, y, z), Sym3(*J))


def _named_step(body: Limb, step: Step, i: int) -> Step:
    names = {"x": "alpha", "y": "beta", "z": "theta"}
    words = [names[turn.axis] for turn in step.turns]
    if words[0] == "theta":  # a turn about z that comes first is a branch's
        words[0] = "gamma"
    turns = tuple(
        Turn(t.axis, _constant(t.c, f"cos({word}{i})"), _constant(t.s, f"sin({word}{i})"))
        for t, word in zip(step.turns, words, strict=True)
    )
    a, d = _constant(step.a, f"a{i}"), _constant(body.d, f"d{i}")
    along, across = Vec3(0, 0, d), Vec3(a, 0, _constant(body.b, f"b{i}"))
    for turn in reversed(turns[:-1]):
        along = turn.fall(along)
    if words[0] == "gamma":
        across = turns[0].fall(across)
    return Step(turns, a, d, across + along, branch=None if step.branch is None else across)
