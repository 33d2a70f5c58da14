"""The operations of a formulation laid out in time, on as many processors as one has.

Every operation takes one step (a multiplication as long as an addition, as Table 5 of turney1980 treats them side by
side); sines, cosines and constants are there from the start. The longest chain of operations that need each other, the
critical path, is the shortest time that any number of processors can reach. On few processors a list schedule is made:
at each step those that are ready run, the ones with most work behind them first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ..border.arguments import path_of, whole
from ..border.words import shown, titled
from ..border.written import drafted
from ..errors import InputError, KindError
from ..graph.graph import ANGLES, Graph
from ..graph.ops import LEAVES
from ..robot.arm import Arm
from .choice import planned
from .quantities import quantity_named

MOST = 100_000  # processors
COLOURS = {
    "mul": "#0072b2",
    "add": "#e69f00",
    "sub": "#e69f00",
    "div": "#cc79a7",
    "sqrt": "#cc79a7",
}
OTHER = "#009e73"


@dataclass(frozen=True, slots=True)
class Task:
    """One operation: its node in the graph, and the operations that it needs."""

    node: int
    op: str
    needs: tuple[int, ...]  # tasks


@dataclass(frozen=True, slots=True)
class Slot:
    """When and where an operation runs; it takes one step."""

    task: int
    start: int
    processor: int


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A formulation's operations in time. One step is one operation.

    Attributes
    ----------
    arm : Arm
        The robot.
    quantity : str
        What is computed.
    formulation : str
        By which formulation.
    processors : int
        How many there are; None: as many as can be used.
    tasks : tuple[Task, ...]
        The operations, each with those that it needs.
    slots : tuple[Slot, ...]
        Each operation with its step and its processor.
    path : tuple[int, ...]
        The operations of a longest chain, in order.

    Examples
    --------
    >>> plan = dynarm.schedule(dynarm.load("two_link"), "mass_matrix", processors=2)
    """

    arm: Arm
    quantity: str
    formulation: str
    processors: int | None
    tasks: tuple[Task, ...]
    slots: tuple[Slot, ...]
    path: tuple[int, ...]

    @property
    def operations(self) -> int:
        """Steps that one processor takes."""
        return len(self.tasks)

    @property
    def length(self) -> int:
        """Steps that the schedule takes."""
        return max((slot.start for slot in self.slots), default=-1) + 1

    @property
    def speedup(self) -> float:
        """How many times as fast as one processor."""
        return self.operations / self.length if self.length else 1.0

    @property
    def width(self) -> int:
        """The largest number of operations at one time."""
        return max((slot.processor for slot in self.slots), default=-1) + 1

    def curve(
        self, processors: Sequence[int] = (1, 2, 4, 8, 16, 32)
    ) -> tuple[tuple[int, int, float], ...]:
        """For each number of processors the length of its list schedule, and the speed-up.

        Parameters
        ----------
        processors : sequence of int, optional
            Numbers of processors to try.

        Returns
        -------
        tuple[tuple[int, int, float], ...]
            (processors, steps, speed-up) for each of them.

        Examples
        --------
        >>> [steps for _, steps, _ in plan.curve((1, 2))]
        [5, 4]
        """
        rows = []
        for given in processors:
            p = whole("processors", given, 1, MOST)
            length = max((slot.start for slot in _listed(self.tasks, p)), default=-1) + 1
            rows.append((p, length, self.operations / length if length else 1.0))
        return tuple(rows)

    def __repr__(self) -> str:
        many = (
            "any number of processors"
            if self.processors is None
            else f"{self.processors} processors"
        )
        rest = (
            f": {self.quantity} by {self.formulation}, {self.operations} operations in {self.length} steps on {many}, "
            f"{self.speedup:.2f} times as fast as one"
        )
        return titled("Schedule for", self.arm.name, rest)

    def gantt(self, path: str | Path | None = None) -> str:
        """The schedule as a picture, SVG text; with a path it is written there too.

        Parameters
        ----------
        path : path-like, optional
            A file to write the picture to.

        Returns
        -------
        str
            The text of the SVG picture.

        Examples
        --------
        >>> plan.gantt("mass_matrix.svg")[:4]
        '<svg'
        """
        text = _picture(self)
        if path is not None:
            target = path_of("path", path, "a file that ends in .svg")
            if target.suffix.lower() != ".svg":
                raise InputError(f"path is {shown(str(path))}; give a file that ends in .svg")
            with drafted(target) as draft:
                draft.write_text(text)
        return text


def schedule(
    arm: Arm, quantity: str, formulation: str | None = None, processors: int | None = None
) -> Schedule:
    """Lay out the operations of a quantity of this arm in time.

    Parameters
    ----------
    arm : Arm
        The robot.
    quantity : str
        What is computed, such as "mass_matrix".
    formulation : str, optional
        One of `dynarm.formulations(quantity)`; default: the cheapest.
    processors : int, optional
        How many processors there are; default: as many as can be used, and then the length
        is that of the critical path.

    Returns
    -------
    Schedule
        The schedule: `.length`, `.path`, `.speedup`, `.curve()` over numbers of processors,
        `.gantt()` as a picture.

    Examples
    --------
    >>> plan = dynarm.schedule(dynarm.load("two_link"), "inverse_dynamics", processors=2)
    >>> plan.operations, plan.length
    (23, 12)
    """
    if not isinstance(arm, Arm):
        raise KindError(
            f"arm is {shown(arm)}; give a dynarm.Arm, for example dynarm.load('puma560')"
        )
    if processors is not None:
        processors = whole("processors", processors, 1, MOST)
    uses = quantity_named(quantity).uses
    if formulation is not None and quantity not in uses:
        built = f"it is built from {', '.join(uses)}" if uses else "there is one way to compute it"
        raise InputError(f"{quantity} has no formulations of its own; {built}")
    plan = planned(arm, quantity, {} if formulation is None else {quantity: formulation})
    row = plan.chosen.get(quantity)
    tasks = tasks_of(plan.graph)
    slots = _listed(tasks, processors if processors is not None else max(1, len(tasks)))
    name = row.name if row is not None else quantity
    return Schedule(arm, quantity, name, processors, tasks, slots, _longest(tasks))


def tasks_of(graph: Graph) -> tuple[Task, ...]:
    """What takes time in a graph: as `Graph.count` counts, without sines, cosines and offsets of angles."""
    free = graph.angle_offsets
    of_node: dict[int, int] = {}
    tasks: list[Task] = []
    for k, (op, args, _) in enumerate(graph.nodes):
        if op in LEAVES or op in ANGLES or k in free:
            continue
        of_node[k] = len(tasks)
        tasks.append(Task(k, op, tuple(dict.fromkeys(of_node[a] for a in args if a in of_node))))
    return tuple(tasks)


def _heights(tasks: Sequence[Task]) -> list[int]:
    """The longest chain that begins with each task, itself counted."""
    heights = [1] * len(tasks)
    for k in range(len(tasks) - 1, -1, -1):
        for need in tasks[k].needs:
            heights[need] = max(heights[need], heights[k] + 1)
    return heights


def _longest(tasks: Sequence[Task]) -> tuple[int, ...]:
    """A longest chain of tasks that need each other."""
    depth = [0] * len(tasks)
    for k, task in enumerate(tasks):
        depth[k] = 1 + max((depth[need] for need in task.needs), default=0)
    if not depth:
        return ()
    k = max(range(len(tasks)), key=depth.__getitem__)
    path = [k]
    while tasks[k].needs:
        k = max(tasks[k].needs, key=depth.__getitem__)
        path.append(k)
    return tuple(path[::-1])


def _listed(tasks: Sequence[Task], processors: int) -> tuple[Slot, ...]:
    """The list schedule: at each step the ready tasks with the longest chains behind them."""
    heights = _heights(tasks)
    waiting = [len(task.needs) for task in tasks]
    after: list[list[int]] = [[] for _ in tasks]
    for k, task in enumerate(tasks):
        for need in task.needs:
            after[need].append(k)
    ready = [(-heights[k], k) for k, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    slots: list[Slot] = []
    step = 0
    while ready:
        running = [heapq.heappop(ready)[1] for _ in range(min(processors, len(ready)))]
        slots += [Slot(k, step, place) for place, k in enumerate(running)]
        for k in running:
            for follower in after[k]:
                waiting[follower] -= 1
                if not waiting[follower]:
                    heapq.heappush(ready, (-heights[follower], follower))
        step += 1
    return tuple(slots)


# ---- the picture

CELL, LEFT, TOP = 14, 46, 46  # pixels


def _picture(plan: Schedule) -> str:
    """A row a processor, a column a step; operations of the critical path are framed."""
    tall = max(1, min(CELL, 600 // max(1, plan.width)))
    wide = max(2, min(CELL, 1400 // max(1, plan.length)))
    width, height = LEFT + wide * plan.length + 12, TOP + tall * plan.width + 40
    title = f"{plan.arm.name}: {plan.quantity} by {plan.formulation}"
    told = f"{plan.operations} operations in {plan.length} steps, {plan.speedup:.2f} times as fast as one processor"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {max(width, 620)} {height}" '
        f'width="{max(width, 620)}" font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="#ffffff"/><text x="{LEFT}" y="16">{escape(title)}</text>',
        f'<text x="{LEFT}" y="34" fill="#555555">{escape(told)}</text>',
    ]
    critical = set(plan.path)
    for slot in plan.slots:
        task = plan.tasks[slot.task]
        x, y = LEFT + wide * slot.start, TOP + tall * slot.processor
        frame = ' stroke="#000000"' if slot.task in critical else ""
        size = f'width="{max(1, wide - 1)}" height="{max(1, tall - 1)}"'
        colour = COLOURS.get(task.op, OTHER)
        label = f"<title>step {slot.start + 1}: {task.op}</title>"
        parts.append(f'<rect x="{x}" y="{y}" {size} fill="{colour}"{frame}>{label}</rect>')
    parts += _legend(plan, TOP + tall * plan.width + 22, tall)
    return "".join([*parts, "</svg>\n"])


def _legend(plan: Schedule, y: int, tall: int) -> list[str]:
    """Numbers of processors at the side, kinds of operations below."""
    every = max(1, 24 // tall)
    parts = [
        f'<text x="{LEFT - 8}" y="{TOP + tall * k + 10}" text-anchor="end" fill="#555555">{k + 1}</text>'
        for k in range(0, plan.width, every)
    ]
    x = LEFT
    names = {"mul": "multiplication", "add": "addition", "div": "division, root", "other": "other"}
    used = {COLOURS.get(task.op, OTHER) for task in plan.tasks}
    for op, name in names.items():
        colour = COLOURS.get(op, OTHER)
        if colour in used:
            parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
            parts.append(f'<text x="{x + 14}" y="{y}">{name}</text>')
            x += 34 + 7 * len(name)
    parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="none" stroke="#000000"/>')
    parts.append(f'<text x="{x + 14}" y="{y}">critical path</text>')
    return parts
