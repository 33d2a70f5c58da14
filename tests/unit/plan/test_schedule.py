"""dynarm.schedule: operations laid out in time on processors."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import dynarm
from dynarm.errors import FileError, InputError, KindError, UnknownName
from dynarm.plan.schedule import Task, _listed, _longest

ARM = dynarm.load("puma560")
CASES = [
    ("inverse_dynamics", "modified_newton_euler"),
    ("mass_matrix", "composite_2"),
    ("forward_dynamics", None),
    ("gravity", "lagrange"),
]


@pytest.mark.parametrize(("quantity", "name"), CASES)
@pytest.mark.parametrize("processors", [None, 1, 3, 16])
def test_nothing_runs_too_early_or_twice_or_where_another_runs(quantity, name, processors):
    plan = dynarm.schedule(ARM, quantity, name, processors)
    start = {slot.task: slot.start for slot in plan.slots}
    assert sorted(start) == list(range(len(plan.tasks)))
    for k, task in enumerate(plan.tasks):
        assert all(start[need] < start[k] for need in task.needs)
    places = [(slot.start, slot.processor) for slot in plan.slots]
    assert len(set(places)) == len(places)
    assert plan.width <= (processors or len(plan.tasks))
    counted = dynarm.count(ARM, quantity, name)
    assert plan.operations == counted.total and len(plan.path) == counted.depth


@pytest.mark.parametrize(("quantity", "name"), CASES)
def test_bounds_of_every_schedule(quantity, name):
    """No schedule is shorter than the critical path or than work shared evenly; Graham's bound from above."""
    plan = dynarm.schedule(ARM, quantity, name)
    depth = len(plan.path)
    assert plan.length == depth
    for p, length, speedup in plan.curve((1, 2, 3, 5, 8, 40)):
        work = -(-plan.operations // p)
        assert max(depth, work) <= length <= plan.operations / p + depth
        assert speedup == plan.operations / length
    assert plan.curve((1,))[0][1] == plan.operations


def test_the_path_is_a_chain():
    plan = dynarm.schedule(ARM, "inverse_dynamics", processors=4)
    for before, after in zip(plan.path, plan.path[1:], strict=False):
        assert before in plan.tasks[after].needs


def test_longest_chains_go_first():
    """Two processors, a chain of four and three alone: by hand, four steps; taking the lone ones first, five."""
    tasks = [Task(k, "add", ()) for k in range(3)]
    tasks += [Task(3, "mul", ())] + [Task(k, "mul", (k - 1,)) for k in range(4, 7)]
    assert max(slot.start for slot in _listed(tasks, 2)) + 1 == 4
    assert _longest(tasks) == (3, 4, 5, 6)


def test_the_picture_shows_every_operation(tmp_path):
    plan = dynarm.schedule(dynarm.load("two_link"), "inverse_dynamics", processors=3)
    text = plan.gantt(tmp_path / "plan.svg")
    assert (tmp_path / "plan.svg").read_text() == text
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    cells = [r for r in root.iter(f"{space}rect") if r.find(f"{space}title") is not None]
    assert len(cells) == plan.operations
    framed = [r for r in cells if r.get("stroke")]
    assert len(framed) == len(plan.path)


def test_names_are_text_in_the_picture():
    arm = dynarm.Arm([dynarm.Joint(mass=1.0, com=(0.1, 0, 0))], name="<script>alert(1)</script>")
    assert "<script" not in dynarm.schedule(arm, "inverse_dynamics").gantt()


def test_bad_input(tmp_path):
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises((InputError, KindError), match="processors"):
            dynarm.schedule(ARM, "bias", processors=wrong)
    with pytest.raises(UnknownName, match="mass_matrix"):
        dynarm.schedule(ARM, "mass_matrx")
    with pytest.raises(UnknownName, match="formulation"):
        dynarm.schedule(ARM, "bias", "lagrang")
    with pytest.raises(InputError, match="no formulations of its own"):
        dynarm.schedule(ARM, "jacobian", "lagrange")
    with pytest.raises(KindError, match=r"dynarm\.load"):
        dynarm.schedule("puma560", "bias")
    plan = dynarm.schedule(dynarm.load("two_link"), "bias")
    with pytest.raises(InputError, match=r"\.svg"):
        plan.gantt(tmp_path / "x.png")
    with pytest.raises(FileError):
        plan.gantt(tmp_path / "none" / "x.svg")
