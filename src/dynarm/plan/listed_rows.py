"""A paper's rows, what its equations need for them, and what this library needs: side by side.

Papers list by term, the library's files by equation; `GROUPS` says which belong together. R and s that the papers have
on hand, and composite bodies where they do, stand in rows of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..robot.arm import Arm
from ..robot.frames.chain import chain_of
from .equations import POSE, EquationShare, by_equation
from .printed import LISTINGS, as_printed, unspoken

Group = tuple[str, tuple[str, ...], tuple[str, ...]]  # row, the paper's lines, our notes

ON_HAND: Group = (
    "c^, J^ (on hand)",
    (),
    ("(24)", "(34), (35)", "(22), (23)", "(22)", "(23)", "X", "lz", "dp", "slide"),
)
FROM_MINIMAL: Group = (
    "c^, J^",
    (
        *("l_i", "l_i, K_i+1", "X", "X, K_i+1", "Y", "V_i", "c^_i"),
        *("third column of J^_i", "Y_33", "(V_1)_33", "(J^_1)_33"),
    ),
    ("(24)", "(34), (35)", "(22)", "(23)", "(39)", "(38)", "(55)", "moved"),
)
MOTION = ("w_i, alpha_i", ("w_i", "alpha_i"), ("w, alpha", "(3.15)", "(3.16)"))
HANDED = ("f_i", "r_i x R f_{i+1}", "R n_{i+1}", "add n")
FIGURE_3: tuple[Group, ...] = (
    ("s_i", ("s_2", "s_i"), ("(25)",)),
    ("p_i", ("p_i",), ("(26)",)),
    (
        "u_j, s^_j in frame i",
        ("u_j in frame i", "s^_j in frame j+1", "s^_j in frame i"),
        ("(24), (27)",),
    ),
    ("p^_i", ("p^_n", "p^_i", "p^_1"), ("(29)",)),
    ("J_i", ("J_n", "J_i"), ("(30)",)),
    ("e_j", ("e_j",), ("(63)",)),
    ("a_j, B_j", ("a_j", "A", "B_j"), ("(62)", "(64)")),
    (
        "H",
        ("J^_2", "(J^_1)_33", "H_jj", "H_1j", "H_mj, m > 1", "H_mj, K*_m K_j", "H_mj, K_m K*_j"),
        ("(65)", "polar"),
    ),
    ("d_mj", ("d_1j", "d_mj, m > 1", "d_mj, K_m K*_j"), ("(66)",)),
    ("g, eta", ("g in frame i", "eta_m"), ("g, size", "(67)")),
    (
        "zeta",
        (
            *("qd_1^2", "zeta_2", "zeta_j", "zeta_1 qd_1 in frame m"),
            *("zeta_j qd_j", "zeta_j qd_j in frame m"),
        ),
        ("turning", "(55)", "(56)", "(57)"),
    ),
    ("b", ("b_m, j < m", "b_m, j > m"), ("(54)",)),
)
CARRIED = ("f_i-1,i", "t_i-1,i", "t_i-1,i, K_i", "t_1i", "f_ji", "t_ji")
ENTRIES = ("D_ji", "D_ji, K*_j K_i", "D_ji, K_j K*_i")
INWARD: Group = (
    "f, t",
    CARRIED,
    ("(9)", "(10)", "(10), (18)", "triple", "first axis", "seen from s", "(30)", "b, lever"),
)
GROUPS: dict[tuple[str, str], tuple[Group, ...]] = {
    ("inverse_dynamics", "newton_euler"): (
        MOTION,
        ("A_i", ("A_i",), ("A",)),
        ("a_i", ("a_i",), ("(3.17)",)),
        ("abar_i", ("abar_i",), ("(3.18)",)),
        ("I alpha, w x I w", ("I_i alpha_i", "w_i x (I_i w_i)"), ("(3.10)",)),
        ("m (r + rbar) x abar", ("m (r_i + rbar_i) x abar_i",), ("(3.20)",)),
        ("f_i, n_i", HANDED, ("(3.9)", "(3.19), (3.20)")),
    ),
    ("inverse_dynamics", "modified_newton_euler"): (
        MOTION,
        ("A_i", ("A_i",), ("acceleration matrix",)),
        ("a_i, m abar_i", ("a_i", "m_i abar_i"), ("(5.1)",)),
        (
            "Tr, m (r + rbar) x abar",
            ("Tr{A_i K_i sigma'}", "m (r_i + rbar_i) x abar_i"),
            ("(5.2)",),
        ),
        ("f_i, n_i", HANDED, ("(5.1), (5.2)",)),
    ),
    ("inverse_dynamics", "minimal_newton_euler"): (
        (
            "w_i, wd_i, Omega_i",
            ("w_1", "Omega_1", "w_i", "wd_i", "Omega_i"),
            ("w, wd", "(57)", "(58)", "W2", "(80), (81)", "u"),
        ),
        ("a_i", ("a_1", "a_i"), ("(70)", "(70), (71)")),
        (
            "mu-_i, zeta-_i",
            ("Psi", "mu-_i", "zeta-_i", "zeta-_1"),
            ("(72), (73)", "(73)", "lever", "(85)"),
        ),
        (
            "mu_i, zeta_i",
            ("mu_i", "zeta_i", "mu_1", "zeta_1"),
            (
                *("inner", "zeta", "(66)", "(75)", "(73), (74)"),
                *("u, lever", "arm_of_force", "(88), (90)"),
            ),
        ),
    ),
    ("mass_matrix", "base_composite"): FIGURE_3,
    ("mass_matrix_and_bias", "base_composite"): FIGURE_3,
    ("mass_matrix", "renaud"): (
        (
            "u_j, s^_j in frame i",
            ("s^_j in frame j+1", "s^_j in frame i", "u_j in frame i"),
            ("(A9)",),
        ),
        (
            "c^_i, J^_i",
            ("c^_i", "J^_i", "(J^_1)_33", "c^_i, K_i+1"),
            ("(A7), (A8)", "(A8)", "lowered, both", "lowered", "both"),
        ),
        ("H_mj", ("H_mj", "H_mj, K_m K*_j", "H_mj, K*_m K_j"), ("(A1)",)),
    ),
    ("mass_matrix", "fijany_bejczy"): (
        (
            "c^_i, J^_i",
            ("c^_i", "J^_i", "(J^_1)_33", "c^_i, K_i+1"),
            ("(A7), (A8)", "(A8)", "lowered, both", "lowered", "both"),
        ),
        (
            "R, u, s in frame 2",
            ("s_j in frame 2", "R from j to 2"),
            ("turns, u, s", "x, y", "R_j", "common frame", "lever"),
        ),
        ("f_j, t_j in frame 2", ("f_j, t_j in frame 2",), ("(A14)",)),
        ("t_kj, H_kj", ("t_kj", "H_kj"), ("(A15)", "(A13)", "couple")),
    ),
    ("mass_matrix", "walker_orin"): (
        ("m_i, r_i, I_i", ("m_i, r_i, I_i",), ("lumps", "p, share", "tensor", "joined")),
        ("f_ii, t_ii", ("f_ii, t_ii",), ("(A7), (A8)", "(A1), (A2)")),
        ("f_ji, t_ji", ("f_ji", "t_ji"), ("f", "(A9)")),
    ),
    ("mass_matrix", "composite_1"): (ON_HAND, INWARD),
    ("mass_matrix", "composite_2"): (
        ON_HAND,
        ("u_j, s in frame k", ("u_j in frame k", "s from j to k"), ("formulation 2",)),
        ("D_ji", ENTRIES, ("(20)", "(10), (18)", "(9)")),
    ),
    ("mass_matrix", "composite_3"): (
        ON_HAND,
        (
            "u_j, s^ in frame k",
            ("u_j in frame k", "s^ from j to j+1", "s^ from j to k"),
            ("outer", "(18)"),
        ),
        ("D_ji", ENTRIES, ("(21)", "(10), (18)", "(9)")),
    ),
    ("mass_matrix", "composite_4"): (
        ON_HAND,
        (
            "R, u, s in frame n",
            ("R from i to n", "u_i in frame n", "s from i to i+1", "s from n-1 to n"),
            ("x, y", "to last", "s", "first axis", "u, hat"),
        ),
        (
            "f, t, D_ji",
            ("f_ii in frame n", "t_ii in frame n", "t_ji", "D_ji"),
            ("f, t", "(10)", "(11)", "(10), (18)", "triple"),
        ),
    ),
    ("mass_matrix", "composite_5"): (
        ON_HAND,
        ("f, t", CARRIED, ("(B7)", "(B8)", "(B9), (B11)", "(9)", "(10), (18)", "first axis")),
    ),
    ("mass_matrix", "minimal_composite_1"): (FROM_MINIMAL, INWARD),
    ("mass_matrix", "minimal_composite_2"): (
        FROM_MINIMAL,
        ("u_j, s in frame k", ("u_j in frame k", "s from j to k"), ("seen",)),
        ("D_ji", ENTRIES, ("(20)", "(30)", "(10)", "(9)")),
    ),
}


@dataclass(frozen=True, slots=True)
class ListedRow:
    """One row: multiplications and additions that the paper books, that its equations need, that this library needs."""

    row: str
    lines: tuple[str, ...]  # of the paper
    equations: tuple[str, ...]  # of the library's file
    booked: tuple[int, int]
    needed: tuple[int, int]
    ours: tuple[int, int]


def listed_rows(arm: Arm, quantity: str, formulation: str) -> tuple[ListedRow, ...]:
    """A formulation's rows for an arm; what no group names comes last, under its own name."""
    listed = as_printed(chain_of(arm), quantity, formulation)
    if listed is None:
        if (quantity, formulation) not in LISTINGS:
            raise InputError(f"no paper lists {quantity} by {formulation} line by line")
        reason = unspoken(chain_of(arm), quantity, formulation)
        raise InputError(f"the paper's listing does not speak of robot '{arm.name}': {reason}")
    lines = {x.term: x for x in listed.lines}
    shares = {x.equation: x for x in by_equation(arm, quantity, formulation)}
    rows = []
    for row, terms, notes in (*GROUPS.get((quantity, formulation), ()), ("R, s", ("R",), (POSE,))):
        own = [lines.pop(t) for t in terms if t in lines]
        ours = [shares.pop(x) for x in notes if x in shares]
        if own or ours:
            rows.append(
                ListedRow(
                    row,
                    tuple(x.term for x in own),
                    tuple(x.equation for x in ours),
                    _sum([x.booked for x in own]),
                    _sum([x.needed for x in own]),
                    _ours(ours),
                )
            )
    rows += [ListedRow(x.term, (x.term,), (), x.booked, x.needed, (0, 0)) for x in lines.values()]
    rows += [
        ListedRow(x.equation, (), (x.equation,), (0, 0), (0, 0), (x.mul, x.add))
        for x in shares.values()
    ]
    return tuple(rows)


def _sum(pairs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(x[0] for x in pairs), sum(x[1] for x in pairs)


def _ours(shares: Sequence[EquationShare]) -> tuple[int, int]:
    return sum(x.mul for x in shares), sum(x.add for x in shares)
