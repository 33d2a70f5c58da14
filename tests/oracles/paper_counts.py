"""Operations of the papers' formulations on generic arms, counted once for all tests, and the pages that state them.

Counts are kept for the run, also between its workers: several tests ask for the same ones. A page of docs/papers holds
its measured tables between marks, `<!-- measured: name -->` and `<!-- end -->`; the test file that makes them, run as a
program, writes them there.
"""

from __future__ import annotations

import os
import pickle
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import dynarm
from dynarm.dynamics.papers.composite_bodies_linfang1999 import composites
from dynarm.dynamics.table import formulation
from dynarm.graph.graph import Count, Port
from dynarm.graph.trace import trace_function
from dynarm.machine.load.cache import digest
from dynarm.plan.choice import Counted, graph
from dynarm.robot.frames.chain import chain_of, pose, slid
from dynarm.robot.frames.generic import along_standard_frames, generic_arm

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
OPERATIONS = ("mul", "add")
DOWN = (0.0, 0.0, -9.81)
LAST = 12  # joints up to which polynomials are compared
COLUMNS = range(2, 9)  # numbers of joints that tables show one by one


def kept(function: Callable[..., T]) -> Callable[..., T]:
    """The function, computed once a run for the same numbers and names; without a run, once a process."""

    @cache
    @wraps(function)
    def found(*given: Any) -> T:
        if "DYNARM_TEST_RUN" not in os.environ:
            return function(*given)
        name = digest(function.__name__, given)
        path = Path(os.environ["DYNARM_TEST_RUN"], "counts", name)
        if path.exists():
            return pickle.loads(path.read_bytes())
        result = function(*given)
        path.parent.mkdir(exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps(result))
        part.replace(path)  # at once: another worker never sees half of it
        return result

    return found


@cache
def golden(paper: str) -> dict[str, Any]:
    """The printed numbers of a paper."""
    return tomllib.loads((ROOT / "tests/golden" / f"{paper}.toml").read_text(encoding="utf-8"))


def sizes(type: int = 1, first: int = 2) -> range:
    """Numbers of joints for which the papers' generic manipulators are counted."""
    return range(max(first, 4 if type == 2 else 2), LAST + 1)


def value(coefficients: Sequence[Any], n: int) -> Fraction:
    """A polynomial, highest power first, at n."""
    result = Fraction(0)
    for c in coefficients:
        result = result * n + Fraction(str(c))
    return result


def counted(
    n: int,
    quantity: str,
    name: str,
    type: int = 1,
    principal: bool = False,
    gravity: tuple[float, float, float] = DOWN,
) -> Counted:
    """What `dynarm.count` says of a generic arm: simplified, and as written."""
    return _counted(quantity, name, n, type, gravity, principal)


@kept
def _counted(quantity: str, name: str, *generic: Any) -> Counted:
    return dynarm.count(generic_arm(*generic), quantity, name)


def bare(n: int, quantity: str, name: str, type: int = 1) -> Count:
    """Operations without repetitions, before sums are factored: they grow by polynomials."""
    return _bare(quantity, name, n, type)


@kept
def _bare(quantity: str, name: str, *generic: Any) -> Count:
    chosen = {quantity: formulation(quantity, name)}
    return graph(generic_arm(*generic), quantity, chosen, simple=False).count()


def pair(c: Count) -> np.ndarray:
    """Multiplications and additions."""
    return np.array([c.mul, c.add])


@cache
def standard_principal(n: int) -> dynarm.Arm:
    """The generic arm of Type 1 with principal axes parallel to the standard frames, as turney1980 has them."""
    return along_standard_frames(generic_arm(n, principal=True))


@kept
def counted_principal(n: int, name: str) -> Counted:
    """Inverse dynamics of that arm."""
    return dynarm.count(standard_principal(n), "inverse_dynamics", name)


@kept
def tensor_counted(n: int, name: str) -> Count:
    """The Coriolis tensor of the generic arm of Type 1, simplified only: as written it is large."""
    chosen = {"coriolis_tensor": formulation("coriolis_tensor", name)}
    return graph(generic_arm(n), "coriolis_tensor", chosen).count()


@kept
def on_hand(n: int, type: int) -> Count:
    """Operations of the first moments and inertia tensors that Table VI of linfang1999 takes as given."""
    chain = chain_of(generic_arm(n, type))

    def used(q: Sequence[Any]) -> list[Any]:
        arm, steps, _ = slid(chain, pose(chain, q))
        found: list[Any] = []
        for i, (joint, body) in enumerate(zip(arm.joints, composites(arm, steps), strict=True)):
            if joint.revolute:
                found += list(body.J.third) if i else [body.J.zz]
            if i:
                found += [body.c.x, body.c.y]
        return found

    size = len(used([0.1] * n))
    return trace_function([Port("q", (n,))], [Port("c", (size,))], used).count()


@cache
def general(name: str) -> dynarm.Arm:
    """A built-in robot with ten general parameters a link."""
    arm = dynarm.load(name)
    rng = np.random.default_rng(1)
    ten = [
        [rng.uniform(1, 2), *rng.uniform(-0.3, 0.3, 3), *rng.uniform(0.1, 0.9, 6)]
        for _ in arm.joints
    ]
    return arm.with_parameters(ten)


# ---- polynomials as text


def polynomial(counts: Mapping[int, int], degree: int) -> tuple[list[Fraction], int] | None:
    """The polynomial through the counts and the n from which it holds, at least four before the last; or None."""
    known = sorted(counts)[-degree - 1 :]
    rows = [
        [Fraction(n) ** (degree - k) for k in range(degree + 1)] + [Fraction(counts[n])]
        for n in known
    ]
    for i, row in enumerate(rows):  # Gauss and Jordan, exactly
        rows[i] = row = [x / row[i] for x in row]
        for j, other in enumerate(rows):
            if j != i:
                rows[j] = [x - other[i] * y for x, y in zip(other, row, strict=True)]
    c = [row[-1] for row in rows]
    start = next(
        n for n in sorted(counts) if all(counts[m] == value(c, m) for m in counts if m >= n)
    )
    return (c, start) if start <= known[0] - 2 else None


def spelled(coefficients: Sequence[Any]) -> str:
    """A polynomial as text, 10n^2 - 5n - 13."""
    c = [Fraction(str(x)) for x in coefficients]
    top = len(c) - 1
    powers = [f"n^{top - k}" if top - k > 1 else "n" if top - k == 1 else "" for k in range(len(c))]
    terms = [_term(x, power) for x, power in zip(c, powers, strict=True) if x]
    return " ".join(terms).removeprefix("+ ") or "0"


def _term(x: Fraction, power: str) -> str:
    size = "" if abs(x) == 1 and power else f"{float(abs(x)):.6g}"
    return f"{'-' if x < 0 else '+'} {size}{power}"


def closed_form(counts: Mapping[int, int], degree: int) -> str:
    """The polynomial through the counts as text, and from which n on it holds."""
    found = polynomial(counts, degree)
    assert found is not None, "the counts follow no polynomial"
    text = spelled(found[0])
    return f"{text} (n >= {found[1]})" if found[1] > min(counts) else text


def both_forms(counts: Mapping[int, Count], degree: int) -> str:
    """Multiplications / additions as polynomials, from which n on; `irregular` where they follow none."""
    found = [
        polynomial({n: getattr(c, op) for n, c in counts.items()}, degree) for op in OPERATIONS
    ]
    if any(x is None for x in found):
        return "irregular"
    start = max(x[1] for x in found if x)
    text = " / ".join(spelled(x[0]) for x in found if x)
    return f"{text} (n >= {start})" if start > min(counts) else text


def printed(row: Mapping[str, Any], suffix: str = "_printed") -> str:
    """The polynomials of a golden row, multiplications / additions."""
    return " / ".join(spelled(row[op + suffix]) for op in OPERATIONS)


def forms(name: str, type: int, quantity: str, degree: int) -> list[str]:
    """As written, simplified, and simplified for n = 6, of a formulation on generic arms."""
    found = {n: counted(n, quantity, name, type) for n in sizes(type)}
    written = {n: c.as_written for n, c in found.items()}
    return [both_forms(written, degree), both_forms(found, degree), cell(found[6])]


def cell(c: Count) -> str:
    return f"{c.mul} / {c.add}"


def grid(rows: Iterable[Sequence[str]]) -> str:
    """A table, its first row the head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * (lines[0].count(" | ") + 1), *lines[1:]])


# ---- pages


@dataclass(frozen=True)
class Page:
    """A page of docs/papers with measured tables."""

    paper: str
    blocks: Mapping[str, Callable[[], str]]

    @property
    def path(self) -> Path:
        return ROOT / "docs/papers" / f"{self.paper}.md"

    def stated(self, name: str) -> list[str]:
        """The tables of that name on the page."""
        return _between(name).findall(self.path.read_text(encoding="utf-8"))

    def write(self) -> None:
        """Put the measured tables into the page."""
        text = self.path.read_text(encoding="utf-8")
        for name, make in self.blocks.items():
            text = _between(name).sub(lambda _, make=make: make(), text)
        self.path.write_text(text, encoding="utf-8")


def _between(name: str) -> re.Pattern[str]:
    mark = re.escape(f"<!-- measured: {name} -->")
    return re.compile(rf"(?<={mark}\n\n)(?:(?!<!--).)*?(?=\n\n<!-- end -->)", re.S)
