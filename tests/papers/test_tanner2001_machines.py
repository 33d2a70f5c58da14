"""The generic machines that the operation counts are taken on: their numbers, their counts, their planar twins."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import InputError
from dynarm.mobile import Base, MobileManipulator, counts
from dynarm.mobile.outline import arm_frames

GOLDEN = Path(__file__).parents[1] / "golden"
DOCUMENT = Path(__file__).parents[2] / "docs" / "papers" / "tanner2001.md"


def flat(value) -> list[float | str]:
    """The numbers and names of a record, one after another."""
    if hasattr(value, "__dataclass_fields__"):
        return [x for f in fields(value) for x in flat(getattr(value, f.name))]
    if isinstance(value, (tuple, list)):
        return [x for part in value for x in flat(part)]
    return [value]


@pytest.mark.parametrize("w", [3, 4])
def test_the_counted_machine_is_the_published_one(w):
    """Another number in the machine is another machine, on which other terms might vanish."""
    expected = flat(mobile.load(GOLDEN / f"generic_2_{w}.toml"))
    made = flat(counts.generic_machine(2, w))
    assert len(made) == len(expected)
    for a, b in zip(made, expected, strict=True):
        assert a == (pytest.approx(b, rel=1e-12) if isinstance(b, float) else b)


def documented() -> dict[tuple[int, int], list[str]]:
    lines = DOCUMENT.read_text(encoding="utf-8").split("## Operation counts")[1].splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
    return {(int(c[1]), int(c[0])): c[2:] for c in cells if len(c) == 9 and c[0] in ("3", "4")}


@pytest.mark.parametrize("size", [(1, 3), (1, 4), (2, 3)])
def test_counts_are_those_of_the_document(size):
    (row,) = counts.table((size[0],), (size[1],))
    kinds = (row.equations_7, row.equations_8, row.everything)
    kinds += (row.kane, row.newton_euler, row.lagrange)
    told = [f"{row.paper[0]:.0f}/{row.paper[1]:.0f}", *(f"{c.mul}/{c.add}" for c in kinds)]
    assert told == documented()[size]
    assert (row.m, row.w) == size
    bodies = sum(size) + 1  # links, wheels, platform
    assert row.borrowed == counts.newton_euler_line(bodies)


def test_the_example_of_section_5_3():
    assert counts.PAPER_EXAMPLE["kane"] == counts.paper_counts(1, 4)
    assert counts.PAPER_EXAMPLE["newton_euler"] == counts.newton_euler_line(1 + 4 + 1)


@pytest.mark.parametrize(("m", "w"), [(0, 3), (1, 2), (1, 5)])
def test_no_smaller_machines(m, w):
    with pytest.raises(InputError, match="at least one link and 3 or 4 wheels"):
        counts.generic_machine(m, w)


def test_planar_chain_is_the_machine_without_wheels():
    """Two slides and a pivot: x ahead, y left, z up; the platform's and base's mass on the pivot."""
    robot = counts.generic_machine(1, 3)
    chain = counts.planar_chain(robot)
    model = dynarm.compile(chain)
    q = np.array([2.0, -1.0, 0.7, 0.4])
    frame = arm_frames(robot, np.array([2.0, -1.0, 0.7, 0.1, 0.4]))[-1]
    assert np.allclose(model.forward_kinematics(q), frame, rtol=0, atol=1e-12)


def test_planar_chain_refuses_a_small_offset():
    robot = counts.generic_machine(1, 3)
    T = np.eye(4)
    T[0, 3] = 0.5
    base = Base(robot.base.mass, robot.base.com, robot.base.inertia, T)
    moved = MobileManipulator(robot.platform, robot.wheels, base, robot.arm)
    with pytest.raises(InputError, match="mounted at"):
        counts.planar_chain(moved)
    assert counts.planar_chain(replace(moved, base=robot.base)).n == 4
