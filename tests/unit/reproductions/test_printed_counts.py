"""The papers' printed counts that come with the package are those of the golden files."""

from __future__ import annotations

import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from dynarm.plan.choice import count
from dynarm.reproductions.published import counted_on, printed, published, quoted
from dynarm.robot.frames.chain import chain_of
from dynarm.robot.frames.generic import generic_arm
from dynarm.robot.frames.standard import links

GOLDEN = Path(__file__).parents[2] / "golden"


def golden() -> dict[tuple, tuple]:
    """Every polynomial of the golden files, as printed."""
    found = {}
    for path in sorted(GOLDEN.glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("polynomial", []):
            key = (
                path.stem,
                row["table"],
                row["quantity"],
                row["formulation"],
                row["type"],
                row["from_n"],
            )
            polynomials = tuple(
                tuple(Fraction(c) for c in row[word]) if word in row else None
                for word in ("mul_printed", "add_printed", "mul_corrected", "add_corrected")
            )
            more = (
                row["page"],
                row["line"],
                row.get("why", ""),
                row["principal"],
                row.get("quoted", False),
                row.get("increment_over"),
            )
            assert key not in found
            found[key] = (*polynomials, *more)
    return found


def test_the_package_holds_every_golden_polynomial_and_no_other():
    own = {
        (r.paper, r.table, r.quantity, r.formulation, r.type, r.from_n): (
            r.mul,
            r.add,
            r.mul_corrected,
            r.add_corrected,
            r.page,
            r.line,
            r.why,
            r.principal,
            r.quoted,
            r.increment_over,
        )
        for r in printed()
    }
    assert own == golden()


PAGE = [  # as on the page, and corrected
    ("inverse_dynamics", "newton_euler", False, (636, 591), (648, 573)),
    ("inverse_dynamics", "modified_newton_euler", True, (513, 504), (525, 468)),
    ("inverse_dynamics", "lagrange", False, (5916, 4840), (5895, 5512)),
    ("inverse_dynamics", "minimal_newton_euler", False, (452, 391), None),
    ("mass_matrix", "minimal_composite_1", False, (407, 301), (405, 301)),
    ("mass_matrix", "composite_1", False, (262, 160), (260, 160)),
    ("mass_matrix", "composite_4", False, (345, 232), (349, 232)),
    ("mass_matrix", "renaud", False, (553, 416), None),
    ("mass_matrix", "base_composite", False, (524, 380), None),
    ("mass_matrix_and_bias", "base_composite", False, (1010, 710), None),
]


@pytest.mark.parametrize(("quantity", "name", "principal", "page", "corrected"), PAGE)
def test_six_joints_as_on_the_page(quantity, name, principal, page, corrected):
    row = published(quantity, name, 1, 6, principal)
    assert (row.at(6), row.corrected_at(6)) == (page, corrected)
    assert bool(row.why) == (corrected is not None)


def test_values_at_a_number_of_joints():
    assert published("inverse_dynamics", "modified_newton_euler", 1, 6) is None  # principal only
    assert published("mass_matrix", "composite_1", 2, 3) is None  # Type 2 begins with four joints
    assert [r.formulation for r in quoted("mass_matrix", 1, 6)] == ["kawasaki_1", "kawasaki_2"]
    named = {r.formulation: r.at(6) for r in quoted("inverse_dynamics", 1, 6)}
    assert named["gautier_khalil"] == (92 * 6 - 127, 81 * 6 - 117)


TEXTS = Path(__file__).parents[3].parent / "shared" / "papers"


def digits(text: str) -> list[str]:
    return re.findall(r"[0-9]+(?:[.][0-9]+)?", text)


@pytest.mark.skipif(not TEXTS.exists(), reason="the papers' texts are not here")
@pytest.mark.parametrize("row", printed(), ids=lambda r: f"{r.paper}-{r.table}-{r.formulation}")
def test_the_line_of_the_text_has_every_printed_coefficient(row):
    lines = (TEXTS / f"{row.paper}.txt").read_text(encoding="utf-8").splitlines()
    together = " ".join(lines[row.line - 1 : row.line + 1])
    known = set(digits(together)) | {
        str(Fraction(a) / int(b)) for a, b in FRACTION.findall(together)
    }
    known |= {str(Fraction(x)) for x in digits(together)}
    if "/6" in together:  # (7n^3 + 99n^2 - 214n)/6
        known |= {str(Fraction(x) / 6) for x in digits(together)}
    for c in (*row.mul, *row.add):
        assert c in (0, 1) or str(abs(c)) in known, (c, together)


FRACTION = re.compile(r"frac[{]([0-9]+)[}][{]([0-9]+)[}]")


def test_papers_are_counted_on_their_own_arms():
    plain, standard = generic_arm(4, principal=True), counted_on("turney1980", 4, 1, True)
    assert (
        plain != standard and count(standard, "inverse_dynamics", "modified_newton_euler").mul < 270
    )
    assert counted_on("linfang1999", 4, 2, True) == generic_arm(4, 2, principal=True)
    assert 0 not in counted_on("lin1991", 4, 1, False).gravity
    turned = links(chain_of(standard))
    assert max(abs(x) for link in turned for x in (link.I.xy, link.I.xz, link.I.yz)) < 1e-12
