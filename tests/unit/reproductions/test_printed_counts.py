"""The papers' printed counts that come with the package are those of the golden files."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

from dynarm.reproductions.published import printed, published, quoted

GOLDEN = Path(__file__).parents[2] / "golden"


def golden() -> dict[tuple, tuple]:
    """Every polynomial of the golden files: corrected where its rows sum otherwise, as printed where only quoted."""
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
                tuple(Fraction(c) for c in row.get(word, row[f"{word}_printed"]))
                for word in ("mul", "add")
            )
            more = (
                row["page"],
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
            r.page,
            r.principal,
            r.quoted,
            r.increment_over,
        )
        for r in printed()
    }
    assert own == golden()


def test_values_at_a_number_of_joints():
    # with Table VII, as Table VIII counts
    assert published("mass_matrix", "composite_1", 1, 6) == (405, 301)
    # lin1991, Table I, its printed digits
    assert published("mass_matrix", "renaud", 1, 7) == (751, 559)
    assert published("inverse_dynamics", "minimal_newton_euler", 1, 6) == (89 * 6 - 82, 77 * 6 - 71)
    # printed for principal axes only
    assert published("inverse_dynamics", "modified_newton_euler", 1, 6) is None
    assert published("inverse_dynamics", "modified_newton_euler", 1, 6, principal=True) == (
        513,
        468,
    )
    assert published("mass_matrix", "composite_1", 2, 3) is None  # Type 2 begins with four joints
    assert published("mass_matrix_and_bias", "base_composite", 1, 6) == (
        23 * 36 + 44 * 6 - 82,
        15 * 36 + 40 * 6 - 70,
    )
    assert [r.formulation for r in quoted("mass_matrix", 1, 6)] == ["kawasaki_1", "kawasaki_2"]
